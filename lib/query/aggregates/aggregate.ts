/** An aggregate: a result over the rows of a group that is kept up to date row by row. */
import type { Stored } from '../../meta/kubernetes-object.ts';

/**
 * A result over the rows of a group, such as {@link count} or {@link sum}. It is not computed from all rows: a row that
 * joins the group is added to a state, and a row that leaves is removed from it.
 *
 * `remove` must undo `add`: after `remove(add(state, value), value)` the result must be that of `state`, in whatever
 * order other values were added and removed meanwhile. A state may be a number or another immutable value, or an object
 * that `add` and `remove` change and return.
 *
 * @example
 * ```ts
 * import { type Aggregate, liveGroupBy, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 * import { of } from 'rxjs';
 *
 * interface Pod { readonly metadata: { readonly name: string; readonly uid: string }; readonly ready: boolean }
 * // The share of pods that are ready.
 * const readiness: Aggregate<Pod, number, boolean, readonly [number, number]> = {
 *   value: ({ ready }) => ready,
 *   initial: () => [0, 0],
 *   add: ([ready, all], isReady) => [ready + Number(isReady), all + 1],
 *   remove: ([ready, all], isReady) => [ready - Number(isReady), all - 1],
 *   result: ([ready, all]) => ready / all,
 * };
 * const pod = (name: string, ready: boolean): Pod => ({ metadata: { name, uid: name }, ready });
 * const changes$ = of(changeSet({ added: [pod('web-1', true), pod('web-2', false)] }));
 * const view = toView(changes$.pipe(liveGroupBy(() => 'all', { readiness })));
 * view.subscribe(() => undefined);
 * view.getSnapshot().rows; // => [{ key: 'all', readiness: 0.5 }]
 * ```
 */
export interface Aggregate<T, R, V = Stored<T>, S = unknown> {
  /**
   * Reads from a row what the aggregate needs of it. It is called once when the row changes, and `remove` gets the value
   * that `add` got. `nowMs` is the scheduler's time, in milliseconds since the Unix epoch.
   * @defaultValue the row itself
   */
  readonly value?: ((object: Stored<T>, nowMs: number) => V) | undefined;
  /** The state of a group without rows. */
  initial(): S;
  /** Adds a row's value and returns the state. */
  add(state: S, value: V): S;
  /** Removes a value that was added before and returns the state. */
  remove(state: S, value: V): S;
  /**
   * The result. It is called once for each change set that changes the group. If `add` or `remove` change the state in place, return a
   * copy of it, such as `new Set(state)`: rows never change, and the same object counts as no change.
   */
  result(state: S): R;
}

/** The aggregates of a group by name. `key` is not a name, because each row has its group's key there. */
export interface Aggregates<T> {
  readonly [name: string]: Aggregate<T, unknown, unknown, unknown>;
}

/** The row of a group: its key, and the result of each aggregate. */
export type GroupRow<A> = { readonly key: string } & {
  readonly [N in keyof A]: A[N] extends { result(state: never): infer R } ? R : never;
};
