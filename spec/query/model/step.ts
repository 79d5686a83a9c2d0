/** A step of a random pipeline: a live operator beside its naive definition over complete rows. */
import type { AnyChangeSet, Demand } from 'rx-informer';
import type { Observable, SchedulerLike } from 'rxjs';
import { type Item, World } from '../world.ts';

/** A row of a naive answer. */
export interface NaiveRow {
  readonly id: string;
  readonly key: string;
  readonly object: Item;
}

/** A naive answer: rows, and whether their order counts. */
export interface NaiveAnswer {
  readonly rows: readonly NaiveRow[];
  readonly ordered: boolean;
  readonly total: number;
}

export type Sets = Observable<AnyChangeSet<Item, unknown>>;

/** One operator of a pipeline. `turn` changes its parameter, to the value that a number selects. */
export interface PipelineStep {
  readonly name: string;
  /** Whether it takes an ordered stream only, or an unordered one only. */
  readonly takes: 'ordered' | 'unordered' | 'any';
  /** Whether a parameter has no value yet, so that nothing may be emitted. */
  readonly isWaiting?: boolean;
  /** Whether it reads a source beside that of the pipeline, so that it emits even before that one does. */
  readonly hasOther?: boolean;
  apply(source: Sets): Sets;
  naive(before: NaiveAnswer): NaiveAnswer;
  turn(to: number): void;
  /** The times at which its answer for these rows changes without a commit. */
  dues?(before: NaiveAnswer): readonly number[];
}

/** What the steps of one pipeline share. */
export interface Surroundings {
  readonly scheduler: SchedulerLike;
  /** The demand of all `conflateByKey`. */
  readonly ready?: Demand | undefined;
  /** The source of the other side of joins and unions. */
  readonly other: World;
  /** Whether some parameters are constants, have no value at first, or complete. */
  readonly varies: boolean;
}

/** Surroundings in which every parameter is an Observable that has a value. */
export function plainly(scheduler: SchedulerLike): Surroundings {
  return { scheduler, other: new World(), varies: false };
}

export type Make = (start: number, around: Surroundings) => PipelineStep;

export function pick<T>(values: readonly T[], at: number): T {
  return values[at % values.length] as T;
}

export function attempt<R>(evaluate: () => R): R | undefined {
  try {
    return evaluate();
  } catch {
    return undefined;
  }
}

/** The rows of an answer in which each row may be kept out, or be another one. */
export function answerOf(
  { ordered, rows, total }: NaiveAnswer,
  left: readonly NaiveRow[],
): NaiveAnswer {
  return { rows: left, ordered, total: total - (rows.length - left.length) };
}

/** The rows of a collection without an order. */
export function unordered(rows: readonly NaiveRow[]): NaiveAnswer {
  return { rows, ordered: false, total: rows.length };
}

export function rowsOfWorld(world: Pick<World, 'items'>): NaiveRow[] {
  return [...world.items.values()].map((object) => ({
    id: object.metadata.uid,
    key: object.metadata.name,
    object,
  }));
}
