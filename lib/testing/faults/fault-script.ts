/**
 * `faultScript`: generates faults as plain data from a seed. The same seed gives the same faults in the same order, so
 * that a failed run can be repeated and a test can print its faults.
 */

import { seededRandom } from '../seeded-random.ts';

/** A fault of requests. `ms` and `forMs` are in milliseconds. */
export type HttpFault =
  /** The next requests get an error, a redirect, or an unexpected response with any status. */
  | {
      readonly depth: 'http';
      readonly kind: 'answer';
      readonly use: 'list' | 'watch' | 'any';
      readonly status: number;
      readonly times: number;
      /** The body: a `Status` object, or a body as a proxy sends it. */
      readonly body: 'status' | 'html' | 'text' | 'empty' | 'braces' | 'another-kind';
      readonly retryAfterSeconds?: number;
      readonly retryAfterAs?: 'seconds' | 'date';
      /** The target of a redirect. */
      readonly location?: string;
    }
  /** Connections are refused, or requests are accepted and never answered. */
  | { readonly depth: 'http'; readonly kind: 'refuse' | 'never-answer'; readonly forMs: number }
  | {
      readonly depth: 'http';
      readonly kind: 'delay';
      readonly ms: number;
      readonly forMs: number;
    }
  /** The next responses are cut after this many bytes: by a broken connection, or by an end that looks `clean`. */
  | {
      readonly depth: 'http';
      readonly kind: 'truncate';
      readonly keepBytes: number;
      readonly clean: boolean;
      readonly times: number;
    };

/** A fault of open watches and of their events. `forMs` is in milliseconds. */
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

/** A fault of connections; see `createTcpProxy`. `ms` and `forMs` are in milliseconds. */
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

/** One fault of a script, as plain JSON. */
export type ScriptedFault = HttpFault | StreamFault | TcpFault;

/** A fault, and how long it follows the previous one, in milliseconds. */
export interface FaultStep {
  readonly afterMs: number;
  readonly fault: ScriptedFault;
}

/** The options of {@link faultScript}. */
export interface FaultScriptOptions {
  /** @defaultValue ['http', 'stream'] */
  readonly depths?: readonly ScriptedFault['depth'][] | undefined;
  /** The mean time between two faults, in milliseconds. @defaultValue 10_000 */
  readonly meanMs?: number | undefined;
  /** The maximum duration of a fault that lasts, in milliseconds. @defaultValue 120_000 */
  readonly maxForMs?: number | undefined;
  /** The kinds of faults to leave out, for example `['swap']`. */
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

/** The random choices of one script. */
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

  /** Durations are uniform in their logarithm, so short ones are as likely as long ones. */
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
    const roll = this.below(10);
    if (roll < 2) {
      const body = this.of(['html', 'braces', 'another-kind', 'empty', 'text'] as const);
      return { ...shared, status: 200, body };
    }
    if (roll === 2) {
      const status = this.of([301, 302, 303, 307, 308]);
      return { ...shared, status, body: 'html', location: this.of(['/login', '/api', '/healthz']) };
    }
    if (roll < 5) {
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

/** All kinds of faults. A kind that is listed twice is twice as likely. */
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
      // Rare, because five megabytes take time.
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
 * Generates an endless script of faults, the same for the same seed and options. The script itself does nothing;
 * `createFaultMachine` plays it.
 *
 * The iteration throws a `TypeError` if the options leave no fault.
 *
 * @param seed - An integer, or a source of random numbers in [0, 1).
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
      let misses = 0;
      while (misses < 1000) {
        const fault = makers.length === 0 ? undefined : draw.of(makers)();
        if (fault === undefined || without.includes(fault.kind)) {
          misses++;
          continue;
        }
        misses = 0;
        yield { afterMs: draw.afterMs(meanMs), fault };
      }
      throw new TypeError('faultScript: the options leave no fault to choose from');
    },
  };
}
