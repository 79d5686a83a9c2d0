/** Whether this process is a production program, in which the library freezes nothing. The packed library is tested as one, too. */
export const isProduction: boolean = process.env['NODE_ENV'] === 'production';
