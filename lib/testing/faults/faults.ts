/**
 * Scripted faults: everything that goes wrong between a client and a real API server, on demand. Standing
 * faults last until they are healed or used up; the others act once, on the watches that are open.
 */
import type { Status } from '../../meta/api-error.ts';
import { expired, failure } from '../../object-log/failures.ts';
import type { RequestRecord } from '../http/request.ts';
import type { WatchFaults, WatchStream } from '../http/watch-stream.ts';
import type { Holding } from './held-body.ts';
import { type Match, matches } from './request-match.ts';

/** A fault that stands. */
export interface Fault {
  /** How many requests it has met. */
  readonly hits: number;
  /** False once it is healed or used up. */
  readonly active: boolean;
  /** Ends it. Idempotent. */
  heal(): void;
}

/** What `failNext` answers. */
export interface FailedAnswer {
  /** HTTP status. */
  readonly status: number;
  /** Reason of the `Status` body. */
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  /** As `Retry-After` header, and in the details of the `Status`. */
  readonly retryAfterSeconds?: number | undefined;
  /** How the header says it. @defaultValue 'seconds' */
  readonly retryAfterAs?: 'seconds' | 'date' | undefined;
  /** More headers: the `location` of a redirect. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Instead of a `Status`. */
  readonly body?: string | undefined;
  readonly contentType?: string | undefined;
  /** How many requests in a row fail so. @defaultValue 1 */
  readonly times?: number | undefined;
}

/** How `truncateNext` cuts. */
export interface Truncation {
  /** How much of the body goes out. Default: half of it. */
  readonly keepBytes?: number | undefined;
  /** Ends the body as if it were whole, instead of breaking the connection. */
  readonly clean?: boolean | undefined;
  /** @defaultValue 1 */
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

/** What the standing faults make of one request. */
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
      if (effect.kind === 'swap') this.#each(match, (watch) => watch.settle());
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

  /** Answers the next requests that match with an error, or with any body under any status. */
  failNext(match: Match | undefined, answer: FailedAnswer): Fault {
    return this.#stand({ kind: 'fail', answer }, match, answer.times ?? 1);
  }

  /** Cuts the body of the next answers that match. */
  truncateNext(match?: Match, cut: Truncation = {}): Fault {
    return this.#stand({ kind: 'truncate', cut }, match, cut.times ?? 1);
  }

  /** Refuses connections: `fetch` rejects, `serve` destroys the socket. Open watches stay. */
  refuse(match?: Match): Fault {
    return this.#stand({ kind: 'refuse' }, match);
  }

  /** Takes requests and never answers them. Those taken stay unanswered when it is healed. */
  neverAnswer(match?: Match): Fault {
    return this.#stand({ kind: 'hang' }, match);
  }

  /**
   * The connection is lost and neither end is told: open watches that match stay open and get nothing any
   * more, new requests are never answered. Healed, new requests work; what was open stays lost.
   */
  halfOpen(match?: Match): Fault {
    for (const watch of this.#open(match)) watch.goHalfOpen();
    return this.#stand({ kind: 'hang' }, match);
  }

  /** Watches, open and new ones, send nothing; healed, they go on with all that they kept back. */
  silence(match?: Match): Fault {
    return this.#stand({ kind: 'silence' }, match);
  }

  /** Watches leave out every so many-th event and go on as if it had been sent. `hits` counts what was lost. */
  loseEvents(oneIn: number, match?: Match): Fault {
    let met = 0;
    return this.#stand({ kind: 'lose', takes: () => ++met % oneIn === 0 }, match);
  }

  /** Answers come so much later, in milliseconds of the server's scheduler. */
  delay(ms: number, match?: Match): Fault {
    return this.#stand({ kind: 'delay', ms }, match);
  }

  /** Watches send no bookmarks, the mark that ends the initial events included. */
  withoutBookmarks(match?: Match): Fault {
    return this.#stand({ kind: 'no-bookmarks' }, match);
  }

  /** Watches send bookmarks, but none that ends the initial events. */
  withoutInitialEventsEnd(match?: Match): Fault {
    return this.#stand({ kind: 'no-end-mark' }, match);
  }

  /**
   * New streaming lists are compressed as Kubernetes 1.37 does it, a gzip member for each flush, for clients that take
   * gzip: browsers read the first member only. Over `serve()`; an in-process `fetch` compresses nothing.
   */
  gzipStreamingLists(match?: Match): Fault {
    return this.#stand({ kind: 'gzip' }, match);
  }

  /**
   * Bodies come as through a proxy with buffers: what the server sends gathers until it is so many bytes, or the answer
   * ends; the head waits with it. Holds for answers that begin from now on; those under way are not changed, nor by
   * healing it.
   */
  holdBack(holding: Holding = {}, match?: Match): Fault {
    return this.#stand({ kind: 'hold', holding }, match);
  }

  /** Breaks the connections of open watches. Answers how many there were. */
  dropWatches(match?: Match): number {
    return this.#each(match, (watch) => watch.break());
  }

  /** Ends open watches as a server does whose time is up. */
  closeWatches(match?: Match): number {
    return this.#each(match, (watch) => watch.close());
  }

  /**
   * Cuts open watches after so many more bytes, wherever that is in an event: by breaking the connection, or,
   * `clean`, by ending the body as if it were whole.
   */
  cutWatches(bytes: number, match?: Match, options: { readonly clean?: boolean } = {}): number {
    return this.#each(match, (watch) => watch.cutAfter(bytes, options.clean ?? false));
  }

  /** Sends the last events of open watches, so many, a second time. */
  repeatEvents(count: number, match?: Match): number {
    return this.#each(match, (watch) => watch.repeat(count));
  }

  /** The next two events of each open watch change places, once; the first of them waits for the second. */
  swapEvents(match?: Match): Fault {
    this.#each(match, (watch) => watch.swap());
    return this.#stand({ kind: 'swap' }, match);
  }

  /** Ends open watches with an ERROR event, 410 Expired. */
  expireWatches(match?: Match): number {
    const error = expired('The resourceVersion for the provided watch is too old.');
    return this.#each(match, (watch) => watch.fail(error));
  }

  /** Sends an ERROR event into open watches, and ends them unless `staysOpen`. */
  emitError(status: Status, match?: Match, options: { readonly staysOpen?: boolean } = {}): number {
    const { code = 500, reason, message = 'an error', details } = status;
    const error = failure(code, reason, message, details);
    return this.#each(match, (watch) => watch.fail(error, options.staysOpen));
  }

  /** Sends any text or bytes into open watches. */
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

  /** @internal What becomes of a request; uses up the faults that answer it. */
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
