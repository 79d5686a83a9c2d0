/** A column of a custom resource, as its definition has it. */

/** A column of a custom resource: `additionalPrinterColumns` of its definition. */
export interface PrinterColumn {
  readonly name: string;
  /** `string`, `integer`, `number`, `boolean` or `date`, which prints an age. */
  readonly type: string;
  /** `.spec.size`, `.status.conditions[?(@.type=="Ready")].status` */
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  /** Above 0: only in wide output. @defaultValue 0 */
  readonly priority?: number;
}
