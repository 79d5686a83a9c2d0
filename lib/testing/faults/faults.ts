/**
 * Faults on demand: everything that can go wrong between a client and a real API server. Standing faults last until
 * they are healed or used up. The other faults act once, on the watches that are open.
 */

import {
  checkedCount,
  checkedDuration,
  checkedWhole,
  checkedWholeLimit,
  ifGiven,
} from '../../checks/checked-option.ts';
import type { Status } from '../../meta/api-error.ts';
import { expired, failure } from '../../object-log/failures.ts';
import type { RequestRecord } from '../http/request.ts';
import type { WatchFaults, WatchStream } from '../http/watch-stream.ts';
import type { Holding } from './held-body.ts';
import {
  checkMatch,
  type Effect,
  type FailedAnswer,
  type Fault,
  type Match,
  matches,
  StandingFaults,
  type Truncation,
  type Verdict,
} from './standing-faults.ts';

/** A status with which a server can answer: `Response` and sockets take no other as the last one of a request. */
function checkStatus({ status }: FailedAnswer): void {
  checkedWhole(status, 'failNext: status', 200, 599);
}

/**
 * The faults of one server. A number that a fault cannot use throws a `TypeError`.
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
  readonly #standing = new StandingFaults();

  constructor(watches: ReadonlySet<WatchStream>) {
    this.#watches = watches;
  }

  #stand(effect: Effect, match: Match | undefined, times = Number.POSITIVE_INFINITY): Fault {
    checkMatch(match);
    return this.#standing.add(effect, match, times, () => {
      if (effect.kind === 'swap') this.#each(match, (watch) => watch.stopSwapping());
      else this.#wakeAll();
    });
  }

  #wakeAll(): void {
    for (const watch of this.#watches) watch.wake();
  }

  #open(match: Match | undefined): WatchStream[] {
    checkMatch(match);
    return [...this.#watches].filter(({ request }) => matches(match, request));
  }

  /** Answers the next matching requests with an error, or with any status and body. */
  failNext(match: Match | undefined, answer: FailedAnswer): Fault {
    checkStatus(answer);
    const times = checkedWholeLimit(answer.times ?? 1, 'failNext: times');
    return this.#stand({ kind: 'fail', answer }, match, times);
  }

  /** Cuts the bodies of the next matching responses. */
  truncateNext(match?: Match, cut: Truncation = {}): Fault {
    checkedCount(cut.keepBytes ?? 0, 'truncateNext: keepBytes', 0);
    const times = checkedWholeLimit(cut.times ?? 1, 'truncateNext: times');
    return this.#stand({ kind: 'truncate', cut }, match, times);
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
    checkedWholeLimit(oneIn, 'loseEvents: oneIn');
    let met = 0;
    return this.#stand({ kind: 'lose', takes: () => ++met % oneIn === 0 }, match);
  }

  /** Delays responses by `ms` milliseconds of the server's scheduler. */
  delay(ms: number, match?: Match): Fault {
    checkedDuration(ms, 'delay: ms');
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
    ifGiven(checkedWholeLimit, holding.bytes, 'holdBack: bytes');
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
    checkedCount(bytes, 'cutWatches: bytes', 0);
    return this.#each(match, (watch) => watch.cutAfter(bytes, options.clean ?? false));
  }

  /** Sends the last `count` events of open watches a second time. Returns how many watches there were. */
  repeatEvents(count: number, match?: Match): number {
    checkedCount(count, 'repeatEvents: count', 1);
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
    this.#standing.healAll();
  }

  /** @internal Combines the standing faults that match a request, and counts their use. */
  judge(request: RequestRecord): Verdict {
    return this.#standing.judge(request);
  }

  /** @internal */
  silent(request: RequestRecord): boolean {
    return this.#standing.has('silence', request);
  }

  /** @internal */
  loses(request: RequestRecord): boolean {
    return this.#standing.loses(request);
  }

  /** @internal */
  gzips(request: RequestRecord): boolean {
    return this.#standing.has('gzip', request);
  }

  /** @internal */
  allowsBookmark(request: RequestRecord, endMark: boolean): boolean {
    if (this.#standing.has('no-bookmarks', request)) return false;
    return !(endMark && this.#standing.has('no-end-mark', request));
  }
}
