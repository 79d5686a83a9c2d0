/**
 * The grammar of label selectors, apart from what they mean. Takes what apimachinery takes, the odd forms
 * included: `a in ()` and `a=` mean the empty value.
 * client-go: apimachinery/pkg/labels/selector.go, Lexer and Parser.
 */
/** `Equals` and `NotEquals` are `In` and `NotIn` of one value. */
export type LabelOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';

/** One term of a selector. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Sorted, each once; empty for `Exists` and `DoesNotExist`. */
  readonly values: readonly string[];
}

interface Token {
  readonly text: string;
  readonly at: number;
  /** A key or a value; '' at the end. */
  readonly kind: 'word' | 'symbol' | 'end';
}

function tokens(text: string): Token[] {
  const found: Token[] = [];
  for (const match of text.matchAll(/\s+|(==|!=|[=!(),<>])|([^\s=!(),<>]+)/g)) {
    const at = match.index;
    if (match[1] !== undefined) found.push({ text: match[1], at, kind: 'symbol' });
    else if (match[2] !== undefined) found.push({ text: match[2], at, kind: 'word' });
  }
  found.push({ text: '', at: text.length, kind: 'end' });
  return found;
}

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Whether a text may be the key of a label: `app`, `example.com/app`. */
export function isLabelKey(text: string): boolean {
  const slash = text.indexOf('/');
  const name = text.slice(slash + 1);
  const prefix = slash < 0 ? undefined : text.slice(0, slash);
  if (prefix !== undefined && (prefix.length > 253 || !PREFIX.test(prefix))) return false;
  return name.length <= 63 && NAME.test(name);
}

/** Whether a text may be the value of a label, which may be empty. */
export function isLabelValue(text: string): boolean {
  return text === '' || (text.length <= 63 && NAME.test(text));
}

class Parser {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #next = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokens(text);
  }

  get #token(): Token {
    return this.#tokens[this.#next] as Token;
  }

  #fail(expected: string, token = this.#token): never {
    const found = token.kind === 'end' ? 'the end' : JSON.stringify(token.text);
    throw new TypeError(
      `label selector ${JSON.stringify(this.#text)}: found ${found} at position ${token.at}, expected ${expected}`,
    );
  }

  /** Takes the token when it is this symbol. */
  #takes(symbol: string): boolean {
    if (this.#token.kind !== 'symbol' || this.#token.text !== symbol) return false;
    this.#next++;
    return true;
  }

  #key(): string {
    const token = this.#token;
    if (token.kind !== 'word') this.#fail('a label key');
    if (!isLabelKey(token.text)) {
      this.#fail("a label key such as 'app' or 'example.com/app', at most 63 characters a name");
    }
    this.#next++;
    return token.text;
  }

  /** A value; '' where there is none. */
  #value(): string {
    const token = this.#token;
    if (token.kind !== 'word') return '';
    if (!isLabelValue(token.text)) {
      this.#fail('a label value: letters, digits, - _ and . inside, at most 63 characters');
    }
    this.#next++;
    return token.text;
  }

  #values(): string[] {
    if (!this.#takes('(')) this.#fail("'('");
    const values = new Set<string>();
    do values.add(this.#value());
    while (this.#takes(','));
    if (!this.#takes(')')) this.#fail("',' or ')'");
    return [...values].sort();
  }

  #requirement(): LabelRequirement {
    if (this.#takes('!')) return { key: this.#key(), operator: 'DoesNotExist', values: [] };
    const key = this.#key();
    const { kind, text } = this.#token;
    if (kind === 'end' || text === ',') return { key, operator: 'Exists', values: [] };
    this.#next++;
    if (text === '=' || text === '==') return { key, operator: 'In', values: [this.#value()] };
    if (text === '!=') return { key, operator: 'NotIn', values: [this.#value()] };
    if (text === 'in') return { key, operator: 'In', values: this.#values() };
    if (text === 'notin') return { key, operator: 'NotIn', values: this.#values() };
    if (text === '>' || text === '<') {
      const token = this.#token;
      const value = this.#value();
      if (!/^[0-9]+$/.test(value)) this.#fail('a whole number', token);
      return { key, operator: text === '>' ? 'Gt' : 'Lt', values: [value] };
    }
    this.#next--;
    return this.#fail("=, ==, !=, in, notin, <, >, ',' or the end");
  }

  #end<R>(result: R): R {
    if (this.#token.kind !== 'end') this.#fail("',' or the end");
    return result;
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    if (this.#token.kind === 'end') return requirements;
    do requirements.push(this.#requirement());
    while (this.#takes(','));
    return this.#end(requirements);
  }
}

/** The terms of a selector in the order of the text. Throws a `TypeError` on other text. */
export function parseRequirements(text: string): LabelRequirement[] {
  return new Parser(text).parse();
}
