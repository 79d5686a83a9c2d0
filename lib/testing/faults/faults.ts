/**
 * Faults on demand: everything that can go wrong between a client and a real API server. Standing faults last until
 * they are healed or used up. The other faults act once, on the watches that are open.
 */
import type { Status } from '../../meta/api-error.ts';
import { expired, failure } from '../../object-log/failures.ts';
import type { RequestRecord } from '../http/request.ts';
import type { WatchFaults, WatchStream } from '../http/watch-stream.ts';
import type { Holding } from './held-body.ts';
import { type Match, matches } from './request-match.ts';

/** A standing fault. */
export interface Fault {
  /** The number of requests that it has affected. */
  readonly hits: number;
  /** False after it is healed or used up. */
  readonly active: boolean;
  /** Ends the fault. Idempotent. */
  heal(): void;
}

/** The response of `failNext`. */
export interface FailedAnswer {
  /** The HTTP status. */
  readonly status: number;
  /** The reason in the `Status` body. */
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  /** The delay in seconds, in the `Retry-After` header and in the details of the `Status`. */
  readonly retryAfterSeconds?: number | undefined;
  /** The form of the header. @defaultValue 'seconds' */
  readonly retryAfterAs?: 'seconds' | 'date' | undefined;
  /** Additional headers, for example the `location` of a redirect. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The body to send instead of a `Status`. */
  readonly body?: string | undefined;
  readonly contentType?: string | undefined;
  /** How many consecutive requests fail. @defaultValue 1 */
  readonly times?: number | undefined;
}

/** The options of `truncateNext`. */
export interface Truncation {
  /** How many bytes of the body are sent. Default: half of them. */
  readonly keepBytes?: number | undefined;
  /** Ends the body normally instead of breaking the connection. @defaultValue false */
  readonly clean?: boolean | undefined;
  /** How many consecutive responses are cut. @defaultValue 1 */
  readonly times?: number | undefined;
}

type Effect =
  | { readonly kind: 'fail'; readonly answer: FailedAnswer }
  | { readonly kind: 'truncate'; readonly cut: Truncation }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'lose'; readonly takes: () => boolean }
  | { readonly kind: 'hold'; readonly holding: Holding }
  | {
      readonly kind:
        | 'refuse'
        | 'hang'
        | 'silence'
        | 'no-bookmarks'
        | 'no-end-mark'
        | 'swap'
        | 'gzip';
    };

class StandingFault implements Fault {
  readonly effect: Effect;
  readonly #match: Match | undefined;
  readonly #healed: () => void;
  hits = 0;
  #left: number;

  constructor(effect: Effect, match: Match | undefined, times: number, healed: () => void) {
    this.effect = effect;
    this.#match = match;
    this.#left = times;
    this.#healed = healed;
  }

  get active(): boolean {
    return this.#left > 0;
  }

  covers(request: RequestRecord): boolean {
    return this.active && matches(this.#match, request);
  }

  use(): void {
    this.hits++;
    this.#left--;
  }

  heal(): void {
    if (!this.active) return;
    this.#left = 0;
    this.#healed();
  }
}

/** The combined effect of the standing faults on one request. */
export interface Verdict {
  readonly connection: 'open' | 'refused' | 'silent';
  readonly delayMs: number;
  readonly answer?: FailedAnswer;
  readonly cut?: Truncation;
  readonly holding?: Holding;
}

/**
 * The faults of one server.
 *
 * @example
 * ```ts
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * const fault = server.faults.failNext({ use: 'list' }, { status: 429, retryAfterSeconds: 2 });
 * const answer = await server.fetch('http://fake/api/v1/pods');
 * answer.status; // => 429
 * fault.active; // => false
 * ```
 */
export class Faults implements WatchFaults {
  readonly #watches: ReadonlySet<WatchStream>;
  #standing: StandingFault[] = [];

  constructor(watches: ReadonlySet<WatchStream>) {
    this.#watches = watches;
  }

  #stand(effect: Effect, match: Match | undefined, times = Number.POSITIVE_INFINITY): Fault {
    this.#standing = this.#standing.filter(({ active }) => active);
    const fault = new StandingFault(effect, match, times, () => {
      if (effect.kind === 'swap') this.#each(match, (watch) => watch.stopSwapping());
      else this.#wakeAll();
    });
    this.#standing.push(fault);
    return fault;
  }

  #wakeAll(): void {
    for (const watch of this.#watches) watch.wake();
  }

  #open(match: Match | undefined): WatchStream[] {
    return [...this.#watches].filter(({ request }) => matches(match, request));
  }

  #stands(kind: Effect['kind'], request: RequestRecord): boolean {
    return this.#standing.some((fault) => fault.effect.kind === kind && fault.covers(request));
  }

  /** Answers the next matching requests with an error, or with any status and body. */
  failNext(match: Match | undefined, answer: FailedAnswer): Fault {
    return this.#stand({ kind: 'fail', answer }, match, answer.times ?? 1);
  }

  /** Cuts the bodies of the next matching responses. */
  truncateNext(match?: Match, cut: Truncation = {}): Fault {
    return this.#stand({ kind: 'truncate', cut }, match, cut.times ?? 1);
  }

  /** Refuses connections: `fetch` rejects, and `serve` destroys the socket. Open watches stay open. */
  refuse(match?: Match): Fault {
    return this.#stand({ kind: 'refuse' }, match);
  }

  /** Accepts requests and never answers them, also not after the fault is healed. */
  neverAnswer(match?: Match): Fault {
    return this.#stand({ kind: 'hang' }, match);
  }

  /**
   * Loses connections without notice to either end: matching open watches stay open and receive nothing more, and new
   * requests are never answered. After the fault is healed, new requests work, and lost connections stay lost.
   */
  halfOpen(match?: Match): Fault {
    for (const watch of this.#open(match)) watch.goHalfOpen();
    return this.#stand({ kind: 'hang' }, match);
  }

  /** Open and new watches send nothing. After the fault is healed, they send everything that they held back. */
  silence(match?: Match): Fault {
    return this.#stand({ kind: 'silence' }, match);
  }

  /** Watches omit one event in `oneIn`, and continue as if it had been sent. `hits` counts the lost events. */
  loseEvents(oneIn: number, match?: Match): Fault {
    let met = 0;
    return this.#stand({ kind: 'lose', takes: () => ++met % oneIn === 0 }, match);
  }

  /** Delays responses by `ms` milliseconds of the server's scheduler. */
  delay(ms: number, match?: Match): Fault {
    return this.#stand({ kind: 'delay', ms }, match);
  }

  /** Watches send no bookmarks, not even the one that ends the initial events. */
  withoutBookmarks(match?: Match): Fault {
    return this.#stand({ kind: 'no-bookmarks' }, match);
  }

  /** Watches send bookmarks, except the one that ends the initial events. */
  withoutInitialEventsEnd(match?: Match): Fault {
    return this.#stand({ kind: 'no-end-mark' }, match);
  }

  /**
   * Compresses new streaming lists like Kubernetes 1.37, with a gzip member per flush, for clients that accept gzip.
   * Browsers read only the first member. Applies to `serve()`; an in-process `fetch` compresses nothing.
   */
  gzipStreamingLists(match?: Match): Fault {
    return this.#stand({ kind: 'gzip' }, match);
  }

  /**
   * Holds bodies back like a buffering proxy: sends what the server writes only when it reaches a number of bytes, or
   * when the response ends. The head is held back, too. Applies to responses that start from now on; healing does not
   * change responses in progress.
   */
  holdBack(holding: Holding = {}, match?: Match): Fault {
    return this.#stand({ kind: 'hold', holding }, match);
  }

  /** Breaks the connections of open watches. Returns how many there were. */
  dropWatches(match?: Match): number {
    return this.#each(match, (watch) => watch.break());
  }

  /** Ends open watches normally, like a server whose watch timeout has passed. Returns how many there were. */
  closeWatches(match?: Match): number {
    return this.#each(match, (watch) => watch.close());
  }

  /**
   * Cuts open watches after this many more bytes, also in the middle of an event: by breaking the connection, or, with
   * `clean`, by ending the body normally. Returns how many watches there were.
   */
  cutWatches(bytes: number, match?: Match, options: { readonly clean?: boolean } = {}): number {
    return this.#each(match, (watch) => watch.cutAfter(bytes, options.clean ?? false));
  }

  /** Sends the last `count` events of open watches a second time. Returns how many watches there were. */
  repeatEvents(count: number, match?: Match): number {
    return this.#each(match, (watch) => watch.repeat(count));
  }

  /** Swaps the next two events of each open watch, once. The first of them waits for the second. */
  swapEvents(match?: Match): Fault {
    this.#each(match, (watch) => watch.swap());
    return this.#stand({ kind: 'swap' }, match);
  }

  /** Ends open watches with an ERROR event, 410 Expired. Returns how many there were. */
  expireWatches(match?: Match): number {
    const error = expired('The resourceVersion for the provided watch is too old.');
    return this.#each(match, (watch) => watch.fail(error));
  }

  /** Sends an ERROR event into open watches, and ends them unless `staysOpen` is set. Returns how many there were. */
  emitError(status: Status, match?: Match, options: { readonly staysOpen?: boolean } = {}): number {
    const { code = 500, reason, message = 'an error', details } = status;
    const error = failure(code, reason, message, details);
    return this.#each(match, (watch) => watch.fail(error, options.staysOpen));
  }

  /** Sends any text or bytes into open watches. Returns how many there were. */
  sendRaw(data: string | Uint8Array, match?: Match): number {
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
    return this.#each(match, (watch) => watch.inject(bytes));
  }

  #each(match: Match | undefined, act: (watch: WatchStream) => void): number {
    const open = this.#open(match);
    for (const watch of open) act(watch);
    return open.length;
  }

  /** Ends all standing faults. */
  healAll(): void {
    for (const fault of this.#standing) fault.heal();
    this.#standing = [];
  }

  /** @internal Combines the standing faults that match a request, and counts their use. */
  judge(request: RequestRecord): Verdict {
    let delayMs = 0;
    let connection: Verdict['connection'] = 'open';
    let answer: FailedAnswer | undefined;
    let cut: Truncation | undefined;
    let holding: Holding | undefined;
    for (const fault of this.#standing) {
      if (!fault.covers(request)) continue;
      const { effect } = fault;
      if (effect.kind === 'delay') delayMs += effect.ms;
      else if (effect.kind === 'refuse') connection = 'refused';
      else if (effect.kind === 'hang' && connection === 'open') connection = 'silent';
      else if (effect.kind === 'fail' && answer === undefined) answer = effect.answer;
      else if (effect.kind === 'truncate' && cut === undefined) cut = effect.cut;
      else if (effect.kind === 'hold' && holding === undefined) holding = effect.holding;
      else continue;
      fault.use();
    }
    return {
      connection,
      delayMs,
      ...(answer === undefined ? {} : { answer }),
      ...(cut === undefined ? {} : { cut }),
      ...(holding === undefined ? {} : { holding }),
    };
  }

  /** @internal */
  silent(request: RequestRecord): boolean {
    return this.#stands('silence', request);
  }

  /** @internal */
  loses(request: RequestRecord): boolean {
    const covering = this.#standing.filter((each) => each.covers(request));
    const fault = covering.find(({ effect }) => effect.kind === 'lose' && effect.takes());
    fault?.use();
    return fault !== undefined;
  }

  /** @internal */
  gzips(request: RequestRecord): boolean {
    return this.#stands('gzip', request);
  }

  /** @internal */
  allowsBookmark(request: RequestRecord, endMark: boolean): boolean {
    if (this.#stands('no-bookmarks', request)) return false;
    return !(endMark && this.#stands('no-end-mark', request));
  }
}
