/**
 * Validates the selectors in an options object. A selector that is left out selects everything; one that is present
 * must not be `undefined` or null.
 */
import { parseFieldRequirements } from './field-selector.ts';
import { parseRequirements } from './label-selector-parser.ts';

/**
 * Throws a `TypeError` if a selector is present but `undefined` or null, for example because it was read from an
 * object that lacks it. In client-go such a selector selects nothing; here it would select everything. The message
 * begins with `where`.
 */
export function checkGivenSelectors(where: string, options: object): void {
  for (const name of ['labelSelector', 'fieldSelector'] as const) {
    if (!Object.hasOwn(options, name)) continue;
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (value !== undefined && value !== null) continue;
    throw new TypeError(`${where}: ${name} is ${value}; give '' for everything, or leave it out`);
  }
}

interface Selectors {
  readonly labelSelector?: unknown;
  readonly fieldSelector?: unknown;
}

/** As {@link checkGivenSelectors}. Also throws a `TypeError` if a selector is not text. '' stands for one that is left out. */
export function givenTexts(
  where: string,
  options: Selectors,
): { readonly labelSelector: string; readonly fieldSelector: string } {
  checkGivenSelectors(where, options);
  const text = (name: keyof Selectors) => {
    const value = options[name] ?? '';
    if (typeof value === 'string') return value;
    const hint = name === 'labelSelector' ? '; formatLabelSelector() makes text of an object' : '';
    const what = typeof value === 'object' ? 'an object' : `a ${typeof value}`;
    throw new TypeError(`${where}: ${name} is ${what}, and must be text${hint}`);
  };
  return { labelSelector: text('labelSelector'), fieldSelector: text('fieldSelector') };
}

/** As {@link givenTexts}. Also throws a `TypeError` if a selector is not valid. */
export function checkSelectorTexts(where: string, options: Selectors): void {
  const { labelSelector, fieldSelector } = givenTexts(where, options);
  parseRequirements(labelSelector);
  parseFieldRequirements(fieldSelector);
}
