/**
 * The window of a query that data alone describe: the filter, the sort and the window in one. It keeps the rows up to the end of the
 * window and some that follow, and of the others only how many there are. A condition of data says of a former state, too, whether
 * it was counted. If too many rows have left, all rows are read again.
 */
import type { Observable } from 'rxjs';
import type { Change } from '../../delta/net-change.ts';
import type { KubernetesObject, Stored } from '../../meta/kubernetes-object.ts';
import type { AnyChangeSet, OrderedChangeSet } from '../../store/change-set.ts';
import { liveOperator } from '../engine/live-operator.ts';
import type { Arrangement, LiveOptions, Machine } from '../engine/machine.ts';
import { ROWS_A_STEP } from '../engine/slice.ts';
import { WindowRows } from '../operators/window-rows.ts';
import type { PlacedRow } from '../order/list-order.ts';
import { placeOf, sortInSteps } from '../order/sort-in-steps.ts';
import { compareRanked, type Ranking } from './order-by.ts';
import type { Predicate } from './predicate.ts';
import type { Comparable } from './reading.ts';

type Objects = AnyChangeSet<KubernetesObject>;
type Steps = Generator<void, void, void>;

/** A row with the values that it is ordered by. */
interface Ranked extends PlacedRow<KubernetesObject> {
  readonly values: readonly (Comparable | undefined)[];
}

/** The rows that are kept beyond the window, at least. */
const SPARE_ROWS = 64;

/** What is asked for. */
export interface FirstRowsParts {
  readonly predicates: readonly Predicate[];
  readonly rankings: readonly Ranking[];
  readonly offset: number;
  readonly limit: number;
}

class FirstRowsMachine implements Machine<KubernetesObject> {
  readonly #parts: FirstRowsParts;
  /** The end of the window, and how many rows are kept at most. */
  readonly #end: number;
  readonly #most: number;
  /** The rows that come first, in order. */
  #rows: Ranked[] = [];
  #byId = new Map<string, Ranked>();
  /** Whether these are all rows that satisfy the conditions. */
  #isAll = true;
  #total = 0;
  /** Whether the window may have other rows. */
  #isMoved = true;
  #sets: Objects[] = [];
  readonly #shown = new WindowRows<KubernetesObject>();
  readonly answer = this.#shown.rows;

  constructor(parts: FirstRowsParts) {
    this.#parts = parts;
    this.#end = parts.offset + parts.limit;
    this.#most = 2 * (this.#end + SPARE_ROWS);
  }

  get isShort(): boolean {
    return !this.#isAll && this.#rows.length < Math.min(this.#end, this.#total);
  }

  apply(_input: number, set: AnyChangeSet<unknown>): void {
    this.#sets.push(set as Objects);
  }

  *steps(): Steps {
    for (let set = this.#sets.shift(); set !== undefined; set = this.#sets.shift()) {
      if (set.reset) yield* this.#read(set);
      else yield* this.#follow(set);
    }
  }

  take(): Change<KubernetesObject>[] {
    const { offset } = this.#parts;
    const total = this.#total;
    if (this.#isMoved) this.#shown.show(this.#rows.slice(offset, this.#end), total);
    else this.#shown.count(total);
    this.#isMoved = false;
    return this.#shown.log.take();
  }

  arrangement(): Arrangement<KubernetesObject> | undefined {
    return this.#shown.arrangement;
  }

  #holds(object: Stored<KubernetesObject> | undefined): object is Stored<KubernetesObject> {
    return object !== undefined && this.#parts.predicates.every((holds) => holds(object, 0));
  }

  readonly #inOrder = (one: Ranked, other: Ranked): number => {
    const { rankings } = this.#parts;
    for (let at = 0; at < rankings.length; at++) {
      const { sign } = rankings[at] as Ranking;
      const compared = compareRanked(one.values[at], other.values[at], sign);
      if (compared !== 0) return compared;
    }
    if (one.id === other.id) return 0;
    return one.id < other.id ? -1 : 1;
  };

  #ranked(id: string, key: string, object: Stored<KubernetesObject>): Ranked {
    return { id, key, object, values: this.#parts.rankings.map(({ value }) => value(object)) };
  }

  /** Takes all rows. */
  *#read({ changes }: Objects): Steps {
    let rows: Ranked[] = [];
    let total = 0;
    let last: Ranked | undefined;
    const [first] = this.#parts.rankings;
    for (let at = 0; at < changes.length; at++) {
      if (at > 0 && at % ROWS_A_STEP === 0) yield;
      const { id, key, object } = changes[at] as Change<KubernetesObject>;
      if (!this.#holds(object)) continue;
      total++;
      // Most rows come after those that are kept, and the first value says so.
      const isAfter =
        last !== undefined &&
        first !== undefined &&
        compareRanked(first.value(object), last.values[0], first.sign) > 0;
      if (isAfter) continue;
      const row = this.#ranked(id, key, object);
      if (last !== undefined && this.#inOrder(row, last) > 0) continue;
      rows.push(row);
      if (rows.length < 2 * this.#most) continue;
      rows = yield* this.#firstOf(rows);
      last = rows.at(-1);
    }
    rows = yield* this.#firstOf(rows);
    this.#rows = rows;
    this.#byId = new Map(rows.map((row) => [row.id, row]));
    this.#total = total;
    this.#isAll = rows.length === total;
    this.#isMoved = true;
  }

  *#firstOf(rows: Ranked[]): Generator<void, Ranked[], void> {
    const lists = yield* sortInSteps(rows, this.#inOrder);
    return lists.flat().slice(0, this.#most);
  }

  *#follow({ changes }: Objects): Steps {
    for (let at = 0; at < changes.length; at++) {
      if (at > 0 && at % ROWS_A_STEP === 0) yield;
      this.#change(changes[at] as Change<KubernetesObject>);
    }
  }

  #change({ id, key, previous, object }: Change<KubernetesObject>): void {
    if (previous === object) return;
    if (this.#holds(previous)) this.#total--;
    const before = this.#byId.get(id);
    if (before !== undefined) {
      this.#splice(placeOf(before, this.#rows, this.#inOrder) - 1, 1);
      this.#byId.delete(id);
    }
    if (!this.#holds(object)) return;
    this.#total++;
    this.#insert(this.#ranked(id, key, object));
  }

  #insert(row: Ranked): void {
    const place = placeOf(row, this.#rows, this.#inOrder);
    if (place === this.#rows.length && !this.#isAll) return;
    this.#splice(place, 0, row);
    this.#byId.set(row.id, row);
    if (this.#rows.length <= this.#most) return;
    this.#isAll = false;
    this.#byId.delete((this.#rows.pop() as Ranked).id);
  }

  #splice(place: number, gone: number, ...added: Ranked[]): void {
    this.#rows.splice(place, gone, ...added);
    if (place < this.#end) this.#isMoved = true;
  }
}

/** The rows of the window, in order. Each subscription to the source must begin with all objects. */
export function firstRows(
  parts: FirstRowsParts,
  source: Observable<Objects>,
  options: LiveOptions,
): Observable<OrderedChangeSet<KubernetesObject>> {
  return liveOperator<KubernetesObject, OrderedChangeSet<KubernetesObject>>({
    ...options,
    name: 'live queries',
    sources: [source],
    params: [],
    create: () => new FirstRowsMachine(parts),
  });
}
