/** Follows one scope of a bucket with one consumer: a list, and then every published set. */
import type { NatsConnection } from '@nats-io/nats-core';
import { Observable, type SchedulerLike, type Subscriber, Subscription } from 'rxjs';
import type { WatchEvent } from '../../decode/watch-event.ts';
import type { ApiError } from '../../meta/api-error.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import type { Demand } from '../../rx/demand.ts';
import { looseTimer } from '../../rx/long-timer.ts';
import { gone, natsError, unavailable } from '../failures.ts';
import { metaSubject, scopeFilter } from '../layout.ts';
import { type Meta, readMeta } from '../meta.ts';
import { type GivenConsumer, managerOf, type PullSignal, pull } from '../pull.ts';
import type { Received } from '../received.ts';
import type { Place } from './past-places.ts';
import { type Session, type SessionScope, unfinished } from './session.ts';

/** The collection that is read, and how. */
export interface Bucket {
  readonly connection: NatsConnection;
  readonly stream: string;
  readonly prefix: string;
  readonly consumer: GivenConsumer | undefined;
  readonly scope: SessionScope;
  readonly scheduler: SchedulerLike;
  readonly batch: number;
  readonly idleMs: number;
}

/** A signal of {@link follow}. */
export type Followed<T> =
  | { readonly kind: 'opened' | 'alive'; readonly events?: undefined }
  /** `part`: some events of a list. `listed`: the last ones. `changed`: a published set. */
  | { readonly kind: 'part' | 'listed' | 'changed'; readonly events: readonly WatchEvent<T>[] };

/** How many messages of a list are collected before a part is emitted. */
const PART = 500;
/** A list that receives nothing for this long and is not complete has an unfinished set, in milliseconds. */
const LIST_PATIENCE_MS = 30_000;
/** The publisher counts as missing after this many heartbeats. */
const MISSED = 3;
/**
 * How long messages may take that the server has after a pause, or that a process which was busy has not read yet, in
 * milliseconds. It is less than the second that is promised beside three heartbeats.
 */
const LATE_MS = 300;

/** A `_meta` record, its sequence, and when the server stored it. */
interface Recorded {
  readonly meta: Meta;
  readonly sequence: number;
  readonly storedMs: number;
}

/** The record of the complete collection, which shows that a namespace without messages is empty. */
async function readWhole(bucket: Bucket): Promise<Recorded> {
  const { connection, stream, prefix, scope } = bucket;
  try {
    const manager = await managerOf(connection);
    const subject = metaSubject(prefix, '');
    const message = await manager.direct.getMessage(stream, { last_by_subj: subject });
    const meta = message === null ? undefined : readMeta(message.string());
    if (message === null || meta === undefined || meta.isOpen === true) throw unpublished(scope);
    return { meta, sequence: message.seq, storedMs: message.time.getTime() };
  } catch (error) {
    throw natsError(
      error,
      `${scope.where}: reading the \`_meta\` record of the complete collection`,
    );
  }
}

function unpublished({ where }: SessionScope): ApiError {
  return unavailable(
    `${where}: the bucket has no \`_meta\` record of this collection, so no complete list was published yet; is the publisher running?`,
  );
}

function publisherMissing({ where }: SessionScope, ms: number): ApiError {
  return unavailable(
    `${where}: the publisher has sent nothing for ${ms / 1000} s, so changes of the cluster do not arrive; look at the publisher`,
  );
}

/** Sessions whose publisher was missing when their last watch ended. */
const unheard = /* @__PURE__ */ new WeakSet<object>();

class Follower<T extends KubernetesObject> {
  readonly #bucket: Bucket;
  readonly #session: Session<T>;
  readonly #demand: Demand | undefined;
  readonly #out: Subscriber<Followed<T>>;
  #consumer = new Subscription();
  #silence = new Subscription();
  #isOpened = false;
  /** Whether the reader itself requests nothing, so that the publisher's silence means nothing. */
  #isPaused = false;
  /** Whether the silence became too long during a pause. */
  #isOverdue = false;
  /** How many messages the consumer had when it was opened. */
  #backlog = 0;
  /** The time of the server's clock when the consumer was opened. */
  #openedMs = 0;
  /** When the record of the collection was stored, for a namespace that has none of its own. */
  #storedMs = 0;
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
      // A pause of a moment, as each new request makes, must not prolong the wait for the publisher.
      if (this.#isPaused || !this.#isOverdue) return;
      return this.#session.place ? this.#expectWithin(LATE_MS, true) : this.#expectMore();
    }
    const { scope } = this.#bucket;
    this.#backlog = signal.pending;
    this.#openedMs = signal.serverMs;
    this.#expectMore();
    if (signal.pending > 0) return this.#open();
    const { place, hasRecord } = this.#session;
    if (place === undefined) {
      if (scope.namespace === '') return this.#out.error(unpublished(scope));
      if (whole === undefined) return this.#askWhole((asked) => this.start(asked));
      this.#open();
      this.#session.beginEmpty(whole.meta, whole.sequence);
      this.#expectMore(this.#openedMs - whole.storedMs);
      return this.#out.next({ kind: 'listed', events: [] });
    }
    if (!hasRecord) {
      this.#open();
      return this.#askEmpty(place, this.#openedMs);
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
    // A watch whose publisher was missing is open when the publisher is heard again.
    if (this.#isOpened || unheard.has(this.#session)) return;
    this.#isOpened = true;
    this.#out.next({ kind: 'opened' });
  }

  #fold(message: Received): void {
    const { place } = this.#session;
    if (place !== undefined && message.sequence > place.sequence) {
      unheard.delete(this.#session);
      this.#open();
    }
    // The last message of the backlog shows how long the publisher has been silent before this reader came.
    const isLast = message.delivery === this.#backlog;
    const ageMs = isLast ? this.#openedMs - message.storedMs : 0;
    // Heartbeats do not prolong a list whose record is about other objects than arrive.
    if (place !== undefined || message.meaning?.kind === 'object') this.#expectMore(ageMs);
    const folded = this.#session.fold(message);
    if (folded.kind === 'failed') return this.#out.error(folded.error);
    if (folded.kind === 'complete') {
      const { events } = folded;
      this.#expectMore(ageMs);
      if (place === undefined) this.#out.next({ kind: 'listed', events });
      else this.#out.next(events.length > 0 ? { kind: 'changed', events } : { kind: 'alive' });
    } else if (place === undefined && ++this.#collected % PART === 0) {
      this.#out.next({ kind: 'part', events: this.#session.take() });
    }
  }

  /**
   * Expects the next message in time: another one of the list, or a heartbeat. `ageMs` is how long the server had the
   * last one when it arrived.
   */
  #expectMore(ageMs = 0): void {
    const { place } = this.#session;
    if (place === undefined) return this.#expectWithin(LIST_PATIENCE_MS);
    const ms = MISSED * place.heartbeatMs;
    const passedMs = unheard.has(this.#session) ? 0 : Math.max(0, ageMs);
    this.#expectWithin(Math.max(0, ms - passedMs));
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
    } else if (this.#session.hasRecord) this.#missing(place);
    else this.#askEmpty(place, this.#storedMs + MISSED * place.heartbeatMs, true);
  }

  /**
   * The namespace has never had an object, so only the record of the collection has heartbeats. `nowMs` is the time of
   * the server's clock, and `isDue` says whether there must be a new one.
   */
  #askEmpty(place: Place, nowMs: number, isDue = false): void {
    this.#askWhole(({ meta, sequence, storedMs }) => {
      if (this.#session.hasRecord) return this.#expectMore();
      if (sequence === place.sequence && isDue) return this.#missing(place);
      if (meta.epoch !== place.epoch || sequence < place.sequence) {
        return this.#out.error(gone(this.#bucket.scope.where, 'the bucket has begun a new epoch'));
      }
      if (sequence > place.sequence) {
        this.#session.beginEmpty(meta, sequence);
        unheard.delete(this.#session);
        this.#open();
      }
      this.#storedMs = storedMs;
      this.#expectMore(nowMs - storedMs);
    });
  }

  #missing({ heartbeatMs }: Place): void {
    unheard.add(this.#session);
    this.#out.error(publisherMissing(this.#bucket.scope, MISSED * heartbeatMs));
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
