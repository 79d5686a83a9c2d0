/** Selectors among other options: one that is left out is everything, one that is named must be there. */

/**
 * Throws a `TypeError` where options name a selector that is `undefined` or null, as one from an object that lacks it
 * is. To client-go such a selector is nothing; here it would be everything. `where` begins the message.
 */
export function checkGivenSelectors(where: string, options: object): void {
  for (const name of ['labelSelector', 'fieldSelector'] as const) {
    if (!Object.hasOwn(options, name)) continue;
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (value !== undefined && value !== null) continue;
    throw new TypeError(`${where}: ${name} is ${value}; give '' for everything, or leave it out`);
  }
}
