/** The queries of a table whose rows are filtered, sorted and counted by the server of all users: the page has the rows around the screen. */
import type { View, ViewSnapshot } from 'rx-informer';
import { workerQuery } from 'rx-informer/worker';
import {
  BehaviorSubject,
  combineLatest,
  distinctUntilChanged,
  map,
  type Observable,
  Subscription,
  shareReplay,
  switchMap,
} from 'rxjs';
import { cluster } from '../cluster/cluster.ts';
import { type ShownStatus, statusOf } from '../cluster/shown-status.ts';
import type { Kind, Row } from '../kinds/kind.ts';
import { type HeldRows, idOf, type ShownOrder } from '../table/held-order.ts';
import type { RowRange, TableSource } from '../table/table-queries.ts';
import { type Count, type Counted, ofEach, type TableChoice } from '../table/table-streams.ts';
import type { CountOf, ServedQueries } from '../worker/served-queries.ts';
import { askedView, snapshotsOf, untilAnswered } from './asked-view.ts';

/** By how many rows the window moves. At least as many are known before and behind the screen. */
const STEP = 25;

function windowAround({ offset, limit }: RowRange): RowRange {
  const start = Math.max(0, Math.floor(offset / STEP - 1) * STEP);
  const end = Math.ceil((offset + limit) / STEP + 1) * STEP;
  return { offset: start, limit: end - start };
}

const whenChanged = <T>() =>
  distinctUntilChanged<T>((one, other) => JSON.stringify(one) === JSON.stringify(other));

/** The answer of the server for a window that begins at `offset`. */
interface WindowSnapshot extends ViewSnapshot<Row> {
  readonly offset: number;
}

/** The rows on the screen; none before the server has answered for its place. */
function rowsAt({ rows, offset }: WindowSnapshot, range: RowRange): WindowSnapshot['rows'] {
  const start = range.offset - offset;
  return start < 0 ? [] : rows.slice(start, start + range.limit);
}

/** The rows of a window, at their places in the whole table. */
class WindowOrder implements ShownOrder {
  readonly size: number;
  readonly offset: number;
  readonly rows: readonly Row[];

  constructor(rows: readonly Row[], offset: number, size: number) {
    this.rows = rows;
    this.offset = offset;
    this.size = size;
  }

  at(position: number): Row | undefined {
    return this.rows[position - this.offset];
  }

  idAt(position: number): string | undefined {
    const row = this.at(position);
    return row && idOf(row);
  }

  indexOf(id: string): number {
    const at = this.rows.findIndex((row) => idOf(row) === id);
    return at === -1 ? -1 : at + this.offset;
  }

  slice(start = 0, end = this.size): readonly Row[] {
    const first = start - this.offset;
    return first < 0 ? [] : this.rows.slice(first, end - this.offset);
  }
}

/** A window as it was when the user pointed at it. A row keeps its place, with the values of now. */
class HeldWindow extends WindowOrder implements HeldRows {
  readonly waiting: number;
  readonly #now: ReadonlyMap<string, Row>;

  constructor(held: WindowOrder, now: WindowOrder) {
    const byId = new Map(now.rows.map((row) => [idOf(row), row]));
    super(
      held.rows.map((row) => byId.get(idOf(row)) ?? row),
      held.offset,
      held.size,
    );
    this.#now = byId;
    const before = new Set(held.rows.map(idOf));
    this.waiting = now.rows.filter((row, at) => {
      const id = idOf(row);
      return !before.has(id) || idOf(held.rows[at] ?? row) !== id;
    }).length;
  }

  isGone(row: Row): boolean {
    return !this.#now.has(idOf(row));
  }
}

export class ServedTable implements TableSource {
  readonly range$ = new BehaviorSubject<RowRange>({ offset: 0, limit: STEP });
  readonly order$ = new BehaviorSubject<ShownOrder | undefined>(undefined);
  readonly isListed$ = new BehaviorSubject(false);
  readonly status$ = new BehaviorSubject<ShownStatus>({ refusedRows: [] });
  readonly held$ = new BehaviorSubject<HeldRows | undefined>(undefined);
  readonly table: View<Row>;
  readonly counts: Readonly<Record<Counted, View<Count>>>;
  readonly #window$: Observable<WindowSnapshot>;
  readonly #kind: Kind;
  /** What `order$` and `held$` have. */
  #order: WindowOrder | undefined;
  #held: HeldWindow | undefined;

  constructor(kind: Kind, page$: Observable<TableChoice>) {
    this.#kind = kind;
    const choice$ = page$.pipe(
      map(({ filter, namespace, tone, status, sort }) => ({
        ...{ kind: kind.id, filter, namespace, tone, status },
        ...(sort && { sort }),
      })),
      whenChanged(),
    );
    const around$ = this.range$.pipe(map(windowAround), whenChanged());
    this.#window$ = combineLatest([choice$, around$]).pipe(
      switchMap(([choice, { offset, limit }]) => {
        const asked = { ...choice, offset, limit };
        const query = workerQuery<ServedQueries, 'tableRows'>('tableRows', asked);
        return snapshotsOf(query).pipe(map((snapshot) => ({ ...snapshot, offset })));
      }),
      untilAnswered(),
      shareReplay({ bufferSize: 1, refCount: true }),
    );
    this.table = askedView(
      combineLatest([this.#window$, this.range$]).pipe(
        map(([window, range]) => ({ ...window, rows: rowsAt(window, range) })),
      ),
    );
    const counts$ = choice$.pipe(
      switchMap((choice) =>
        snapshotsOf(workerQuery<ServedQueries, 'tableCounts'>('tableCounts', choice)),
      ),
      untilAnswered(),
      shareReplay({ bufferSize: 1, refCount: true }),
    );
    const only = (of: Counted) => (all: ViewSnapshot<CountOf>) => ({
      ...all,
      rows: all.rows.filter((row) => row.of === of),
    });
    this.counts = ofEach((of) => askedView(counts$.pipe(map(only(of)))));
  }

  /** Keeps every row at its place until {@link release}. */
  hold(): void {
    if (this.#held === undefined && this.#order !== undefined) {
      this.#hold(new HeldWindow(this.#order, this.#order));
    }
  }

  release(): void {
    if (this.#held !== undefined) this.#hold(undefined);
  }

  #hold(held: HeldWindow | undefined): void {
    this.#held = held;
    this.held$.next(held);
  }

  start(): () => void {
    const running = new Subscription();
    const listed = cluster.view(workerQuery<ServedQueries, 'listed'>('listed', this.#kind.id));
    running.add(
      this.#window$.subscribe(({ rows, offset, total }) => {
        const before = this.#order;
        this.#order = new WindowOrder(rows, offset, total);
        this.order$.next(this.#order);
        // The rows of another window are at other places.
        if (before?.offset !== offset) this.release();
        else if (this.#held !== undefined) this.#hold(new HeldWindow(this.#held, this.#order));
      }),
    );
    for (const view of [this.table, ...Object.values(this.counts)]) {
      running.add(view.subscribe(() => undefined));
    }
    running.add(
      statusOf(listed, () => cluster.connection).subscribe((status) => {
        this.isListed$.next(listed.getSnapshot().synced);
        this.status$.next(status);
      }),
    );
    return () => running.unsubscribe();
  }
}
