/**
 * Parses the part of PromQL that the dashboard uses, and derives the unit and the labels of the result. Throws on everything else,
 * for example on a rate of a gauge, on a quantile without the label `le`, or on a name that no instrument has.
 */

/** An instrument of the library, as Prometheus shows it. */
export interface Instrument {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly unit: string;
  readonly labels: ReadonlySet<string>;
}

/** What an expression results in. A range is only an argument of a function. */
export interface Result {
  readonly unit: string;
  readonly labels: ReadonlySet<string>;
  readonly kind: 'counter' | 'gauge' | 'buckets' | 'number';
  readonly isRange: boolean;
}

/** The labels that Prometheus adds to everything that it scrapes. */
const TARGET_LABELS = ['job', 'instance'];
const TOKEN = /\s*(?:("[^"]*")|(\d+(?:\.\d+)?)|([a-zA-Z_]\w*)|(=~|!~|!=|[[\](){},=*>])|(\$__\w+))/y;

export class PromQl {
  readonly #instruments: ReadonlyMap<string, Instrument>;
  readonly #tokens: string[] = [];
  /** The instruments whose series were selected. */
  readonly used: Set<string> = new Set();

  constructor(text: string, instruments: ReadonlyMap<string, Instrument>) {
    this.#instruments = instruments;
    TOKEN.lastIndex = 0;
    for (let at = 0; at < text.trimEnd().length; at = TOKEN.lastIndex) {
      const [token = ''] = TOKEN.exec(text) ?? [];
      if (token === '') throw new Error(`no token at ${text.slice(at)}`);
      this.#tokens.push(token.trim());
    }
  }

  /** The result of the complete expression. */
  whole(): Result {
    const result = this.#product();
    this.#end();
    if (result.isRange) throw new Error('the expression is a range');
    return result;
  }

  /** The label in `label_values(series, label)`. */
  labelValues(): string {
    this.#take('label_values');
    this.#take('(');
    const { labels } = this.#term();
    this.#take(',');
    const label = this.#next();
    if (!labels.has(label)) throw new Error(`the series has no label ${label}`);
    this.#take(')');
    this.#end();
    return label;
  }

  #end(): void {
    if (this.#tokens.length > 0) throw new Error(`not understood: ${this.#tokens.join(' ')}`);
  }

  #next(): string {
    return this.#tokens.shift() ?? '';
  }

  #take(token: string): void {
    const next = this.#next();
    if (next !== token) throw new Error(`${JSON.stringify(next)} in place of ${token}`);
  }

  #product(): Result {
    const left = this.#term();
    if (this.#tokens[0] !== '*') return left;
    this.#take('*');
    const right = this.#term();
    if (left.kind !== 'number' || left.unit !== '60' || !right.unit.endsWith('/s')) {
      throw new Error('only a rate is multiplied, by 60');
    }
    return { ...right, unit: right.unit.replace('/s', '/min') };
  }

  /** 1 or 0 for each series. */
  #compared(of: Result): Result {
    if (this.#tokens[0] !== '>') return of;
    this.#take('>');
    this.#take('bool');
    const { kind } = this.#term();
    if (kind !== 'number' || of.kind !== 'gauge') throw new Error('only a gauge is compared');
    return { ...of, unit: '' };
  }

  #term(): Result {
    const word = this.#next();
    if (/^\d/.test(word)) {
      return { kind: 'number', unit: word, labels: new Set(), isRange: false };
    }
    if (word === 'sum' || word === 'max') return this.#aggregation(word);
    if (word === 'rate' || word === 'changes') return this.#ofRange(word);
    if (word === 'histogram_quantile') return this.#quantile();
    return this.#series(word);
  }

  #aggregation(word: string): Result {
    this.#take('by');
    const labels = new Set<string>();
    for (let token = '('; token !== ')'; token = this.#next()) {
      if (token === '(') this.#take('(');
      labels.add(this.#next());
    }
    this.#take('(');
    const of = this.#compared(this.#product());
    this.#take(')');
    for (const label of labels) {
      if (!of.labels.has(label)) throw new Error(`${word} by ${label}, which no series has`);
    }
    if (of.isRange) throw new Error(`${word} of a range`);
    return { ...of, labels };
  }

  #ofRange(word: string): Result {
    this.#take('(');
    const of = this.#series(this.#next());
    this.#take(')');
    if (!of.isRange) throw new Error(`${word} needs a range`);
    if ((of.kind === 'gauge') !== (word === 'changes')) throw new Error(`${word} of a ${of.kind}`);
    const kind = of.kind === 'buckets' ? 'buckets' : 'gauge';
    return { ...of, kind, isRange: false, unit: word === 'rate' ? `${of.unit}/s` : '' };
  }

  #quantile(): Result {
    this.#take('(');
    const { unit, kind } = this.#term();
    if (kind !== 'number' || Number(unit) > 1) throw new Error(`the quantile is ${unit}`);
    this.#take(',');
    const of = this.#term();
    this.#take(')');
    if (of.kind !== 'buckets' || !of.labels.has('le')) throw new Error('a quantile needs le');
    const labels = new Set([...of.labels].filter((label) => label !== 'le'));
    return { kind: 'gauge', unit: of.unit.replace('/s', ''), labels, isRange: false };
  }

  #series(metric: string): Result {
    const of = this.#resultOf(metric);
    if (this.#tokens[0] === '{') {
      for (let token = this.#next(); token !== '}'; token = this.#next()) {
        const label = this.#next();
        if (!of.labels.has(label)) throw new Error(`${metric} has no label ${label}`);
        if (!['=', '=~', '!=', '!~'].includes(this.#next())) throw new Error(`after ${label}`);
        if (!this.#next().startsWith('"')) throw new Error(`the value of ${label}`);
        if (!['}', ','].includes(this.#tokens[0] ?? '')) throw new Error(`after ${label}`);
      }
    }
    if (this.#tokens[0] !== '[') return of;
    this.#take('[');
    this.#take('$__rate_interval');
    this.#take(']');
    return { ...of, isRange: true };
  }

  #resultOf(metric: string): Result {
    const [, base = metric, part] = /^(.*_seconds)_(bucket|sum|count)$/.exec(metric) ?? [];
    const instrument = this.#instruments.get(base);
    if (instrument === undefined || (instrument.kind === 'histogram') !== (part !== undefined)) {
      throw new Error(`the library has no metric ${metric}`);
    }
    this.used.add(base);
    const { kind, unit } = instrument;
    const labels = new Set([...instrument.labels, ...TARGET_LABELS]);
    if (kind !== 'histogram') return { kind, unit, labels, isRange: false };
    if (part === 'bucket') {
      return { kind: 'buckets', unit, labels: labels.add('le'), isRange: false };
    }
    return { kind: 'counter', unit: part === 'sum' ? unit : '', labels, isRange: false };
  }
}
