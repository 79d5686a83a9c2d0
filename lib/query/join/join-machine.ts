/** The machine of a join: one row for each left row, with the right rows of its buckets. */

import type { RowIdentity } from '../../delta/net-change.ts';
import { metadataOf, type Stored } from '../../meta/kubernetes-object.ts';
import { synchronous } from '../../rx/is-thenable.ts';
import { ownGuard } from '../../store/mutation-guard.ts';
import type { Ending } from '../engine/answer-log.ts';
import type { AnswerRows, HeldRow, Machine, MachineContext } from '../engine/machine.ts';
import { RowMachine } from '../engine/row-machine.ts';
import { ROWS_A_STEP } from '../engine/slice.ts';
import { sameList, shallowEqual } from '../operators/shallow-equal.ts';
import {
  type Bucket,
  forEachElement,
  type LeftRow,
  type Matching,
  type Pair,
  type RightRow,
  withElement,
  withoutElement,
} from './matching.ts';

const LEFT = 0;
const RIGHT = 1;
const BETWEEN = 2;
const NONE: readonly never[] = /* @__PURE__ */ Object.freeze([]);
const NO_BUCKETS: readonly Bucket[] = [];

/** The settings of a join. */
export interface JoinParts {
  /** Whether a left row without a right row is kept out. */
  readonly isInner: boolean;
  /** Whether a row has one right row, not a list. */
  readonly isOne: boolean;
  readonly project: ((left: never, right: never, nowMs: number) => unknown) | undefined;
  readonly match: (rights: ReadonlyMap<string, RightRow>) => Matching;
}

/** The rows of several buckets in the order of their ids, each once. */
function unionOf(buckets: readonly Bucket[]): readonly unknown[] {
  const rows = new Map<string, unknown>();
  for (const bucket of buckets) {
    const list = bucket.rows();
    for (const [at, id] of bucket.ids().entries()) rows.set(id, list[at]);
  }
  return [...rows.keys()].sort().map((id) => rows.get(id));
}

/** The row of the lowest id. */
function firstOf(buckets: readonly Bucket[]): unknown {
  let lowest: string | undefined;
  let first: unknown;
  for (const bucket of buckets) {
    const [id] = bucket.ids();
    if (id === undefined || (lowest !== undefined && id >= lowest)) continue;
    lowest = id;
    first = bucket.rows()[0];
  }
  return first;
}

export class JoinMachine<B> extends RowMachine<B, LeftRow | RightRow> {
  readonly #parts: JoinParts;
  readonly #matching: Matching;
  readonly #lefts = this.inputs[LEFT] as Map<string, LeftRow>;
  readonly #rights = this.inputs[RIGHT] as Map<string, RightRow>;
  /** The machine that this one replaces, until each row has been compared with its row. */
  #former: JoinMachine<B> | undefined;
  readonly answer: AnswerRows<B>;
  #stamp = 0;
  readonly #guarded = ownGuard();

  constructor(parts: JoinParts, context: MachineContext, former: Machine<B> | undefined) {
    super(context, 3);
    this.#parts = parts;
    this.#matching = parts.match(this.#rights);
    this.#former = former as JoinMachine<B> | undefined;
    const lefts = this.#lefts;
    const rowOf = (left: LeftRow) => this.#rowOf(left);
    this.answer = {
      get: (id) => {
        const left = lefts.get(id);
        return left === undefined ? undefined : rowOf(left);
      },
      *entries() {
        for (const [id, left] of lefts) {
          const row = rowOf(left);
          if (row !== undefined) yield [id, row] as const;
        }
      },
    };
  }

  put(input: number, id: string, key: string, object: never, of?: RowIdentity): void {
    if (input === LEFT) return this.#putLeft(id, key, object, of);
    if (input === RIGHT) return this.#putRight(id, key, object, of);
    (this.inputs[BETWEEN] as Map<string, HeldRow<unknown>>).set(id, { key, object, of });
    this.#between(id, key, object, false);
  }

  protected removed(
    input: number,
    id: string,
    row: LeftRow | RightRow,
    { finalStateUnknown }: Ending<unknown>,
  ): void {
    if (input === BETWEEN) return this.#between(id, row.key, row.object, true);
    if (input === LEFT) {
      const left = row as LeftRow;
      this.log.touch(left.id, left.row as HeldRow<B> | undefined, { finalStateUnknown });
      this.#moveLeft(left, NO_BUCKETS);
    } else {
      const right = row as RightRow;
      this.#moveRight(right, NO_BUCKETS, right.object);
    }
    this.#matching.removed(row);
  }

  *settle(): Generator<void, void, void> {
    const filling = this.#matching.fill();
    if (filling !== undefined) yield* filling;
    let rows = 0;
    for (const left of this.#lefts.values()) {
      this.#rowOf(left);
      if (++rows % ROWS_A_STEP === 0) yield;
    }
    this.#former = undefined;
  }

  override take(): ReturnType<RowMachine<B>['take']> {
    this.#fill();
    return super.take();
  }

  #fill(): void {
    const filling = this.#matching.fill();
    while (filling?.next().done === false);
  }

  #between(id: string, key: string, object: never, isGone: boolean): void {
    const others = this.context.attempt(
      id,
      key,
      () => this.#matching.between?.(id, key, object, isGone),
      BETWEEN,
    );
    for (const row of others ?? []) {
      const input = this.#lefts.get(row.id) === row ? LEFT : RIGHT;
      this.put(input, row.id, row.key, row.object, row.of);
    }
  }

  #putLeft(id: string, key: string, object: never, of: RowIdentity | undefined): void {
    const before = this.#lefts.get(id);
    const left: LeftRow = before ?? {
      id,
      key,
      object,
      of,
      buckets: NO_BUCKETS,
      isOut: false,
      isDirty: false,
      pair: undefined,
      row: undefined,
    };
    this.#touch(left);
    if (before === undefined) this.#lefts.set(id, left);
    left.object = object;
    left.of = of;
    const { context } = this;
    const buckets = context.attempt(id, key, () =>
      this.#matching.ofLeft(left, object, context.nowMs()),
    );
    left.isOut = buckets === undefined;
    this.#moveLeft(left, buckets ?? NO_BUCKETS);
  }

  #putRight(id: string, key: string, object: never, of: RowIdentity | undefined): void {
    let right = this.#rights.get(id);
    if (right === undefined) {
      right = { id, key, object, of, buckets: NO_BUCKETS };
      this.#rights.set(id, right);
    }
    const row = right;
    const before = row.object;
    row.object = object;
    row.of = of;
    const { context } = this;
    const buckets = context.attempt(
      id,
      key,
      () => this.#matching.ofRight(row, object, context.nowMs()),
      RIGHT,
    );
    this.#moveRight(row, buckets ?? NO_BUCKETS, before);
  }

  #moveLeft(left: LeftRow, buckets: readonly Bucket[]): void {
    const before = left.buckets;
    if (buckets === before) return;
    const stamp = ++this.#stamp;
    for (const bucket of before) bucket.stamp = stamp;
    for (const bucket of buckets) {
      if (bucket.stamp === stamp) bucket.stamp = -stamp;
      else bucket.lefts = withElement(bucket.lefts, left);
    }
    left.buckets = buckets;
    for (const bucket of before) {
      if (bucket.stamp !== stamp) continue;
      bucket.lefts = withoutElement(bucket.lefts, left);
      this.#matching.vacated(bucket);
    }
  }

  /** Puts a right row into its buckets. `former` is its object before. */
  #moveRight(right: RightRow, buckets: readonly Bucket[], former: unknown): void {
    const { id, object, buckets: before } = right;
    if (buckets === before) {
      for (const bucket of buckets) {
        this.#touchLefts(bucket);
        bucket.replace(id, former, object);
      }
      return;
    }
    const stamp = ++this.#stamp;
    for (const bucket of before) bucket.stamp = stamp;
    for (const bucket of buckets) {
      this.#touchLefts(bucket);
      if (bucket.stamp === stamp) bucket.replace(id, former, object);
      else bucket.add(id, object);
      bucket.stamp = -stamp;
    }
    right.buckets = buckets;
    for (const bucket of before) {
      if (bucket.stamp !== stamp) continue;
      this.#touchLefts(bucket);
      bucket.remove(id);
      this.#matching.vacated(bucket);
    }
  }

  #touchLefts(bucket: Bucket): void {
    // If the bucket has changed since its list was read, its left rows have not been read since, either.
    if (!bucket.isChanged) forEachElement(bucket.lefts, (left) => this.#touch(left));
  }

  #touch(left: LeftRow): void {
    if (left.isDirty) return;
    this.log.touch(left.id, left.row as HeldRow<B> | undefined);
    left.isDirty = true;
  }

  #rowOf(left: LeftRow): HeldRow<B> | undefined {
    if (left.isDirty) {
      this.#fill();
      left.isDirty = false;
      this.#make(left);
    }
    return left.row as HeldRow<B> | undefined;
  }

  #make(left: LeftRow): void {
    const former = this.#formerOf(left);
    left.row = undefined;
    if (left.isOut) {
      left.pair = undefined;
      return;
    }
    const { isInner, isOne } = this.#parts;
    const right = isOne ? firstOf(left.buckets) : this.#listOf(left, former?.pair);
    const isOrphan = isOne ? right === undefined : (right as readonly unknown[]).length === 0;
    const before = former?.pair;
    const isSame = before !== undefined && before.left === left.object && before.right === right;
    const pair: Pair = isSame ? before : this.#guarded({ left: left.object, right });
    left.pair = pair;
    if (isOrphan && isInner) {
      this.context.forget(left.id);
      return;
    }
    left.row = this.#projected(left, pair, former?.row);
  }

  /** The former pair and row of a left row, in this machine or in the one before. */
  #formerOf(left: LeftRow): Pick<LeftRow, 'pair' | 'row'> | undefined {
    const { pair, row } = left;
    if (pair !== undefined || this.#former === undefined) return { pair, row };
    const before = this.#former.#lefts.get(left.id);
    if (before !== undefined) this.#former.#rowOf(before);
    return before;
  }

  #listOf({ buckets }: LeftRow, before: Pair | undefined): readonly unknown[] {
    const [only] = buckets;
    const isOne = buckets.length === 1;
    const list = only === undefined ? NONE : this.#guarded(isOne ? only.list() : unionOf(buckets));
    const listed = before?.right as readonly unknown[] | undefined;
    if (listed === undefined || listed === list) return list;
    return sameList(listed, list) ? listed : list;
  }

  #projected(
    { id, key, object, of = metadataOf(object) }: LeftRow,
    pair: Pair,
    before: HeldRow<unknown> | undefined,
  ): HeldRow<unknown> | undefined {
    const { project } = this.#parts;
    if (project === undefined) {
      if (before?.object === pair) return before;
      return { key, object: pair as Stored<unknown>, of };
    }
    const { context } = this;
    return context.attempt(id, key, () => {
      const nowMs = context.nowMs();
      const made = synchronous(project(pair.left as never, pair.right as never, nowMs), 'project');
      if (made === undefined) return undefined;
      if (before !== undefined && shallowEqual(before.object, made)) return before;
      return { key, object: made as Stored<unknown>, of };
    });
  }
}
