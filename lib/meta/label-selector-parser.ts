/**
 * Parses the text form and the object form of label selectors into requirements. It accepts the same texts as
 * apimachinery, unusual forms included: `a in ()` and `a=` mean the empty value. Objects are validated like text,
 * because a selector from a custom resource must not have one meaning here and another when it is sent as text.
 * client-go: apimachinery/pkg/labels/selector.go, Lexer and Parser; apimachinery/pkg/apis/meta/v1/helpers.go
 * (LabelSelectorAsSelector), labels.NewRequirement.
 */
import { isFields } from './json-fields.ts';

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
function isLabelKey(text: string): boolean {
  const slash = text.indexOf('/');
  const name = text.slice(slash + 1);
  const prefix = slash < 0 ? undefined : text.slice(0, slash);
  if (prefix !== undefined && (prefix.length > 253 || !PREFIX.test(prefix))) return false;
  return name.length <= 63 && NAME.test(name);
}

/** Whether a text is a valid label value. The empty text is valid. */
function isLabelValue(text: string): boolean {
  return text === '' || (text.length <= 63 && NAME.test(text));
}

/**
 * The requirements of a selector in the order of the text. Throws a `TypeError` if the text is not a label selector.
 */
export function parseRequirements(text: string): LabelRequirement[] {
  // Symbols and words. The last token is empty and marks the end.
  const tokens = [...text.matchAll(/[=!]=|[=!(),<>]|[^=!(),<> \t\n\r]+|$/g)];
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
        // A server compares integers of 64 bits.
        if (!/^\d+$/.test(bound) || BigInt(bound) >> 63n) fail('an integer', at + 1);
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

/** `metav1.LabelSelector`, as objects carry it in `spec.selector`. */
export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

const OPERATORS: Readonly<Record<string, LabelOperator>> = {
  In: 'In',
  NotIn: 'NotIn',
  Exists: 'Exists',
  DoesNotExist: 'DoesNotExist',
};

function shown(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

function refuse(why: string): never {
  throw new TypeError(`label selector: ${why}`);
}

function requirement(
  key: unknown,
  operator: LabelOperator,
  values: readonly unknown[],
): LabelRequirement {
  if (typeof key !== 'string' || !isLabelKey(key)) {
    refuse(
      `${shown(key)} is not a label key; expected a key such as 'app' or 'example.com/app', with a name of at most 63 characters`,
    );
  }
  for (const value of values) {
    if (typeof value === 'string' && isLabelValue(value)) continue;
    refuse(
      `the value of ${shown(key)} is ${shown(value)}; it must be text of at most 63 letters, digits, '-', '_' and '.' that begins and ends with a letter or digit`,
    );
  }
  return { key, operator, values: [...new Set(values as readonly string[])].sort() };
}

function ofExpression(expression: unknown): LabelRequirement {
  if (!isFields(expression)) {
    refuse(`an expression is ${shown(expression)}; it must be { key, operator, values }`);
  }
  const { key, operator, values = [] } = expression;
  const known =
    typeof operator === 'string' && Object.hasOwn(OPERATORS, operator)
      ? OPERATORS[operator]
      : undefined;
  if (known === undefined) {
    refuse(
      `operator of ${shown(key)} is ${shown(operator)}; expected In, NotIn, Exists or DoesNotExist`,
    );
  }
  if (!Array.isArray(values)) {
    refuse(`the values of ${shown(key)} are ${shown(values)}; they must be a list`);
  }
  const wantsValues = known === 'In' || known === 'NotIn';
  if (wantsValues !== values.length > 0) {
    refuse(
      `${known} of ${shown(key)} ${wantsValues ? 'needs at least one value' : 'takes no values'}`,
    );
  }
  return requirement(key, known, values);
}

/**
 * The requirements of a selector. Throws a `TypeError` on an unknown field, on a field that is present but
 * `undefined` or null, and on a key, operator or value that a server would refuse.
 */
export function requirementsOf(selector: LabelSelectorObject): LabelRequirement[] {
  if (!isFields(selector)) {
    throw new TypeError(
      `label selector ${shown(selector)}: it must be text or a LabelSelector; '' selects everything`,
    );
  }
  const requirements: LabelRequirement[] = [];
  for (const [field, value] of Object.entries(selector)) {
    if (field === 'matchLabels') {
      if (!isFields(value))
        refuse(`matchLabels is ${shown(value)}; it must map label keys to values`);
      for (const [key, text] of Object.entries(value)) {
        requirements.push(requirement(key, 'In', [text]));
      }
    } else if (field === 'matchExpressions') {
      if (!Array.isArray(value)) refuse(`matchExpressions is ${shown(value)}; it must be a list`);
      requirements.push(...value.map(ofExpression));
    } else {
      // Otherwise `{ app: 'web' }` would select everything, which is the most dangerous reading of a slip.
      refuse(
        `${shown(field)} is not a field of a selector; select labels by text or by { matchLabels: { ${shown(field)}: … } }`,
      );
    }
  }
  return requirements;
}
