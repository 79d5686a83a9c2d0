/**
 * Validates the selectors in an options object. A selector that is left out selects everything; one that is present
 * must not be `undefined` or null.
 */
import { checkedText } from '../checks/checked-option.ts';
import { parseFieldRequirements } from './field-selector.ts';
import { parseRequirements } from './label-selector-parser.ts';

interface Selectors {
  readonly labelSelector?: unknown;
  readonly fieldSelector?: unknown;
}

function given(where: string, options: Selectors, name: keyof Selectors): unknown {
  const value = options[name];
  if (!Object.hasOwn(options, name) || (value !== undefined && value !== null)) return value;
  throw new TypeError(`${where}: ${name} is ${value}; give '' for everything, or leave it out`);
}

/**
 * Throws a `TypeError` if a selector is present but `undefined` or null, for example because it was read from an
 * object that lacks it. In client-go such a selector selects nothing; here it would select everything. The message
 * begins with `where`.
 */
export function checkGivenSelectors(where: string, options: Selectors): void {
  given(where, options, 'labelSelector');
  given(where, options, 'fieldSelector');
}

/** Returns a selector, or '' if it is left out. Throws as {@link checkGivenSelectors}, and if the selector is not text. */
export function givenText(where: string, options: Selectors, name: keyof Selectors): string {
  const hint = name === 'labelSelector' ? '; formatLabelSelector() makes text of an object' : '';
  return checkedText(given(where, options, name) ?? '', `${where}: ${name}`, /^/, `text${hint}`);
}

/** As {@link givenText} for both selectors. Also throws a `TypeError` if a selector is not valid. */
export function checkSelectorTexts(where: string, options: Selectors): void {
  parseRequirements(givenText(where, options, 'labelSelector'));
  parseFieldRequirements(givenText(where, options, 'fieldSelector'));
}
