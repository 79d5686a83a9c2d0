/**
 * Parses the text form of label selectors into requirements. It accepts the same texts as apimachinery, unusual forms
 * included: `a in ()` and `a=` mean the empty value. client-go: apimachinery/pkg/labels/selector.go, Lexer and
 * Parser.
 */

/** `Equals` and `NotEquals` are `In` and `NotIn` of one value. */
export type LabelOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';

/** One term of a selector. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Sorted, without duplicates; empty for `Exists` and `DoesNotExist`. */
  readonly values: readonly string[];
}

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Whether a text is a valid label key: `app`, `example.com/app`. */
export function isLabelKey(text: string): boolean {
  const slash = text.indexOf('/');
  const name = text.slice(slash + 1);
  const prefix = slash < 0 ? undefined : text.slice(0, slash);
  if (prefix !== undefined && (prefix.length > 253 || !PREFIX.test(prefix))) return false;
  return name.length <= 63 && NAME.test(name);
}

/** Whether a text is a valid label value. The empty text is valid. */
export function isLabelValue(text: string): boolean {
  return text === '' || (text.length <= 63 && NAME.test(text));
}

/**
 * The requirements of a selector in the order of the text. Throws a `TypeError` if the text is not a label selector.
 */
export function parseRequirements(text: string): LabelRequirement[] {
  // Symbols and words. The last token is empty and marks the end.
  const tokens = [...text.matchAll(/[=!]=|[=!(),<>]|[^\s=!(),<>]+|$/g)];
  let next = 0;
  const token = () => (tokens[next] as RegExpExecArray)[0];
  const fail = (expected: string, at = next): never => {
    const { 0: found, index } = tokens[at] as RegExpExecArray;
    throw new TypeError(
      `label selector ${JSON.stringify(text)}: found ${found === '' ? 'the end' : JSON.stringify(found)} at position ${index}, expected ${expected}`,
    );
  };
  const isWord = () => /^[^=!(),<>]/.test(token());
  /** Consumes the token if it is this symbol. */
  const takes = (symbol: string) => token() === symbol && ++next > 0;
  const key = () => {
    if (!isWord()) fail('a label key');
    if (!isLabelKey(token())) {
      fail("a label key such as 'app' or 'example.com/app'");
    }
    return token();
  };
  /** Consumes a value; returns '' if there is none. */
  const value = () => {
    if (!isWord()) return '';
    if (!isLabelValue(token())) {
      fail("a label value: at most 63 letters, digits, '-', '_' and '.'");
    }
    return (tokens[next++] as RegExpExecArray)[0];
  };
  const values = () => {
    if (!takes('(')) fail("'('");
    const found = new Set<string>();
    do found.add(value());
    while (takes(','));
    if (!takes(')')) fail("',' or ')'");
    return [...found].sort();
  };
  const requirement = (): LabelRequirement => {
    const isNegated = takes('!');
    const term = { key: key() };
    next++;
    if (isNegated) return { ...term, operator: 'DoesNotExist', values: [] };
    const at = next;
    const symbol = token();
    if (symbol === '' || symbol === ',') return { ...term, operator: 'Exists', values: [] };
    next++;
    switch (symbol) {
      case '=':
      case '==':
        return { ...term, operator: 'In', values: [value()] };
      case '!=':
        return { ...term, operator: 'NotIn', values: [value()] };
      case 'in':
        return { ...term, operator: 'In', values: values() };
      case 'notin':
        return { ...term, operator: 'NotIn', values: values() };
      case '<':
      case '>': {
        const bound = value();
        if (!/^[0-9]+$/.test(bound)) fail('an integer', at + 1);
        return { ...term, operator: symbol === '>' ? 'Gt' : 'Lt', values: [bound] };
      }
      default:
        return fail("=, ==, !=, in, notin, <, >, ',' or the end", at);
    }
  };
  const requirements: LabelRequirement[] = [];
  if (token() === '') return requirements;
  do requirements.push(requirement());
  while (takes(','));
  if (token() !== '') fail("',' or the end");
  return requirements;
}
