/**
 * Faults as plain data, drawn from a seed: the same seed gives the same faults in the same order, so that a run
 * which went wrong can be played again, and a test can print what it did.
 */

import { seededRandom } from '../seeded-random.ts';

/** What happens to requests. */
export type HttpFault =
  /** The next requests are answered with an error, a redirect, or something else under any status. */
  | {
      readonly depth: 'http';
      readonly kind: 'answer';
      readonly use: 'list' | 'watch' | 'any';
      readonly status: number;
      readonly times: number;
      /** `status`: a `Status` object; the others are what proxies send. */
      readonly body: 'status' | 'html' | 'text' | 'empty' | 'braces' | 'another-kind';
      readonly retryAfterSeconds?: number;
      readonly retryAfterAs?: 'seconds' | 'date';
      /** Of a redirect. */
      readonly location?: string;
    }
  /** Connections are refused, or requests are taken and never answered. */
  | { readonly depth: 'http'; readonly kind: 'refuse' | 'never-answer'; readonly forMs: number }
  | {
      readonly depth: 'http';
      readonly kind: 'delay';
      readonly ms: number;
      readonly forMs: number;
    }
  /** The next answers are cut after so many bytes: by a broken connection, or `clean`. */
  | {
      readonly depth: 'http';
      readonly kind: 'truncate';
      readonly keepBytes: number;
      readonly clean: boolean;
      readonly times: number;
    };

/** What happens to the watches that are open, and to what they send. */
export type StreamFault =
  | { readonly depth: 'stream'; readonly kind: 'close' | 'reset' | 'expire' | 'compact' | 'swap' }
  | {
      readonly depth: 'stream';
      readonly kind: 'cut';
      readonly bytes: number;
      readonly clean: boolean;
    }
  | { readonly depth: 'stream'; readonly kind: 'repeat'; readonly events: number }
  | { readonly depth: 'stream'; readonly kind: 'garbage'; readonly text: string }
  | {
      readonly depth: 'stream';
      readonly kind: 'unknown-type' | 'wrong-kind' | 'no-metadata' | 'huge';
    }
  | {
      readonly depth: 'stream';
      readonly kind: 'error';
      readonly code: number;
      readonly reason: string;
      readonly staysOpen: boolean;
    }
  | {
      readonly depth: 'stream';
      readonly kind: 'silence' | 'half-open' | 'no-bookmarks' | 'no-end-mark';
      readonly forMs: number;
    };

/** What happens to connections; see `createTcpProxy`. */
export type TcpFault =
  | { readonly depth: 'tcp'; readonly kind: 'drop' }
  | { readonly depth: 'tcp'; readonly kind: 'cut'; readonly bytes: number }
  | { readonly depth: 'tcp'; readonly kind: 'refuse' | 'half-open'; readonly forMs: number }
  | {
      readonly depth: 'tcp';
      readonly kind: 'delay';
      readonly ms: number;
      readonly forMs: number;
    }
  | {
      readonly depth: 'tcp';
      readonly kind: 'throttle';
      readonly bytesPerSecond: number;
      readonly forMs: number;
    };

/** One fault of a script. Plain JSON. */
export type ScriptedFault = HttpFault | StreamFault | TcpFault;

/** A fault, and how long after the one before it comes, in milliseconds. */
export interface FaultStep {
  readonly afterMs: number;
  readonly fault: ScriptedFault;
}

/** How a script is drawn. */
export interface FaultScriptOptions {
  /** @defaultValue ['http', 'stream'] */
  readonly depths?: readonly ScriptedFault['depth'][] | undefined;
  /** Mean time between two faults, in milliseconds. @defaultValue 10_000 */
  readonly meanMs?: number | undefined;
  /** The longest that a fault lasts which lasts, in milliseconds. @defaultValue 120_000 */
  readonly maxForMs?: number | undefined;
  /** Leaves out faults by their kind: `['swap']`. */
  readonly without?: readonly ScriptedFault['kind'][] | undefined;
}

const ERRORS: readonly (readonly [code: number, reason: string])[] = [
  [400, 'BadRequest'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'NotFound'],
  [405, 'MethodNotAllowed'],
  [406, 'NotAcceptable'],
  [408, 'Timeout'],
  [409, 'Conflict'],
  [410, 'Expired'],
  [410, 'Gone'],
  [413, 'RequestEntityTooLarge'],
  [415, 'UnsupportedMediaType'],
  [422, 'Invalid'],
  [429, 'TooManyRequests'],
  [500, 'InternalError'],
  [500, 'StoreReadError'],
  [500, 'ServerTimeout'],
  [500, 'Unknown'],
  [503, 'ServiceUnavailable'],
  [504, 'Timeout'],
];
const GARBAGE = [
  'no json\n',
  '{"type":"MODIFIED"',
  '\n\n',
  'null\n',
  '[]\n',
  '"\n',
  '{}\n',
  '\u0000',
];
const STATUSES = [400, 401, 403, 404, 405, 406, 408, 410, 415, 429, 500, 501, 502, 503, 504];

type Kinds = { readonly [Depth in ScriptedFault['depth']]: readonly (() => ScriptedFault)[] };

/** The dice of one script. */
class Draw {
  readonly #random: () => number;
  readonly #maxForMs: number;

  constructor(random: () => number, maxForMs: number) {
    this.#random = random;
    this.#maxForMs = maxForMs;
  }

  below(bound: number): number {
    return Math.floor(this.#random() * bound);
  }

  of<V>(values: readonly V[]): V {
    return values[this.below(values.length)] as V;
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  /** Short times are as likely as long ones: uniform in their logarithm. */
  forMs(): number {
    return Math.round(this.#maxForMs ** (0.4 + 0.6 * this.#random()));
  }

  afterMs(meanMs: number): number {
    return Math.round(-Math.log(1 - this.#random()) * meanMs);
  }

  answer(): HttpFault {
    const shared = {
      depth: 'http',
      kind: 'answer',
      use: this.of(['list', 'watch', 'any'] as const),
      times: 1 + this.below(4),
    } as const;
    const what = this.below(10);
    if (what < 2) {
      const body = this.of(['html', 'braces', 'another-kind', 'empty', 'text'] as const);
      return { ...shared, status: 200, body };
    }
    if (what === 2) {
      const status = this.of([301, 302, 303, 307, 308]);
      return { ...shared, status, body: 'html', location: this.of(['/login', '/api', '/healthz']) };
    }
    if (what < 5) {
      const wait = { retryAfterSeconds: 1 + this.below(Math.max(1, this.#maxForMs / 2000)) };
      const as = { retryAfterAs: this.of(['seconds', 'date'] as const) };
      return { ...shared, status: this.of([429, 503]), body: 'status', ...wait, ...as };
    }
    const status = this.of(STATUSES);
    return { ...shared, status, body: this.of(['status', 'status', 'html', 'text', 'empty']) };
  }

  error(): StreamFault {
    const [code, reason] = this.of(ERRORS);
    return { depth: 'stream', kind: 'error', code, reason, staysOpen: this.chance(0.2) };
  }
}

/** All kinds of faults; a kind that stands twice comes twice as often. */
function kindsOf(draw: Draw): Kinds {
  const http = { depth: 'http' } as const;
  const stream = { depth: 'stream' } as const;
  const tcp = { depth: 'tcp' } as const;
  const lasting = (kind: Extract<StreamFault, { forMs: number }>['kind']) => (): StreamFault => ({
    ...stream,
    kind,
    forMs: draw.forMs(),
  });
  const plain = (kind: Exclude<StreamFault, { forMs: number } | { code: number }>['kind']) => () =>
    ({ ...stream, kind }) as StreamFault;
  return {
    http: [
      () => draw.answer(),
      () => draw.answer(),
      () => draw.answer(),
      () => ({ ...http, kind: 'refuse', forMs: draw.forMs() }),
      () => ({ ...http, kind: 'never-answer', forMs: draw.forMs() }),
      () => ({ ...http, kind: 'delay', ms: draw.forMs(), forMs: draw.forMs() }),
      () => {
        const cut = { keepBytes: draw.below(2000), clean: draw.chance(0.5) };
        return { ...http, kind: 'truncate', ...cut, times: 1 + draw.below(3) };
      },
    ],
    stream: [
      ...(['close', 'reset', 'expire', 'compact', 'swap', 'swap'] as const).map(plain),
      ...(['unknown-type', 'wrong-kind', 'no-metadata'] as const).map(plain),
      // Five megabytes take their time.
      () => ({ ...stream, kind: draw.chance(0.1) ? 'huge' : 'unknown-type' }),
      () => ({ ...stream, kind: 'cut', bytes: draw.below(1500), clean: draw.chance(0.5) }),
      () => ({ ...stream, kind: 'cut', bytes: draw.below(1500), clean: draw.chance(0.5) }),
      () => ({ ...stream, kind: 'repeat', events: 1 + draw.below(8) }),
      () => ({ ...stream, kind: 'garbage', text: draw.of(GARBAGE) }),
      () => draw.error(),
      () => draw.error(),
      ...(['silence', 'half-open', 'no-bookmarks', 'no-end-mark'] as const).map(lasting),
    ],
    tcp: [
      () => ({ ...tcp, kind: 'drop' }),
      () => ({ ...tcp, kind: 'cut', bytes: draw.below(4000) }),
      () => ({ ...tcp, kind: 'refuse', forMs: draw.forMs() }),
      () => ({ ...tcp, kind: 'half-open', forMs: draw.forMs() }),
      () => ({ ...tcp, kind: 'delay', ms: draw.below(200), forMs: draw.forMs() }),
      () => ({ ...tcp, kind: 'throttle', bytesPerSecond: 10_000, forMs: draw.forMs() }),
    ],
  };
}

/**
 * An endless script of faults, the same for the same seed and options. It does nothing by itself:
 * `createFaultMachine` plays it.
 *
 * Throws a `TypeError` when nothing is left to draw from.
 *
 * @param seed - A whole number, or a source of chance in [0, 1).
 *
 * @example
 * ```ts
 * import { faultScript } from 'rx-informer/testing';
 *
 * const [first] = faultScript(7, { depths: ['http'] });
 * first?.fault.depth; // => 'http'
 * ```
 */
export function faultScript(
  seed: number | (() => number),
  options: FaultScriptOptions = {},
): Iterable<FaultStep> {
  const { depths = ['http', 'stream'], meanMs = 10_000, maxForMs = 120_000 } = options;
  const without: readonly string[] = options.without ?? [];
  return {
    *[Symbol.iterator]() {
      const draw = new Draw(typeof seed === 'number' ? seededRandom(seed) : seed, maxForMs);
      const kinds = kindsOf(draw);
      const makers = depths.flatMap((depth) => kinds[depth]);
      let barren = 0;
      while (barren < 1000) {
        const fault = makers.length === 0 ? undefined : draw.of(makers)();
        if (fault === undefined || without.includes(fault.kind)) {
          barren++;
          continue;
        }
        barren = 0;
        yield { afterMs: draw.afterMs(meanMs), fault };
      }
      throw new TypeError('faultScript: the options leave no fault to draw from');
    },
  };
}
