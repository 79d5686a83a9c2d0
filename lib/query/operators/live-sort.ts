/** `liveSort`: the rows in order. */
import type { Observable } from 'rxjs';
import type { Stored } from '../../meta/kubernetes-object.ts';
import { synchronous } from '../../rx/is-thenable.ts';
import type { AnyChangeSet, OrderedChangeSet } from '../../store/change-set.ts';
import type { OrderedChangeStream } from '../../store/change-stream.ts';
import type { Ending } from '../engine/answer-log.ts';
import { liveOperator } from '../engine/live-operator.ts';
import type {
  AnswerRows,
  Arrangement,
  HeldRow,
  LiveOptions,
  MachineContext,
  Param,
} from '../engine/machine.ts';
import { checkFunction } from '../engine/misuse.ts';
import { RowMachine } from '../engine/row-machine.ts';
import { ROWS_A_STEP } from '../engine/slice.ts';
import { SortedRow } from '../order/chunked-order.ts';
import { type InOrder, sortInSteps } from '../order/sort-in-steps.ts';
import { SortedRows } from '../order/sorted-rows.ts';

/**
 * Compares two rows like `Array.prototype.sort`. `nowMs` is the scheduler's time, in milliseconds since the Unix epoch.
 */
export type Compare<T> = (one: Stored<T>, other: Stored<T>, nowMs: number) => number;

function* placedOf<T>(
  rows: ReadonlyMap<string, SortedRow<T>>,
): Generator<readonly [string, HeldRow<T>], void, void> {
  for (const entry of rows) if (entry[1].run !== undefined) yield entry;
}

class SortMachine<T> extends RowMachine<T, SortedRow<T>> {
  readonly #rows = this.inputs[0] as Map<string, SortedRow<T>>;
  readonly #compare: (one: Stored<T>, other: Stored<T>) => number;
  readonly #inOrder: InOrder<SortedRow<T>>;
  readonly #sorted: SortedRows<T>;
  readonly answer: AnswerRows<T>;
  /** Rows are collected at first, then sorted all at once, and from then on placed one by one. */
  #phase: 'collecting' | 'sorting' | 'placing' = 'collecting';
  /** Rows that changed while they were sorted, as they were. */
  readonly #late = new Map<string, SortedRow<T>>();
  #arrangement: Arrangement<T> | undefined;

  constructor(compare: Compare<T>, context: MachineContext) {
    super(context);
    const { nowMs } = context;
    this.#compare = (one, other) => synchronous(compare(one, other, nowMs()), 'the comparison');
    // Ties are broken by the id in code units, and NaN counts as 0.
    this.#inOrder = (one, other) => {
      const compared = compare(one.object, other.object, nowMs());
      if (compared < 0 || compared > 0) return compared;
      if (one.id === other.id) return 0;
      return one.id < other.id ? -1 : 1;
    };
    this.#sorted = new SortedRows(this.#inOrder);
    const rows = this.#rows;
    const sorted = this.#sorted;
    const placed = (id: string) => {
      const row = rows.get(id);
      return row?.run === undefined ? undefined : row;
    };
    this.answer = {
      get: placed,
      entries: () => (sorted.size === rows.size ? rows : placedOf(rows)),
    };
  }

  put(_input: number, id: string, key: string, object: Stored<T>): void {
    const before = this.#rows.get(id);
    const row = before?.object === object ? before : new SortedRow(id, key, object);
    this.#rows.set(id, row);
    if (this.#phase === 'collecting') return;
    if (this.#phase === 'sorting') return this.#isLate(id, before ?? row);
    const isIn = before?.run !== undefined;
    this.log.touch(id, isIn ? before : undefined);
    this.#place(row, isIn ? before : undefined);
  }

  protected removed(_input: number, id: string, row: SortedRow<T>, ending: Ending<T>): void {
    if (this.#phase === 'sorting') this.#isLate(id, row);
    if (row.run === undefined) return;
    this.log.touch(id, row, ending);
    this.#sorted.remove(row);
  }

  *settle(): Generator<void, void, void> {
    this.#phase = 'sorting';
    yield* this.#fill(yield* this.#comparable());
    const late = this.#late;
    let placed = 0;
    for (const [id, before] of late) {
      // Removed first, so that a row that changes again meanwhile is placed again.
      late.delete(id);
      this.#sorted.remove(before);
      const row = this.#rows.get(id);
      if (row !== undefined) {
        this.#sorted.remove(row);
        this.#place(row, undefined);
      }
      if (++placed % ROWS_A_STEP === 0) yield;
    }
    this.#phase = 'placing';
  }

  arrangement(): Arrangement<T> {
    const order = this.#sorted.order();
    if (this.#arrangement?.order !== order) this.#arrangement = { order, total: order.size };
    return this.#arrangement as Arrangement<T>;
  }

  #isLate(id: string, before: SortedRow<T>): void {
    // The first state is the one that is sorted.
    if (!this.#late.has(id)) this.#late.set(id, before);
  }

  /** Compares each row with itself, because one that no comparison stands must not keep the others out. */
  *#comparable(): Generator<void, SortedRow<T>[], void> {
    const rows: SortedRow<T>[] = [];
    const compare = this.#compare;
    let compared = 0;
    for (const row of this.#rows.values()) {
      const { id, key, object } = row;
      try {
        compare(object, object);
        rows.push(row);
      } catch (error) {
        this.context.attempt(id, key, () => {
          throw error;
        });
      }
      if (++compared % ROWS_A_STEP === 0) yield;
    }
    return rows;
  }

  *#fill(rows: SortedRow<T>[]): Generator<void, void, void> {
    const late = this.#late;
    let lists: readonly SortedRow<T>[][];
    try {
      lists = yield* sortInSteps(rows, this.#inOrder);
    } catch {
      // Placed one by one, each row that cannot be compared is kept out for itself.
      for (const row of this.#rows.values()) this.#isLate(row.id, row);
      return;
    }
    // A row that left or changed meanwhile is not filled in; a changed one is placed later.
    yield* this.#sorted.fill(lists, ({ id }) => late.size === 0 || !late.has(id));
  }

  /** Places a row. `before` is the state of it that is placed already. */
  #place(row: SortedRow<T>, before: SortedRow<T> | undefined): void {
    const { id, key, object } = row;
    const isPlaced = this.context.attempt(id, key, () => {
      this.#compare(object, object);
      if (before === undefined) this.#sorted.insert(row);
      else this.#sorted.replace(before, row);
      return true;
    });
    if (isPlaced === undefined && before !== undefined) this.#sorted.remove(before);
  }
}

/**
 * Puts the rows in order. Rows that compare as equal are ordered by id, in code units; a comparison that gives NaN
 * counts as 0.
 *
 * Each set has the complete order (`set.order`), which never changes, so it may be kept. A change of the order alone is
 * emitted. A row for which the comparison throws is kept out, and stands in the view's `status.refusedRows`. A new
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
export function liveSort<T>(
  compare: Param<Compare<T>>,
  options: LiveOptions = {},
): (source: Observable<AnyChangeSet<T>>) => OrderedChangeStream<T> {
  checkFunction('liveSort: compare', compare);
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
