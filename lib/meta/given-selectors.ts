/** Selectors among other options: one that is left out is everything, one that is named must be there. */
import { parseFieldRequirements } from './field-selector.ts';
import { parseRequirements } from './label-selector-parser.ts';

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

/**
 * As {@link checkGivenSelectors}; throws a `TypeError` also where a selector is no text, or not one that an API server
 * could read.
 */
export function checkSelectorTexts(
  where: string,
  options: { readonly labelSelector?: unknown; readonly fieldSelector?: unknown },
): void {
  checkGivenSelectors(where, options);
  const text = (name: 'labelSelector' | 'fieldSelector') => {
    const value = options[name] ?? '';
    if (typeof value === 'string') return value;
    const hint = name === 'labelSelector' ? '; formatLabelSelector() makes text of an object' : '';
    const what = typeof value === 'object' ? 'an object' : `a ${typeof value}`;
    throw new TypeError(`${where}: ${name} is ${what}, and must be text${hint}`);
  };
  parseRequirements(text('labelSelector'));
  parseFieldRequirements(text('fieldSelector'));
}
