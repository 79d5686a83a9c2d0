/** `liveShare`: one subscription to a live stream for all its subscribers. */
import { type Observable, type Subscriber, Subscription } from 'rxjs';
import { Drain } from '../../rx/drain.ts';
import { ender, Hub } from '../../rx/sharing/hub.ts';
import {
  type AnyChangeSet,
  type ChangeSetHead,
  createChangeSet,
  type SetOf,
  withOrigin,
} from '../../store/change-set.ts';
import type { SetStream } from '../../store/change-stream.ts';
import { additions } from '../../store/held-rows.ts';
import {
  isSameOrigin,
  type Origin,
  originating,
  originFrom,
  UNKNOWN,
  unite,
} from '../../store/origin.ts';
import { SetSource } from '../../store/set-source.ts';
import { Emission } from '../engine/emission.ts';
import { FollowedInformers } from '../engine/informers.ts';
import type { Lineage } from '../engine/lineage.ts';
import { checkOrder, setCheck } from '../engine/misuse.ts';
import { PassMachine } from '../engine/row-machine.ts';
import { NO_CONTEXT } from '../engine/row-store.ts';

const NONE: ReadonlySet<never> = /* @__PURE__ */ new Set();

/** A time in which the source is subscribed, and the rows that it has emitted. */
interface Connection<T> {
  readonly machine: PassMachine<T>;
  readonly emission: Emission<T>;
  readonly run: Subscription;
  /** The stop of one of several informers does not complete the source, which has no rows of its next run. */
  readonly followed: FollowedInformers;
  /** Where the rows come from, as subscribers are told. */
  origin: Lineage;
  /** The present subscription to the source, which ends with `run`. */
  source: Subscription;
  /** The head of the last set; `undefined` before the first one. */
  head?: ChangeSetHead<T>;
}

/** A subscriber, and how it is told where the rows come from. */
interface Receiver<T> {
  readonly subscriber: Subscriber<AnyChangeSet<T>>;
  readonly tell: (origin: Origin) => Origin;
  complete(): void;
}

class SharedStream<T> {
  readonly #source: Observable<AnyChangeSet<T>>;
  readonly #drain = new Drain();
  readonly #subscribers = new Hub<Receiver<T>>();
  #connection: Connection<T> | undefined;

  constructor(source: Observable<AnyChangeSet<T>>) {
    this.#source = source;
  }

  join(subscriber: Subscriber<AnyChangeSet<T>>, tell: (origin: Origin) => Origin): void {
    // In the drain, so that a set that this causes is delivered after the first one.
    this.#drain.enter(() => {
      // Before the first set, because the other subscribers may leave while it is delivered.
      const leave = this.#subscribers.add({
        subscriber,
        tell,
        complete: () => subscriber.complete(),
      });
      subscriber.add(() => {
        if (leave() && this.#subscribers.size === 0) this.#disconnect();
      });
      const connection = this.#connection ?? this.#connect();
      const origin = tell(connection.origin);
      const { head } = connection;
      if (head !== undefined) subscriber.next(stateOf(connection, { ...head, origin }));
    });
  }

  #disconnect(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.run.unsubscribe();
  }

  #connect(): Connection<T> {
    const connection: Connection<T> = {
      machine: new PassMachine<T>(NO_CONTEXT),
      emission: new Emission<T>(1),
      run: new Subscription(() => {
        connection.source.unsubscribe();
        connection.followed.unsubscribe();
      }),
      followed: new FollowedInformers(
        () => undefined,
        () => this.#drain.run(() => this.#connection === connection && this.#subscribe(connection)),
      ),
      origin: originFrom({ emitter: this }) as Lineage,
      source: Subscription.EMPTY,
    };
    this.#connection = connection;
    this.#subscribe(connection);
    return connection;
  }

  /** Subscribes to the source, in place of an earlier subscription. */
  #subscribe(connection: Connection<T>): void {
    const former = connection.source;
    const source = new Subscription();
    connection.source = source;
    connection.followed.subscribed();
    const isOver = () => this.#connection !== connection || connection.source !== source;
    const ended = (end: (subscriber: Subscriber<AnyChangeSet<T>>) => void) =>
      this.#drain.run(() => isOver() || this.#end(end));
    const check = setCheck('liveShare');
    let isSubscribing = true;
    const sets = new SetSource<T>(() => this.#originates(connection, source, sets, isSubscribing));
    source.add(
      sets.read(
        this.#source,
        {
          next: (set, isFirst) => {
            if (isOver()) return;
            try {
              checkOrder('liveShare', sets.hasLostOrder);
              check(set, connection.machine.inputs[0], isFirst);
            } catch (error) {
              return this.#end((subscriber) => subscriber.error(error));
            }
            this.#deliver(connection, set);
          },
          error: (error) => ended((subscriber) => subscriber.error(error)),
          complete: () => ended((subscriber) => subscriber.complete()),
        },
        (task) => this.#drain.run(task),
      ),
    );
    isSubscribing = false;
    this.#originates(connection, source, sets, false);
    // Afterwards, because it keeps the informers running that were not stopped.
    former.unsubscribe();
  }

  /** Until all informers are subscribed again, those of the former subscription count, too. */
  #originates(
    connection: Connection<T>,
    source: Subscription,
    { origin }: SetSource<T>,
    isSubscribing: boolean,
  ): void {
    if (connection.source !== source || origin === UNKNOWN) return;
    const all = isSubscribing ? unite([connection.origin, origin]) : origin;
    if (isSameOrigin(connection.origin, all)) return;
    connection.origin = { ...(all as Lineage), emitter: this };
    this.#subscribers.tell(({ tell }) => tell(connection.origin));
    connection.followed.follow({ ...connection.origin, refusedRows: NONE }, false);
  }

  /** Ends the present subscribers. One that subscribes again gets a subscription of its own. */
  #end(end: (subscriber: Subscriber<AnyChangeSet<T>>) => void): void {
    const endAll = ender(this.#subscribers, ({ subscriber }) => end(subscriber));
    this.#disconnect();
    endAll();
  }

  #deliver(connection: Connection<T>, set: AnyChangeSet<T>): void {
    const { machine, emission } = connection;
    const { order, total } = set as ChangeSetHead<T>;
    emission.arrived(0, set);
    if (order !== undefined) machine.arranged({ order, total: total ?? order.size });
    // The first set says itself what it adds.
    const isFirst = connection.head === undefined && set.reset;
    machine.logging = !isFirst;
    machine.apply(0, set);
    const changes = isFirst ? set.changes : machine.take();
    const next = emission.next(changes, machine.arrangement(), connection.origin);
    if (next === undefined) return;
    // Before the set is delivered, so that whoever subscribes meanwhile gets the state after it.
    connection.head = next as ChangeSetHead<T>;
    this.#subscribers.tell(({ subscriber }) => {
      const own = { ...connection.origin, subscription: subscriber };
      subscriber.next(next.reset ? withOrigin(next, own) : next);
    });
  }
}

/** The rows as they are now, as a `reset` set. */
function stateOf<T>({ machine }: Connection<T>, last: ChangeSetHead<T>): AnyChangeSet<T> {
  const { rev, resourceVersion, synced, origin, order, total } = last;
  const arrangement = order === undefined ? {} : { order, total };
  const head = { rev, resourceVersion, synced, origin, ...arrangement };
  const added = additions(machine.answer.entries());
  const whole = { ...head, cause: 'snapshot', initial: true, reset: true } as const;
  return createChangeSet<T>(whole, added);
}

/** The operator of {@link liveShare}. */
export type ShareOperator = <T, O>(
  source: Observable<AnyChangeSet<T, O>>,
) => SetStream<SetOf<T, O>>;

/**
 * Shares one subscription to a live stream between all subscribers, so that the operators before it work once. RxJS's
 * `share` would give a late subscriber changes of rows that it does not have.
 *
 * A late subscriber first gets the present rows as one `reset` set, synchronously, and then each later set once; also if
 * it subscribes while a set is delivered. An ordered stream keeps its order. The source is subscribed with the first
 * subscriber and unsubscribed with the last; after that, and after the source has completed or errored, the next
 * subscriber subscribes to the source again. Completes and errors as its source does. If one of several informers was
 * stopped and runs again, the source is subscribed again, and the subscribers get what differs.
 *
 * Costs the rows of the stream in memory, once, and for a late subscriber one set with all of them.
 *
 * ```
 * source   +a---+b-------+c---|
 * one      +a---+b-------+c---|
 * late     --------(ab)--+c---|     (ab): subscribes here, and gets one reset set
 * ```
 *
 * @example
 * ```ts
 * import { liveFilter, liveShare, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 * import { BehaviorSubject } from 'rxjs';
 *
 * const web = { metadata: { name: 'web', uid: 'u1' } };
 * const changes$ = new BehaviorSubject(changeSet({ added: [web] })); // with an informer: informer.changes$
 * let calls = 0;
 * const shared$ = changes$.pipe(liveFilter(() => ++calls > 0), liveShare());
 * const views = [toView(shared$), toView(shared$)];
 * for (const view of views) view.subscribe(() => undefined);
 * views.map((view) => view.getSnapshot().rows.length); // => [1, 1]
 * calls; // => 1
 * ```
 */
export function liveShare(): ShareOperator {
  return <T, O>(source: Observable<AnyChangeSet<T, O>>) => {
    const shared = new SharedStream<T>(source as Observable<AnyChangeSet<T>>);
    const stream = originating<AnyChangeSet<T>>((subscriber, tell) =>
      shared.join(subscriber, tell),
    );
    return stream as SetStream<SetOf<T, O>>;
  };
}
