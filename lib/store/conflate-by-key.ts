/**
 * Delivery to a slow consumer: what it has not taken yet is folded per key, so what is pending is bounded by the
 * number of objects, and no delete is lost. Frames, a free worker, an async handler are all `ready`.
 */
import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import { foldChange, type Net, unfold } from '../delta/net-change.ts';
import type { Demand } from '../rx/demand.ts';
import { createDemandLoop } from '../rx/demand-loop.ts';
import { type ChangeSet, type ChangeSetHead, createChangeSet } from './change-set.ts';

/** What {@link conflateByKey} takes. */
export interface ConflateByKeyOptions {
  /** Asked before each delivery; what it throws is an error of the result. @defaultValue room always */
  readonly ready?: Demand | undefined;
}

/** Folds change sets while nobody takes them. */
export class Conflation<T> {
  #nets = new Map<string, Net<T>>();
  #head: ChangeSetHead | undefined;
  #wasSynced = false;

  /** Keys that wait. */
  get size(): number {
    return this.#nets.size;
  }

  /** Whether anything waits to be taken, be it only the news of being synced. */
  get isEmpty(): boolean {
    return this.#head === undefined;
  }

  fold(set: ChangeSet<T>): void {
    if (set.reset) this.#nets = new Map();
    for (const change of set.changes) foldChange(this.#nets, change);
    const { rev, resourceVersion, synced } = set;
    // What waits is void with a reset; what follows one is part of it.
    const before = set.reset ? undefined : this.#head;
    if (before?.reset) this.#head = { ...before, rev, resourceVersion, synced };
    else {
      const { reset } = set;
      const initial = set.initial && (before?.initial ?? true);
      // Two causes in one set: what came over the watch is what they have in common.
      const cause = before === undefined || before.cause === set.cause ? set.cause : 'watch';
      this.#head = { rev, resourceVersion, synced, initial, reset, cause };
    }
  }

  /** What has gathered, or `undefined` when it amounts to nothing. */
  take(): ChangeSet<T> | undefined {
    const head = this.#head;
    if (head === undefined) return undefined;
    const changes = unfold(this.#nets.values());
    this.#head = undefined;
    this.#nets = new Map();
    const news = head.synced !== this.#wasSynced;
    if (changes.length === 0 && !head.reset && !news) return undefined;
    this.#wasSynced = head.synced;
    return createChangeSet(head, changes);
  }
}

/**
 * Delivers when `ready` says so, and folds in between: one set a delivery, with `previous` as this consumer had it.
 *
 * While there is room, sets pass at once. On completion what is pending is delivered as soon as there is room, then
 * it completes; an error passes at once; unsubscribing drops what is pending.
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
export function conflateByKey<T>(
  options: ConflateByKeyOptions = {},
): MonoTypeOperatorFunction<ChangeSet<T>> {
  const { ready } = options;
  return (source) =>
    new Observable<ChangeSet<T>>((subscriber) => {
      const pending = new Conflation<T>();
      let ended = false;
      const server = createDemandLoop({
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
      subscriber.add(() => server.close());
      subscriber.add(
        source.subscribe({
          next: (set) => {
            pending.fold(set);
            server.request();
          },
          error: (error) => subscriber.error(error),
          complete: () => {
            ended = true;
            server.request();
          },
        }),
      );
    });
}
