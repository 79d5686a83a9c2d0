/**
 * The port between the operators and their driver. An operator is a pure machine: rows of its inputs go in, rows of
 * its answer come out. The driver ({@link ./live-operator.ts}) owns everything else: subscriptions, parameters, resets,
 * slices, turns and errors.
 */

import type { Observable, SchedulerLike } from 'rxjs';
import type { Change, RowIdentity } from '../../delta/net-change.ts';
import type { AnyChangeSet, RowOrder } from '../../store/change-set.ts';
import type { HeldRow } from '../../store/held-rows.ts';
import type { Lineage } from './lineage.ts';

export type { HeldRow };

/** The rows of a machine's answer. */
export interface AnswerRows<T> {
  get(id: string): HeldRow<T> | undefined;
  entries(): Iterable<readonly [string, HeldRow<T>]>;
}

/** The order of an answer, and how many rows there are outside of it. */
export interface Arrangement<T> {
  readonly order: RowOrder<T>;
  readonly total: number;
}

/** A pure machine of one operator, for one value of each parameter. */
export interface Machine<Out> {
  readonly answer: AnswerRows<Out>;
  /** Takes one set of one input. */
  apply(input: number, set: AnyChangeSet<unknown>): void;
  /** Returns what has changed in the answer since the last call: deletions first, then each row once. */
  take(): Change<Out>[];
  /** What is left to do after the sets that were applied, in short steps. Until it is done, the former answer stands. */
  steps?(): Iterator<void, void> | undefined;
  /** Whether rows are missing in the answer, so that the sources must be subscribed again. */
  readonly isShort?: boolean;
  /** Takes the order of the source, before the rows. */
  arranged?(source: Arrangement<unknown>): void;
  /** The order of the answer, if it has one. The same object until it changes. */
  arrangement?(): Arrangement<Out> | undefined;
  /** Evaluates again the rows whose time has come. */
  wake?(): void;
  /** When `wake` must be called, in milliseconds since the Unix epoch; `undefined` means never. */
  readonly dueMs?: number | undefined;
  /** Takes new values of the parameters without reading the rows again, and returns whether it could. */
  retune?(params: readonly unknown[]): boolean;
  /** Releases what the machine holds outside of itself, such as subscriptions. */
  close?(): void;
}

/** A machine whose rows can be given to it one by one, so that a new parameter is computed in slices. */
export interface RowFedMachine<Out> extends Machine<Out> {
  /** The rows of each input, by id. */
  readonly inputs: readonly ReadonlyMap<string, HeldRow<unknown>>[];
  /** Takes a row that is new, has changed, or is to be evaluated again. */
  put(input: number, id: string, key: string, object: unknown, of?: RowIdentity): void;
  /** Whether `take` must be told the changes. Off while the first rows are fed, of which all are new. */
  logging: boolean;
  /** Called after the last row was fed. Returns what is left to do, in short steps. */
  settle?(): Generator<void, void, void> | undefined;
}

/** The part of the driver that a machine may use. */
export interface MachineContext {
  /** The scheduler's time, in milliseconds since the Unix epoch. */
  nowMs(): number;
  /**
   * Calls a user's function about a row. If it throws, the error is kept with the row and `undefined` is returned, so
   * that the row stays out. An error that was kept before is removed. `input` is the row's, because two inputs may have
   * rows of one id. @defaultValue 0
   */
  attempt<R>(id: string, key: string, evaluate: () => R, input?: number): R | undefined;
  /** Removes the error that is kept with a row. */
  forget(id: string, input?: number): void;
  /** Where the rows of each source come from. */
  readonly above: readonly Lineage[];
  /** Runs the task as a change of the answer: what it changes is emitted at its end. */
  change(task: () => void): void;
}

/** Options that every live operator takes. */
export interface LiveOptions {
  /** The scheduler of time and of slices. @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
}

/** A value, or an Observable of it: each new value changes the answer by one change set. */
export type Param<T> = T | Observable<T>;

/** An operator, as the driver needs it. */
export interface Operator<Out> extends LiveOptions {
  /** The name that users know: `liveFilter`. */
  readonly name: string;
  readonly sources: readonly Observable<AnyChangeSet<unknown>>[];
  /** The parameters, each a {@link Param}. */
  readonly params: readonly unknown[];
  /** Whether its machine reads if its sources are over clusters, so that another source needs another machine. */
  readonly readsClusters?: boolean | undefined;
  /** Whether its machine subscribes to streams of its own, so that it emits at the end of the turn. */
  readonly hasInnerStreams?: boolean | undefined;
  /** Whether its functions are not called for a row that has not changed: they make rows or subscribe, or set times. */
  readonly isRemembering?: boolean | undefined;
  /** Creates the machine for these values of the parameters. `former` is the machine that it will replace. */
  create(
    values: readonly never[],
    context: MachineContext,
    former: Machine<Out> | undefined,
  ): Machine<Out>;
}
