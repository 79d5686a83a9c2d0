/** Follows one scope of a bucket with one consumer: a list, and then every published set. */
import { Observable, type Subscriber, Subscription } from 'rxjs';
import type { WatchEvent } from '../../decode/watch-event.ts';
import type { ApiError } from '../../meta/api-error.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import type { Demand } from '../../rx/demand.ts';
import { looseTimer } from '../../rx/long-timer.ts';
import { stopwatch } from '../../rx/stopwatch.ts';
import { gone, unavailable } from '../failures.ts';
import { scopeFilter } from '../layout.ts';
import { type PullSignal, pull } from '../pull.ts';
import type { Received } from '../received.ts';
import { type Bucket, type Recorded, readWhole, unpublished } from './bucket.ts';
import type { Place } from './past-places.ts';
import { type Session, type SessionScope, unfinished } from './session.ts';

/** A signal of {@link follow}. */
export type Followed<T> =
  | {
      /** `doubted`: the rows are those of `silentMs` milliseconds ago. Without an `error`, messages arrive. */
      readonly kind: 'opened' | 'alive' | 'doubted';
      readonly silentMs?: number;
      readonly error?: ApiError;
      readonly events?: undefined;
    }
  /** `part`: some events of a list. `listed`: the last ones. `changed`: a published set. */
  | { readonly kind: 'part' | 'listed' | 'changed'; readonly events: readonly WatchEvent<T>[] };

/** How many messages of a list are collected before a part is emitted. */
const PART = 500;
/** A list that receives nothing for this long and is not complete has an unfinished set, in milliseconds. */
const LIST_PATIENCE_MS = 30_000;
/**
 * After this time without a complete set, although messages arrive, the reader is behind, in milliseconds. That happens to a reader
 * that is too slow: the objects of each record have changed again before it reads the record.
 */
const BEHIND_MS = 10_000;
/** The publisher counts as missing after this many heartbeats. */
const MISSED = 3;
/**
 * How long messages may take that the server has after a pause, or that a process which was busy has not read yet, in
 * milliseconds. It is less than the second that is promised beside three heartbeats.
 */
const LATE_MS = 300;

function publisherMissing({ where }: SessionScope, ms: number): ApiError {
  return unavailable(
    `${where}: the publisher has sent nothing for ${ms / 1000} s, so changes of the cluster do not arrive; look at the publisher`,
  );
}

/** Sessions whose publisher is missing, or was when their last watch ended. */
const unheard = /* @__PURE__ */ new WeakSet<object>();

class Follower<T extends KubernetesObject> {
  readonly #bucket: Bucket;
  readonly #session: Session<T>;
  readonly #demand: Demand | undefined;
  readonly #out: Subscriber<Followed<T>>;
  #consumer = new Subscription();
  #silence = new Subscription();
  /** Runs while the messages of a set arrive. */
  #behind: Subscription | undefined;
  /** For how long the rows have not been those of the publisher, if that lasts. */
  #behindMs: (() => number) | undefined;
  /** Whether a doubt was emitted, for which the demand must be open. */
  #isDoubted = false;
  /** Whether that doubt says that the publisher is missing. */
  #isMissing = false;
  /** Whether the reader itself requests nothing, so that the publisher's silence means nothing. */
  #isPaused = false;
  /** Whether the silence became too long during a pause. */
  #isOverdue = false;
  /** How many messages the consumer had when it was opened. */
  #backlog = 0;
  /** The time of the server's clock when the consumer was opened. */
  #openedMs = 0;
  /** How long ago that was, in milliseconds. */
  #sinceOpenedMs = () => 0;
  #collected = 0;

  constructor(
    bucket: Bucket,
    session: Session<T>,
    demand: Demand | undefined,
    out: Subscriber<Followed<T>>,
  ) {
    this.#bucket = bucket;
    this.#session = session;
    this.#demand = demand;
    this.#out = out;
    out.add(() => {
      this.#consumer.unsubscribe();
      this.#silence.unsubscribe();
      this.#behind?.unsubscribe();
    });
  }

  /** Begins with a new consumer. `whole` is the record to begin at if the namespace has no messages. */
  start(whole?: Recorded): void {
    const { scope, ...rest } = this.#bucket;
    const request = {
      ...rest,
      filter: scopeFilter(rest.prefix, scope.namespace),
      from: this.#session.place?.sequence,
      demand: this.#demand,
      where: scope.where,
    };
    this.#consumer.unsubscribe();
    this.#consumer = new Subscription();
    this.#isPaused = false;
    this.#consumer.add(
      pull(request).subscribe({
        next: (signal) => this.#take(signal, whole),
        error: (error) => this.#out.error(error),
      }),
    );
  }

  #take(signal: PullSignal, whole: Recorded | undefined): void {
    if (this.#out.closed) return;
    if (signal.kind === 'alive') {
      const lost = this.#session.quiet();
      return lost === undefined ? this.#out.next({ kind: 'alive' }) : this.#out.error(lost);
    }
    if (signal.kind === 'message') return this.#fold(signal.message);
    if (signal.kind !== 'opened') {
      this.#isPaused = signal.kind === 'paused';
      this.#doubt();
      // A pause of a moment, as each new request makes, must not prolong the wait for the publisher.
      if (this.#isPaused || !this.#isOverdue) return;
      return this.#session.place ? this.#expectWithin(LATE_MS, true) : this.#expectMore();
    }
    const { scope } = this.#bucket;
    this.#backlog = signal.pending;
    this.#openedMs = signal.serverMs;
    this.#sinceOpenedMs = stopwatch(this.#bucket.scheduler);
    this.#expectMore();
    if (signal.pending > 0) return this.#open();
    const { place } = this.#session;
    if (place === undefined) {
      if (scope.namespace === '') return this.#out.error(unpublished(scope));
      if (whole === undefined) return this.#askWhole((asked) => this.start(asked));
      this.#open();
      this.#session.beginEmpty(whole.meta, whole.sequence);
      this.#expectMore(this.#openedMs - whole.storedMs);
      return this.#out.next({ kind: 'listed', events: [] });
    }
    if (this.#isEmpty) {
      this.#open();
      return this.#askEmpty(place);
    }
    const why = `sequence ${place.sequence} is not in the bucket; it was purged, or the store was restored from a copy`;
    this.#out.error(gone(scope.where, why));
  }

  #askWhole(use: (whole: Recorded) => void): void {
    readWhole(this.#bucket).then(
      (whole) => {
        if (!this.#out.closed) use(whole);
      },
      (error) => this.#out.error(error),
    );
  }

  #open(): void {
    const { place } = this.#session;
    // A watch whose publisher was missing is open when the publisher is heard again.
    if (place !== undefined && unheard.has(this.#session)) return this.#missing(place);
    this.#out.next({ kind: 'opened' });
    // More than the record that the reader has: what was published meanwhile arrives first.
    if (place === undefined || this.#backlog <= 1) return;
    this.#behindMs = stopwatch(this.#bucket.scheduler);
    this.#doubt();
  }

  #fold(message: Received): void {
    const { place } = this.#session;
    // The last message of the backlog shows how long the publisher has been silent before this reader came.
    const isLast = message.delivery === this.#backlog;
    const ageMs = isLast ? this.#openedMs - message.storedMs : 0;
    // Heartbeats do not prolong a list whose record is about other objects than arrive.
    if (place !== undefined || message.meaning?.kind === 'object') this.#expectMore(ageMs);
    const folded = this.#session.fold(message);
    if (folded.kind === 'failed') return this.#out.error(folded.error);
    if (folded.kind === 'complete') {
      const { events } = folded;
      // The record of the reader's own place, which a new consumer begins with, says nothing about the publisher.
      const isNews = place === undefined || message.sequence > place.sequence;
      if (isNews) unheard.delete(this.#session);
      this.#expectMore(ageMs);
      if (isNews) this.#caughtUp(events.length === 0);
      if (place === undefined) this.#out.next({ kind: 'listed', events });
      else this.#out.next(events.length > 0 ? { kind: 'changed', events } : { kind: 'alive' });
    } else if (place !== undefined) this.#fallBehind();
    else if (++this.#collected % PART === 0) {
      this.#out.next({ kind: 'part', events: this.#session.take() });
    }
  }

  /** A set has begun, unless the messages were of other scopes. */
  #fallBehind(): void {
    if (this.#behind !== undefined || !this.#session.isWithinSet) return;
    const { scheduler } = this.#bucket;
    const passedMs = stopwatch(scheduler);
    this.#behind = looseTimer(BEHIND_MS, scheduler, () => {
      this.#behindMs ??= passedMs;
      this.#doubt();
    });
  }

  /** While the demand is closed, the time says nothing about the speed of the reader. */
  #doubt(): void {
    if (this.#isPaused || this.#isDoubted || this.#behindMs === undefined) return;
    this.#isDoubted = true;
    this.#out.next({ kind: 'doubted', silentMs: this.#behindMs() });
  }

  #caughtUp(isWithoutEvents: boolean): void {
    this.#behind?.unsubscribe();
    this.#behind = undefined;
    const { place } = this.#session;
    // Events end a doubt by themselves. A bookmark does so at once, because nothing older can follow it.
    if (this.#isDoubted && isWithoutEvents && place !== undefined) {
      const { resourceVersion } = place;
      const bookmark = { type: 'BOOKMARK', resourceVersion, initialEventsEnd: false } as const;
      this.#out.next({ kind: 'changed', events: [bookmark] });
    }
    this.#behindMs = undefined;
    this.#isDoubted = false;
    this.#isMissing = false;
  }

  /**
   * Expects the next message in time: another one of the list, or a heartbeat. `ageMs` is how long the server had the
   * last one when it arrived.
   */
  #expectMore(ageMs = 0): void {
    const { place } = this.#session;
    if (place === undefined) return this.#expectWithin(LIST_PATIENCE_MS);
    if (unheard.has(this.#session)) return this.#listen(place);
    this.#expectWithin(Math.max(0, MISSED * place.heartbeatMs - Math.max(0, ageMs)));
  }

  #expectWithin(ms: number, isLast = false): void {
    this.#silence.unsubscribe();
    this.#isOverdue = false;
    this.#silence = looseTimer(ms, this.#bucket.scheduler, () => {
      if (this.#isPaused) this.#isOverdue = true;
      else if (isLast) this.#silent();
      else this.#expectWithin(LATE_MS, true);
    });
  }

  #silent(): void {
    const { place } = this.#session;
    if (place === undefined) {
      this.#out.error(unfinished(this.#bucket.scope, this.#session.size));
    } else if (!this.#isEmpty) this.#missing(place);
    else this.#askEmpty(place, true);
  }

  /** Whether the scope is a namespace without objects, and so without a record or with one that is written no more. */
  get #isEmpty(): boolean {
    const { hasRecord, size, isWithinSet } = this.#session;
    const { namespace } = this.#bucket.scope;
    return !hasRecord || (size === 0 && !isWithinSet && namespace !== '');
  }

  /**
   * The namespace has no object, so only the record of the collection has heartbeats. `isDue` says whether there must be a new one.
   */
  #askEmpty(place: Place, isDue = false): void {
    this.#askWhole(({ meta, sequence, storedMs }) => {
      if (this.#session.place !== place) return this.#expectMore();
      if (sequence === place.sequence && isDue) return this.#missing(place);
      if (meta.epoch !== place.epoch || sequence < place.sequence) {
        return this.#out.error(gone(this.#bucket.scope.where, 'the bucket has begun a new epoch'));
      }
      if (sequence > place.sequence) {
        this.#session.beginEmpty(meta, sequence);
        unheard.delete(this.#session);
        this.#caughtUp(true);
      }
      this.#expectMore(this.#openedMs + this.#sinceOpenedMs() - storedMs);
    });
  }

  /** Says once that the publisher is missing. The consumer stays, so the reader is live at the publisher's next record. */
  #missing(place: Place): void {
    unheard.add(this.#session);
    this.#listen(place);
    if (this.#isMissing) return;
    this.#isMissing = true;
    this.#isDoubted = true;
    const silentMs = MISSED * place.heartbeatMs;
    const error = publisherMissing(this.#bucket.scope, silentMs);
    this.#out.next({ kind: 'doubted', silentMs, error });
  }

  /** Messages end the absence of a publisher. In an empty namespace it has to be asked for. */
  #listen({ heartbeatMs }: Place): void {
    if (this.#isEmpty) this.#expectWithin(heartbeatMs);
    else this.#silence.unsubscribe();
  }
}

/**
 * Follows a scope from the place of its session, or from the beginning. Never completes; errors with an `ApiError`. A
 * namespace without a `_meta` record of its own is empty if the collection has a record.
 */
export function follow<T extends KubernetesObject>(
  bucket: Bucket,
  session: Session<T>,
  demand: Demand | undefined,
): Observable<Followed<T>> {
  return new Observable<Followed<T>>((subscriber) => {
    new Follower(bucket, session, demand, subscriber).start();
  });
}
