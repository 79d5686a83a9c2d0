/**
 * Parses and matches field selectors: `metadata.name=web-0,status.phase!=Running`. Any path into the object can be
 * selected here; a server supports only some fields. client-go: apimachinery/pkg/fields/selector.go.
 */

/** One term of a selector. */
export interface FieldRequirement {
  /** The path into the object: `spec.nodeName`. */
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** A parsed field selector. */
export interface FieldSelector {
  /** The requirements in the order of the text. An object must satisfy all of them. */
  readonly requirements: readonly FieldRequirement[];
  /** Whether the selector has no requirement and therefore matches every object. */
  readonly isEverything: boolean;
  /** Whether an object satisfies the selector. A missing field counts as ''. */
  matches(object: unknown): boolean;
  /** The text form for a request; equal for selectors with equal requirements. */
  toString(): string;
}

/** The value at a path as text. Only own properties count; a missing value, an object and an array give ''. */
function valueAt(object: unknown, path: readonly string[]): string {
  let value = object;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return '';
    value = (value as Record<string, unknown>)[name];
  }
  return value === null || value === undefined || typeof value === 'object' ? '' : String(value);
}

/** Splits a selector at its unescaped commas. */
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

/**
 * The requirements of a selector in the order of the text. Throws a `TypeError` if the text is not a field selector.
 */
export function parseFieldRequirements(text: string): FieldRequirement[] {
  const requirements: FieldRequirement[] = [];
  for (const term of termsOf(text)) {
    if (term.text === '') continue;
    const match = /^(.*?)([!=]?=)/s.exec(term.text);
    if (match === null) fail(text, term.at + term.text.length, '=, == or !=');
    const [whole, field = '', operator] = match;
    if (field.trim() === '') fail(text, term.at, 'the path of a field');
    const value = unescapeValue(text, term.text.slice(whole.length), term.at + whole.length);
    requirements.push({ field, operator: operator === '!=' ? '!=' : '=', value });
  }
  return requirements;
}

/** A value as it is written in a selector. */
function fieldValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&');
}

/** The selector of the object with this name. Names of RBAC objects may contain commas, equality signs and backslashes. */
export function nameSelector(name: string): string {
  return `metadata.name=${fieldValue(name)}`;
}

/** The terms of a selector in the form that is equal for selectors with equal requirements. */
export function normalFieldTerms(requirements: readonly FieldRequirement[]): readonly string[] {
  const terms = requirements.map(
    ({ field, operator, value }) => `${field}${operator}${fieldValue(value)}`,
  );
  return [...new Set(terms)].sort();
}

/** The text of a selector in that form. */
export function normalFieldText(text: string): string {
  return normalFieldTerms(parseFieldRequirements(text)).join(',');
}

/**
 * Parses a field selector; `\,`, `\=` and `\\` stand for these characters in a value.
 *
 * Throws a `TypeError` that names the text, the position and the expected token.
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
  const canonical = normalFieldTerms(requirements).join(',');
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
