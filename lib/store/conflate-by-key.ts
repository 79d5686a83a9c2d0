/**
 * `conflateByKey`, which delivers change sets to a slow consumer. Sets that wait are folded per key, so the number of
 * pending changes is limited by the number of objects, and no deletion is lost. `ready` can stand for animation frames,
 * a free worker or an asynchronous handler.
 */
import type { Observable } from 'rxjs';
import { foldChangeById, type Net, unfold } from '../delta/net-change.ts';
import type { Demand } from '../rx/demand.ts';
import { createDemandLoop } from '../rx/demand-loop.ts';
import {
  type AnyChangeSet,
  type ChangeSet,
  type ChangeSetHead,
  commonCause,
  createChangeSet,
  type SetOf,
} from './change-set.ts';
import type { SetStream } from './change-stream.ts';
import { type Origin, originating } from './origin.ts';
import { SetSource } from './set-source.ts';

/** The options of {@link conflateByKey}. */
export interface ConflateByKeyOptions {
  /**
   * Checked before each delivery. An error that it throws or emits is an error of the result. @defaultValue always open
   */
  readonly ready?: Demand | undefined;
}

/** Folds change sets until they are taken. */
export class Conflation<T> {
  #nets = new Map<string, Net<T>>();
  #head: ChangeSetHead<T> | undefined;
  /** The only set that waits, whose changes are not read before another one follows: those of many rows cost time. */
  #only: AnyChangeSet<T> | undefined;
  /** The head of the set that was taken last. */
  #taken: ChangeSetHead<T> | undefined;

  /** The number of waiting keys. */
  get size(): number {
    return this.#only?.changes.length ?? this.#nets.size;
  }

  /** Whether no change set waits, not even an empty one. */
  get isEmpty(): boolean {
    return this.#head === undefined;
  }

  fold(set: AnyChangeSet<T>, origin: Origin | undefined = set.origin): void {
    if (set.reset) this.#nets = new Map();
    const only = this.#only;
    this.#only = set.reset || this.isEmpty ? set : undefined;
    if (this.#only === undefined) {
      for (const each of only === undefined ? [set] : [only, set]) {
        for (const change of each.changes) foldChangeById(this.#nets, change);
      }
    }
    const { rev, resourceVersion, synced } = set;
    const { order, total } = set as ChangeSetHead<T>;
    const arrangement = order === undefined ? {} : { order, total };
    // A reset replaces the waiting sets, and later sets become part of the reset.
    const before = set.reset ? undefined : this.#head;
    const now = { rev, resourceVersion, synced, origin, ...arrangement };
    if (before?.reset) this.#head = { ...before, ...now };
    else {
      const { reset } = set;
      const initial = set.initial && (before?.initial ?? true);
      const cause = commonCause(before?.cause, set.cause);
      this.#head = { ...now, initial, reset, cause };
    }
  }

  /** Returns the folded set and empties this; `undefined` if the set would say nothing new. */
  take(): ChangeSet<T> | undefined {
    const head = this.#head;
    if (head === undefined) return undefined;
    const only = this.#only;
    const changes = only === undefined ? unfold(this.#nets.values()) : () => only.changes;
    this.#head = undefined;
    this.#only = undefined;
    this.#nets = new Map();
    const before = this.#taken;
    const isSame =
      head.synced === (before?.synced ?? false) &&
      head.origin === before?.origin &&
      head.order === before?.order &&
      head.total === before?.total;
    const set = createChangeSet<T>(head, changes);
    if (!head.reset && isSame && set.changes.length === 0) return undefined;
    this.#taken = head;
    return set;
  }
}

/**
 * Delivers change sets while `ready` is open, and folds them while it is closed. Each delivery is one set, in which
 * `previous` is the state that this consumer had.
 *
 * While `ready` is open, sets are passed on synchronously. If the source completes, the pending set is delivered as
 * soon as `ready` opens, then the result completes. An error is passed on immediately. Unsubscribing drops the pending
 * set.
 *
 * Costs O(1) for each changed row, and keeps one change for each row that waits.
 *
 * ```
 * source   abc---d----|         each changes one object
 * ready    open, then closed for 5 after each delivery
 * result   a----(bc)---d|       (bc): one set, `previous` is a's object
 * ```
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { conflateByKey } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 *
 * const web = { metadata: { name: 'web', uid: 'u1', resourceVersion: '5' } };
 * let delivered = 0;
 * of(changeSet({ added: [web] })).pipe(conflateByKey()).subscribe(() => delivered++);
 * delivered; // => 1
 * ```
 */
export function conflateByKey<T, O = undefined>(
  options: ConflateByKeyOptions = {},
): (source: Observable<AnyChangeSet<T, O>>) => SetStream<SetOf<T, O>> {
  const { ready } = options;
  return (source) => {
    const stream = originating<AnyChangeSet<T>>((subscriber, tell) => {
      const pending = new Conflation<T>();
      let origin: Origin | undefined;
      const sets = new SetSource<T>(() => {
        origin = tell({ ...sets.origin, emitter: subscriber });
      });
      let ended = false;
      const loop = createDemandLoop({
        ready,
        hasWork: () => !pending.isEmpty,
        serve: () => {
          const set = pending.take();
          if (set !== undefined) subscriber.next(set);
        },
        onIdle: () => {
          if (ended) subscriber.complete();
        },
        onError: (error) => subscriber.error(error),
      });
      subscriber.add(() => loop.close());
      subscriber.add(
        sets.subscribe(source, {
          next: (set) => {
            pending.fold(sets.take(set), origin);
            loop.request();
          },
          error: (error) => subscriber.error(error),
          complete: () => {
            ended = true;
            loop.request();
          },
        }),
      );
    });
    return stream as SetStream<SetOf<T, O>>;
  };
}
