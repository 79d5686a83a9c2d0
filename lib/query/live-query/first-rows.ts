/**
 * The rows that come first, for the windows of queries that data alone describe: a filter and a sort in one. It keeps the rows up to
 * the last end of a window and some that follow, and of the others only how many there are. A condition of data says of a former
 * state, too, whether it was counted. If too many rows have left, all rows are read again.
 */
import { Observable } from 'rxjs';
import { map } from 'rxjs/operators';
import type { Change } from '../../delta/net-change.ts';
import type { KubernetesObject, Stored } from '../../meta/kubernetes-object.ts';
import {
  type AnyChangeSet,
  createChangeSet,
  type OrderedChangeSet,
} from '../../store/change-set.ts';
import { liveOperator } from '../engine/live-operator.ts';
import type { Arrangement, LiveOptions, Machine, MachineContext } from '../engine/machine.ts';
import { ROWS_A_STEP } from '../engine/slice.ts';
import { liveShare } from '../operators/live-share.ts';
import { liveWindow } from '../operators/live-window.ts';
import { sameList } from '../operators/shallow-equal.ts';
import { SortedRow } from '../order/chunked-order.ts';
import { placedRows } from '../order/list-order.ts';
import { sortInSteps } from '../order/sort-in-steps.ts';
import { SortedRows } from '../order/sorted-rows.ts';
import { compareRanked, type Ranking } from './order-by.ts';
import type { Predicate } from './predicate.ts';
import type { Comparable } from './reading.ts';

type Objects = AnyChangeSet<KubernetesObject>;
type Steps = Generator<void, void, void>;

/** A row with the values that it is ordered by. */
class Ranked extends SortedRow<KubernetesObject> {
  readonly values: readonly (Comparable | undefined)[];

  constructor(id: string, key: string, object: Stored<KubernetesObject>, values: Ranked['values']) {
    super(id, key, object);
    this.values = values;
  }
}

/** The rows of a reset, of which few become changes. */
interface ResetRows {
  readonly objects: readonly (Stored<KubernetesObject> | undefined)[];
  changeAt(at: number): Change<KubernetesObject>;
}

/** The rows by the reset, where nobody has to make its changes for them. */
export const resetRows: WeakMap<object, ResetRows> = /* @__PURE__ */ new WeakMap();

/** The rows that are kept beyond the windows, at least. */
const SPARE_ROWS = 64;

/** What is asked for, whatever the windows are. */
export interface FirstRowsParts {
  readonly predicates: readonly Predicate[];
  readonly rankings: readonly Ranking[];
  /** Each subscription must begin with all objects. */
  readonly source: Observable<Objects>;
  readonly options: LiveOptions;
}

class FirstRowsMachine implements Machine<KubernetesObject> {
  readonly #parts: FirstRowsParts;
  readonly #context: MachineContext;
  readonly #inOrder: (one: Ranked, other: Ranked) => number;
  /** The end of the last window, and how many rows are kept at most. */
  #end = 0;
  #most = 0;
  /** The rows that come first. */
  #rows: SortedRows<KubernetesObject>;
  #byId = new Map<string, Ranked>();
  /** Whether these are all rows for which the predicates hold. */
  #isAll = true;
  #total = 0;
  #sets: Objects[] = [];
  #arrangement: Arrangement<KubernetesObject> | undefined;
  /** The windows read the order alone, so no change is noted. */
  readonly answer = new Map<string, Ranked>();

  constructor(parts: FirstRowsParts, end: number, context: MachineContext) {
    this.#parts = parts;
    this.#context = context;
    this.#extend(end);
    const { rankings } = parts;
    this.#inOrder = (one, other) => {
      for (let at = 0; at < rankings.length; at++) {
        const { sign } = rankings[at] as Ranking;
        const compared = compareRanked(one.values[at], other.values[at], sign);
        if (compared !== 0) return compared;
      }
      if (one.id === other.id) return 0;
      return one.id < other.id ? -1 : 1;
    };
    this.#rows = this.#sorted();
  }

  /** Keeps the rows of windows up to this end. */
  reach(end: number): void {
    this.#context.change(() => {
      this.#extend(end);
      this.#cut();
    });
  }

  #extend(end: number): void {
    this.#end = end;
    this.#most = 2 * (end + SPARE_ROWS);
  }

  get isShort(): boolean {
    return !this.#isAll && this.#rows.size < Math.min(this.#end, this.#total);
  }

  apply(_input: number, set: AnyChangeSet<unknown>): void {
    const isNext = !set.reset && this.#sets.length === 0;
    if (!isNext || set.changes.length > ROWS_A_STEP) this.#sets.push(set as Objects);
    else for (const change of (set as Objects).changes) this.#change(change);
  }

  steps(): Steps | undefined {
    return this.#sets.length === 0 ? undefined : this.#takeSets();
  }

  *#takeSets(): Steps {
    for (let set = this.#sets[0]; set !== undefined; set = this.#sets[0]) {
      if (set.reset) yield* this.#read(set);
      else {
        for (const [at, change] of set.changes.entries()) {
          if (at > 0 && at % ROWS_A_STEP === 0) yield;
          this.#change(change);
        }
      }
      // Until now, so that those that arrive meanwhile wait, too.
      this.#sets.shift();
    }
  }

  take(): Change<KubernetesObject>[] {
    return [];
  }

  arrangement(): Arrangement<KubernetesObject> {
    const order = this.#rows.order();
    const total = this.#total;
    const before = this.#arrangement;
    if (before?.order !== order || before.total !== total) this.#arrangement = { order, total };
    return this.#arrangement as Arrangement<KubernetesObject>;
  }

  #sorted(): SortedRows<KubernetesObject> {
    return new SortedRows(this.#inOrder as (one: unknown, other: unknown) => number);
  }

  #holds(object: Stored<KubernetesObject> | undefined): object is Stored<KubernetesObject> {
    return object !== undefined && this.#parts.predicates.every((holds) => holds(object, 0));
  }

  /** The row of an object, unless it comes after this one. Most do, and the first value says so. */
  #notAfter(
    last: Ranked | undefined,
    object: Stored<KubernetesObject>,
    changeAt: (at: number) => Change<KubernetesObject>,
    at = 0,
  ): Ranked | undefined {
    const { rankings } = this.#parts;
    const [first] = rankings;
    const isAfter =
      last !== undefined &&
      first !== undefined &&
      compareRanked(first.value(object), last.values[0], first.sign) > 0;
    if (isAfter) return undefined;
    const { id, key } = changeAt(at);
    // Made in one piece, because a list that grows has room for many more values.
    const values = rankings.map(({ value }) => value(object));
    const row = new Ranked(id, key, object, values);
    return last !== undefined && this.#inOrder(row, last) > 0 ? undefined : row;
  }

  /** Takes all rows. */
  *#read(set: Objects): Steps {
    const { objects, changeAt } = resetRows.get(set) ?? {
      objects: set.changes.map(({ object }) => object),
      changeAt: (at: number) => set.changes[at] as Change<KubernetesObject>,
    };
    let rows: Ranked[] = [];
    let total = 0;
    let last: Ranked | undefined;
    for (let at = 0; at < objects.length; at++) {
      if (at > 0 && at % ROWS_A_STEP === 0) yield;
      const object = objects[at];
      if (!this.#holds(object)) continue;
      total++;
      const row = this.#notAfter(last, object, changeAt, at);
      if (row === undefined) continue;
      rows.push(row);
      if (rows.length < 2 * this.#most) continue;
      rows = yield* this.#firstOf(rows);
      last = rows.at(-1);
    }
    rows = yield* this.#firstOf(rows);
    const sorted = this.#sorted();
    yield* sorted.fill([rows], () => true);
    this.#byId = new Map(rows.map((row) => [row.id, row]));
    this.#rows = sorted;
    this.#total = total;
    this.#isAll = sorted.size === total;
  }

  *#firstOf(rows: Ranked[]): Generator<void, Ranked[], void> {
    const lists = yield* sortInSteps(rows, this.#inOrder);
    return lists.flat().slice(0, this.#most);
  }

  #change(change: Change<KubernetesObject>): void {
    const { id, previous, object } = change;
    if (previous === object) return;
    if (this.#holds(previous)) this.#total--;
    const before = this.#byId.get(id);
    let row: Ranked | undefined;
    if (this.#holds(object)) {
      this.#total++;
      const last = this.#rows.last as Ranked | undefined;
      // What follows the last row that is kept is not known.
      if (this.#isAll || last !== undefined) {
        row = this.#notAfter(this.#isAll ? undefined : last, object, () => change);
      }
    }
    if (row !== undefined) {
      this.#byId.set(id, row);
      if (before === undefined) this.#rows.insert(row);
      else this.#rows.replace(before, row, this.#inOrder(before, row) === 0);
      if (this.#rows.size > this.#most) this.#cut();
    } else if (before !== undefined) {
      this.#byId.delete(id);
      this.#rows.remove(before);
    }
  }

  #cut(): void {
    while (this.#rows.size > this.#most) {
      const last = this.#rows.last as Ranked;
      this.#isAll = false;
      this.#byId.delete(last.id);
      this.#rows.remove(last);
    }
  }
}

type Rows = OrderedChangeSet<KubernetesObject>;

/** The rows that come first, for all queries that differ in their windows alone. */
export class FirstRows {
  /** The ends of the windows that somebody is subscribed to. */
  readonly #ends: number[] = [];
  readonly #rows: Observable<Rows>;
  #machine: FirstRowsMachine | undefined;

  constructor(parts: FirstRowsParts) {
    const { source, options } = parts;
    const rows = liveOperator<KubernetesObject, Rows>({
      ...options,
      name: 'live queries',
      sources: [source],
      params: [],
      create: (_values, context) => {
        this.#machine = new FirstRowsMachine(parts, this.#end, context);
        return this.#machine;
      },
    });
    // So what is shared holds no rows either.
    this.#rows = liveShare()(rows.pipe(map((set) => ordered(set, set)))) as Observable<Rows>;
  }

  /** Whether nobody is subscribed to a window. */
  get isUnused(): boolean {
    return this.#ends.length === 0;
  }

  /** The rows of a window, in order. */
  window(offset: number, limit: number, options: LiveOptions): Observable<Rows> {
    const end = offset + limit;
    // A window reads the order only, so sets with too few rows for it, and those that change none of its rows, may be left out.
    const reached = new Observable<Rows>((subscriber) => {
      this.#enter(end);
      subscriber.add(() => this.#leave(end));
      let first: Rows | undefined;
      /** What the window has shown: its rows, and what a set says beside them. */
      let shown: readonly unknown[] | undefined;
      subscriber.add(
        this.#rows.subscribe({
          next: (set) => {
            first ??= set;
            const before = shown;
            const { order, total, synced, origin } = set;
            if (before === undefined && order.size < Math.min(end, total)) return;
            shown = [total, synced, origin, ...placedRows(order, offset, end)];
            if (before === undefined) subscriber.next(ordered(set, first));
            else if (!sameList(before, shown)) subscriber.next(set);
          },
          error: (error) => subscriber.error(error),
          complete: () => subscriber.complete(),
        }),
      );
    });
    return liveWindow(offset, limit, options)(reached);
  }

  get #end(): number {
    return Math.max(0, ...this.#ends);
  }

  #enter(end: number): void {
    const isFurther = end > this.#end;
    this.#ends.push(end);
    if (isFurther) this.#machine?.reach(end);
  }

  #leave(end: number): void {
    this.#ends.splice(this.#ends.indexOf(end), 1);
    if (this.isUnused) this.#machine = undefined;
    else if (end > this.#end) this.#machine?.reach(this.#end);
  }
}

/** The order of a set, as what another one is: the first one of a window has the cause of the first one of all. */
function ordered(set: Rows, { cause, initial, reset }: Rows): Rows {
  const { rev, synced, resourceVersion, origin, order, total } = set;
  const known = { rev, synced, resourceVersion, origin, order, total };
  const head = { ...known, cause, initial, reset };
  return createChangeSet<KubernetesObject, typeof head>(head, []);
}
