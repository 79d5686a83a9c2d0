/** `liveShare`: one subscription to a live stream for all its subscribers. */
import { Observable, type Subscriber, Subscription } from 'rxjs';
import type { InformerStatus } from '../../informer/status/status.ts';
import type { Stored } from '../../meta/kubernetes-object.ts';
import { Drain } from '../../rx/drain.ts';
import {
  type AnyChangeSet,
  type ChangeSetHead,
  createChangeSet,
  type SetOf,
} from '../../store/change-set.ts';
import type { SetStream } from '../../store/change-stream.ts';
import { noteOrigin } from '../../store/origin.ts';
import { Emission } from '../engine/emission.ts';
import { type Lineage, lineageOf, lineageWith } from '../engine/lineage.ts';
import { setCheck } from '../engine/misuse.ts';
import { PassMachine } from '../engine/row-machine.ts';
import { NO_CONTEXT } from '../engine/row-store.ts';

/** A time in which the source is subscribed, and the rows that it has emitted. */
interface Connection<T> {
  readonly machine: PassMachine<T>;
  readonly emission: Emission<T>;
  readonly run: Subscription;
  /** Ends with `run`; another one if the rows are of other informers than before. */
  restarts: Subscription;
  lineage: Lineage;
  /** The present subscription to the source, which ends with `run`. */
  source: Subscription;
  /** The head of the last set; `undefined` before the first one. */
  head?: ChangeSetHead<T>;
}

/** Calls back when one of these informers runs again after a stop. */
function onRestart(
  informers: ReadonlySet<Observable<InformerStatus>>,
  restarted: () => void,
): Subscription {
  const subscription = new Subscription();
  for (const status$ of informers) {
    let wasStopped = false;
    const next = ({ phase }: InformerStatus) => {
      const isStopped = phase === 'stopped';
      if (wasStopped && !isStopped) restarted();
      wasStopped = isStopped;
    };
    subscription.add(status$.subscribe({ next }));
  }
  return subscription;
}

class SharedStream<T> {
  readonly #source: Observable<AnyChangeSet<T>>;
  /** What is known of the source before its first set. */
  readonly #noted: Lineage;
  readonly #drain = new Drain();
  readonly #subscribers = new Set<Subscriber<AnyChangeSet<T>>>();
  #connection: Connection<T> | undefined;

  constructor(source: Observable<AnyChangeSet<T>>) {
    this.#source = source;
    this.#noted = lineageOf(source);
  }

  join(subscriber: Subscriber<AnyChangeSet<T>>): void {
    // In the drain, so that a set that this causes is delivered after the first one.
    this.#drain.enter(() => {
      const connection = this.#connection;
      // Before the first set, because the other subscribers may leave while it is delivered.
      this.#subscribers.add(subscriber);
      subscriber.add(() => this.#leave(subscriber));
      if (connection === undefined) this.#connect();
      else if (connection.head !== undefined) subscriber.next(stateOf(connection, connection.head));
    });
  }

  #leave(subscriber: Subscriber<AnyChangeSet<T>>): void {
    if (!this.#subscribers.delete(subscriber) || this.#subscribers.size > 0) return;
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.run.unsubscribe();
  }

  #connect(): void {
    const connection: Connection<T> = {
      machine: new PassMachine<T>(NO_CONTEXT),
      emission: new Emission<T>(1),
      run: new Subscription(() => {
        connection.source.unsubscribe();
        connection.restarts.unsubscribe();
      }),
      restarts: Subscription.EMPTY,
      lineage: this.#noted,
      source: Subscription.EMPTY,
    };
    this.#connection = connection;
    this.#subscribe(connection);
    this.#follow(connection);
  }

  /** The stop of one of several informers does not complete the source, which has no rows of the next run. */
  #follow(connection: Connection<T>): void {
    if (connection.run.closed) return;
    const again = () => {
      this.#drain.run(() => this.#connection === connection && this.#subscribe(connection));
    };
    connection.restarts.unsubscribe();
    connection.restarts = onRestart(connection.lineage.informers, again);
  }

  /** Subscribes to the source, in place of an earlier subscription. */
  #subscribe(connection: Connection<T>): void {
    const former = connection.source;
    const source = new Subscription();
    connection.source = source;
    const run = (task: () => void) =>
      this.#drain.run(() => {
        if (this.#connection === connection && connection.source === source) task();
      });
    const check = setCheck('liveShare');
    let isSubscribing = true;
    source.add(
      this.#source.subscribe({
        next: (set) => {
          const isFirst = isSubscribing;
          run(() => {
            try {
              check(set, connection.machine.inputs[0], isFirst);
            } catch (error) {
              return this.#end((subscriber) => subscriber.error(error));
            }
            this.#deliver(connection, set);
          });
        },
        error: (error) => run(() => this.#end((subscriber) => subscriber.error(error))),
        complete: () => run(() => this.#end((subscriber) => subscriber.complete())),
      }),
    );
    isSubscribing = false;
    // Afterwards, because it keeps the informers running that were not stopped.
    former.unsubscribe();
  }

  /** Ends the present subscribers. One that subscribes again gets a subscription of its own. */
  #end(end: (subscriber: Subscriber<AnyChangeSet<T>>) => void): void {
    const subscribers = [...this.#subscribers];
    this.#subscribers.clear();
    this.#connection?.run.unsubscribe();
    this.#connection = undefined;
    for (const subscriber of subscribers) end(subscriber);
  }

  #deliver(connection: Connection<T>, set: AnyChangeSet<T>): void {
    const { machine, emission } = connection;
    const { order, total } = set as ChangeSetHead<T>;
    emission.arrived(0, set);
    const lineage = lineageWith(this.#noted, set.origin);
    if (lineage !== connection.lineage) {
      connection.lineage = lineage;
      this.#follow(connection);
    }
    if (order !== undefined) machine.arranged({ order, total: total ?? order.size });
    machine.apply(0, set);
    const next = emission.next(machine.take(), machine.arrangement(), set.origin);
    if (next === undefined) return;
    // Before the set is delivered, so that whoever subscribes meanwhile gets the state after it.
    connection.head = next as ChangeSetHead<T>;
    for (const subscriber of [...this.#subscribers]) {
      if (this.#subscribers.has(subscriber)) subscriber.next(next);
    }
  }
}

/** The rows as they are now, as a `reset` set. */
function stateOf<T>({ machine }: Connection<T>, last: ChangeSetHead<T>): AnyChangeSet<T> {
  const { rev, resourceVersion, synced, origin, order, total } = last;
  const arrangement = order === undefined ? {} : { order, total };
  const head = { rev, resourceVersion, synced, origin, ...arrangement };
  const added = Array.from(machine.answer.entries(), ([id, row]) => ({
    id,
    key: row.key,
    object: row.object as Stored<T>,
  }));
  return createChangeSet<T>({ ...head, cause: 'snapshot', initial: true, reset: true }, added);
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
    const stream = new Observable<AnyChangeSet<T>>((subscriber) => shared.join(subscriber));
    return noteOrigin(stream, source) as SetStream<SetOf<T, O>>;
  };
}
