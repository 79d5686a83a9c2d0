/** A live operator as its driver needs it, and the options that all of them take. */
import type { Observable, SchedulerLike } from 'rxjs';
import type { AnyChangeSet } from '../../store/change-set.ts';
import type { Machine, MachineContext } from './machine.ts';

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
