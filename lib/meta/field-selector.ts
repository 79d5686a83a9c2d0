/**
 * Field selectors: `metadata.name=web-0,status.phase!=Running`. Which fields may be selected is the
 * server's decision; here every path into the object can be.
 * client-go: apimachinery/pkg/fields/selector.go.
 */

/** One term of a selector. */
export interface FieldRequirement {
  /** Path into the object: `spec.nodeName`. */
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** A selector that is ready to match. */
export interface FieldSelector {
  /** All of them must hold; in the order of the text. */
  readonly requirements: readonly FieldRequirement[];
  /** Matches every object: it has no requirement. */
  readonly isEverything: boolean;
  /** Whether an object satisfies the selector. A path that leads nowhere counts as ''. */
  matches(object: unknown): boolean;
  /** The text form that the API server takes; equal for selectors with equal requirements. */
  toString(): string;
}

/** The text of what a path leads to: own properties only, '' for nothing, an object or an array. */
function valueAt(object: unknown, path: readonly string[]): string {
  let value = object;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return '';
    value = (value as Record<string, unknown>)[name];
  }
  return value === null || value === undefined || typeof value === 'object' ? '' : String(value);
}

/** Splits at commas that no backslash escapes. */
function termsOf(text: string): { text: string; at: number }[] {
  const found: { text: string; at: number }[] = [];
  let from = 0;
  for (let index = 0; index <= text.length; index++) {
    if (text[index] === '\\') index++;
    else if (index === text.length || text[index] === ',') {
      found.push({ text: text.slice(from, index), at: from });
      from = index + 1;
    }
  }
  if (from < text.length) found.push({ text: text.slice(from), at: from });
  return found;
}

function unescapeValue(whole: string, value: string, at: number): string {
  let out = '';
  for (let index = 0; index < value.length; index++) {
    const char = value[index] as string;
    const next = value[index + 1];
    if (char === '\\') {
      if (next !== '\\' && next !== ',' && next !== '=') {
        fail(whole, at + index, "'\\\\', '\\,' or '\\='");
      }
      out += next;
      index++;
    } else if (char === '=') fail(whole, at + index, "',' or the end ('=' in a value is '\\=')");
    else out += char;
  }
  return out;
}

function fail(text: string, at: number, expected: string): never {
  const found = at >= text.length ? 'the end' : JSON.stringify(text[at]);
  throw new TypeError(
    `field selector ${JSON.stringify(text)}: found ${found} at position ${at}, expected ${expected}`,
  );
}

/** The terms of a selector in the order of the text. Throws a `TypeError` on other text. */
export function parseFieldRequirements(text: string): FieldRequirement[] {
  const requirements: FieldRequirement[] = [];
  for (const term of termsOf(text)) {
    if (term.text === '') continue;
    const match = /^([^=!]*)(==|!=|=)/.exec(term.text);
    if (match === null) fail(text, term.at + term.text.length, '=, == or !=');
    const [whole, field = '', operator] = match;
    if (field.trim() === '') fail(text, term.at, 'the path of a field');
    const value = unescapeValue(text, term.text.slice(whole.length), term.at + whole.length);
    requirements.push({ field: field.trim(), operator: operator === '!=' ? '!=' : '=', value });
  }
  return requirements;
}

/**
 * Parses a field selector; `\,`, `\=` and `\\` stand for these characters in a value.
 *
 * Throws a `TypeError` that names the text, the position and what was expected there.
 *
 * @example
 * ```ts
 * import { parseFieldSelector } from 'rx-informer';
 *
 * const selector = parseFieldSelector('spec.nodeName=node-1,status.phase!=Running');
 * selector.matches({ spec: { nodeName: 'node-1' }, status: { phase: 'Pending' } }); // => true
 * ```
 */
export function parseFieldSelector(text: string): FieldSelector {
  const requirements = parseFieldRequirements(text);
  const paths = requirements.map(({ field }) => field.split('.'));
  const terms = requirements.map(
    ({ field, operator, value }) => `${field}${operator}${value.replace(/[\\,=]/g, '\\$&')}`,
  );
  const canonical = [...new Set(terms)].sort().join(',');
  return Object.freeze({
    requirements,
    isEverything: requirements.length === 0,
    matches: (object: unknown) =>
      requirements.every(({ operator, value }, index) => {
        const equal = valueAt(object, paths[index] as string[]) === value;
        return operator === '=' ? equal : !equal;
      }),
    toString: () => canonical,
  });
}
