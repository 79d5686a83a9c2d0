/** How rows of two sides find each other: by buckets, which hold the right rows that a left row is joined with. */
import type { Observable } from 'rxjs';
import type { RowIdentity } from '../../delta/net-change.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import type { AnyChangeSet } from '../../store/change-set.ts';
import type { HeldRow } from '../engine/machine.ts';
import { OrderedRows } from './ordered-rows.ts';

/** A left row as a join holds it. */
export interface LeftRow extends HeldRow<unknown> {
  readonly id: string;
  object: never;
  of: RowIdentity | undefined;
  buckets: readonly Bucket[];
  /** Whether a function of the user threw, so that the row is kept out. */
  isOut: boolean;
  /** Whether the row of the answer may be another one than `row`. */
  isDirty: boolean;
  /** The last joined row. */
  pair: Pair | undefined;
  /** The last row of the answer: the pair, or what was made of it. */
  row: HeldRow<unknown> | undefined;
}

/** A left row and what it is joined with. */
export interface Pair {
  readonly left: unknown;
  readonly right: unknown;
}

/** A right row as a join holds it. */
export interface RightRow extends HeldRow<unknown> {
  readonly id: string;
  object: never;
  of: RowIdentity | undefined;
  buckets: readonly Bucket[];
}

/** The right rows of one key or selector, and the left rows that are joined with them. */
export class Bucket extends OrderedRows<unknown> {
  readonly key: string;
  lefts: Few<LeftRow>;
  /** Marks the buckets of one list while two lists are compared. */
  stamp = 0;

  constructor(key: string) {
    super();
    this.key = key;
  }
}

export interface Matching {
  /** The buckets of a left row. Calls a function of the user, which may throw. */
  ofLeft(row: LeftRow, object: never, nowMs: number): readonly Bucket[];
  /** The buckets of a right row. Calls a function of the user, which may throw. */
  ofRight(row: RightRow, object: never, nowMs: number): readonly Bucket[];
  /** Called when a row has left its buckets and the join. */
  removed(row: LeftRow | RightRow): void;
  /** Called when a left or a right row has left the bucket, which may be without rows now. */
  vacated(bucket: Bucket): void;
  /** Puts right rows into the buckets that were made since the last call, in short steps. */
  fill(): Generator<void, void, void> | undefined;
  /**
   * Takes an object of the stream between, which has changed or is gone, and returns the rows whose buckets may be others
   * now. Only the matching of a {@link Relation} has it.
   */
  between?(
    id: string,
    key: string,
    object: KubernetesObject,
    isGone: boolean,
  ): Iterable<LeftRow | RightRow>;
}

/** What a matching must know of both sides of a join. */
export interface Sides {
  /** Whether the rows of both are of several clusters. */
  readonly isOverClusters: boolean;
}

/** A relation that reads a stream of its own. */
export interface Relation {
  readonly between$: Observable<AnyChangeSet<unknown>>;
  match(rights: unknown, sides: Sides): Matching;
}

export const RELATION: unique symbol = /* @__PURE__ */ Symbol('relation');

/** A set of objects that is mostly empty or of one element, without the weight of a `Set`. */
type Few<T extends object> = T | Set<T> | undefined;

/** The set with the element, which it must not have yet. */
export function withElement<T extends object>(few: Few<T>, element: T): Few<T> {
  if (few === undefined) return element;
  if (few instanceof Set) return few.add(element);
  return new Set([few, element]);
}

/** The set without the element. */
export function withoutElement<T extends object>(few: Few<T>, element: T): Few<T> {
  if (!(few instanceof Set)) return few === element ? undefined : few;
  few.delete(element);
  return few.size === 0 ? undefined : few;
}

export function forEachElement<T extends object>(few: Few<T>, visit: (element: T) => void): void {
  if (few instanceof Set) for (const element of few) visit(element);
  else if (few !== undefined) visit(few);
}
