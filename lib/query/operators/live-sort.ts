/** `liveSort`: the rows in order. */
import type { Observable } from 'rxjs';
import type { Stored } from '../../meta/stored.ts';
import type { AnyChangeSet, OrderedChangeSet } from '../../store/change-set.ts';
import type { OrderedChangeStream } from '../../store/change-stream.ts';
import type { Ending } from '../engine/answer-log.ts';
import { liveOperator } from '../engine/live-operator.ts';
import type { AnswerRows, Arrangement, HeldRow, MachineContext } from '../engine/machine.ts';
import type { LiveOptions, Param } from '../engine/operator.ts';
import { RowMachine } from '../engine/row-machine.ts';
import { type IdentifiedRow, sortInSteps } from '../order/sort-in-steps.ts';
import { SortedRows } from '../order/sorted-rows.ts';

const ROWS_A_STEP = 64;

/**
 * Compares two rows like `Array.prototype.sort`. `nowMs` is the scheduler's time, in milliseconds since the Unix epoch.
 */
export type Compare<T> = (one: Stored<T>, other: Stored<T>, nowMs: number) => number;

function* placedOf<T>(
  rows: ReadonlyMap<string, HeldRow<T>>,
  sorted: SortedRows<T>,
): Generator<readonly [string, HeldRow<T>], void, void> {
  for (const entry of rows) if (sorted.has(entry[0])) yield entry;
}

class SortMachine<T> extends RowMachine<T> {
  readonly #rows = this.inputs[0] as Map<string, HeldRow<T>>;
  readonly #sorted: SortedRows<T>;
  readonly #compare: (one: Stored<T>, other: Stored<T>) => number;
  readonly answer: AnswerRows<T>;
  /** Rows are collected at first, then sorted all at once, and from then on placed one by one. */
  #phase: 'collecting' | 'sorting' | 'placing' = 'collecting';
  /** Rows that changed while they were sorted. */
  readonly #late = new Set<string>();
  #arrangement: Arrangement<T> | undefined;

  constructor(compare: Compare<T>, context: MachineContext) {
    super(context);
    this.#compare = (one, other) => compare(one, other, context.nowMs());
    const rows = this.#rows;
    this.#sorted = new SortedRows(this.#compare, (id) => rows.get(id)?.key);
    const sorted = this.#sorted;
    this.answer = {
      get: (id) => (sorted.has(id) ? rows.get(id) : undefined),
      entries: () => (sorted.size === rows.size ? rows : placedOf(rows, sorted)),
    };
  }

  put(_input: number, id: string, key: string, object: Stored<T>): void {
    const before = this.#rows.get(id);
    this.#rows.set(id, { key, object });
    if (this.#phase === 'collecting') return;
    if (this.#phase === 'sorting') {
      this.#late.add(id);
      return;
    }
    const isIn = before !== undefined && this.#sorted.has(id);
    this.log.touch(id, isIn ? before : undefined);
    this.#place(id, key, isIn ? before.object : undefined, object);
  }

  protected removed(_input: number, id: string, row: HeldRow<T>, ending: Ending<T>): void {
    if (this.#phase === 'sorting') this.#late.add(id);
    if (!this.#sorted.has(id)) return;
    this.log.touch(id, row, ending);
    this.#sorted.remove(id, row.object);
  }

  *settle(): Generator<void, void, void> {
    const late = this.#late;
    this.#phase = 'sorting';
    const rows: IdentifiedRow<T>[] = [];
    let compared = 0;
    for (const [id, { key, object }] of this.#rows) {
      if (this.#isComparable(id, key, object)) rows.push({ id, row: object });
      if (++compared % ROWS_A_STEP === 0) yield;
    }
    yield* this.#fill(rows);
    let placed = 0;
    for (const id of late) {
      // Removed first, so that a row that changes again meanwhile is placed again.
      late.delete(id);
      const row = this.#rows.get(id);
      this.#sorted.drop(id);
      if (row !== undefined) this.#place(id, row.key, undefined, row.object);
      if (++placed % ROWS_A_STEP === 0) yield;
    }
    this.#phase = 'placing';
  }

  *#fill(rows: IdentifiedRow<T>[]): Generator<void, void, void> {
    let sorted: IdentifiedRow<T>[];
    try {
      sorted = yield* sortInSteps(rows, this.#compare);
    } catch {
      // Placed one by one, each row that cannot be compared is kept out for itself.
      for (const { id } of rows) this.#late.add(id);
      return;
    }
    // A row that left or changed meanwhile is not filled in; a changed one is placed later.
    yield* this.#sorted.fill(sorted, ({ id }) => !this.#late.has(id));
  }

  arrangement(): Arrangement<T> {
    const order = this.#sorted.order();
    if (this.#arrangement?.order !== order) this.#arrangement = { order, total: order.size };
    return this.#arrangement as Arrangement<T>;
  }

  /** Compares the row with itself, because one that no comparison stands must not keep the others out. */
  #isComparable(id: string, key: string, object: Stored<T>): boolean {
    return this.context.attempt(id, key, () => this.#compare(object, object)) !== undefined;
  }

  /** Places a row. `before` is the state of it that is placed already. */
  #place(id: string, key: string, before: Stored<T> | undefined, object: Stored<T>): void {
    const isPlaced = this.context.attempt(id, key, () => {
      this.#compare(object, object);
      if (before === undefined) this.#sorted.insert(id, object);
      else this.#sorted.replace(id, before, object);
      return true;
    });
    if (isPlaced === undefined && before !== undefined) this.#sorted.remove(id, before);
  }
}

/**
 * Puts the rows in order. Rows that compare as equal are ordered by id, in code units; a comparison that gives NaN
 * counts as 0.
 *
 * Each set has the complete order (`set.order`), which never changes, so it may be kept. A change of the order alone is
 * emitted. A row for which the comparison throws is kept out, and stands in the view's `status.rejected`. A new
 * comparison from an Observable gives one change set, computed in slices of 8 ms while the former order stands.
 * Completes and errors as its source does, and errors if the Observable of the comparison errors.
 *
 * Costs O(log n) comparisons for each changed row.
 *
 * ```
 * source   +b----+a-----b1--|        b1: another field of b, which moves nothing
 * result   [b]---[ab]---[ab]|        the order that each set has
 * ```
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { liveSort, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 *
 * const pod = (name: string) => ({ metadata: { name, uid: name } });
 * const changes$ = of(changeSet({ added: [pod('web'), pod('db')] })); // with an informer: informer.changes$
 * const byName = liveSort<ReturnType<typeof pod>>((one, other) =>
 *   one.metadata.name < other.metadata.name ? -1 : 1,
 * );
 * const view = toView(changes$.pipe(byName));
 * view.subscribe(() => undefined);
 * view.getSnapshot().rows.map(({ metadata }) => metadata.name); // => ['db', 'web']
 * ```
 */
export function liveSort<T, O = undefined>(
  compare: Param<Compare<T>>,
  options: LiveOptions = {},
): (source: Observable<AnyChangeSet<T, O>>) => OrderedChangeStream<T> {
  return (source) =>
    liveOperator<T, OrderedChangeSet<T>>({
      ...options,
      name: 'liveSort',
      sources: [source],
      params: [compare],
      create: ([value]: readonly Compare<T>[], context) =>
        new SortMachine<T>(value as Compare<T>, context),
    }) as OrderedChangeStream<T>;
}
