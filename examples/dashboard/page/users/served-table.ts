/** The queries of a table whose rows are filtered, sorted and counted by the server of all users: the page has the rows around the screen. */
import type { Stored, View, ViewSnapshot } from 'rx-informer';
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
import { KnownRows } from '../cluster/row-changes.ts';
import { type ShownStatus, statusOf } from '../cluster/shown-status.ts';
import type { Kind, Row, Sort } from '../kinds/kind.ts';
import { orderOf } from '../kinds/order.ts';
import { HeldOrder, type HeldRows, idOf, type ShownOrder } from '../table/held-order.ts';
import type { RowRange, TableSource } from '../table/table-queries.ts';
import { type Count, type Counted, ofEach, type TableChoice } from '../table/table-streams.ts';
import type { CountOf, ServedQueries } from '../worker/served-queries.ts';
import { answersOf, askedView, untilAnswered } from './asked-view.ts';

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
  readonly sort?: Sort;
}

/** The rows on the screen; none before the server has answered for its place. */
function rowsAt({ rows, offset }: WindowSnapshot, range: RowRange): WindowSnapshot['rows'] {
  const start = range.offset - offset;
  return start < 0 ? [] : rows.slice(start, start + range.limit);
}

/** The rows of a window at their places in the whole table, of which no others are known. */
function placed({ rows, offset, total }: WindowSnapshot): readonly Row[] {
  const all: Row[] = [];
  all.length = total;
  for (const [at, row] of rows.entries()) all[offset + at] = row;
  return all;
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
  #offset = 0;
  /** What `order$` and `held$` have. */
  #order: HeldOrder | undefined;
  #held: HeldOrder | undefined;
  readonly #known = new KnownRows<Row>(idOf);

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
        const { sort } = choice;
        return answersOf(query).pipe(
          map((snapshot) => ({ ...snapshot, offset, ...(sort && { sort }) })),
        );
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
        answersOf(workerQuery<ServedQueries, 'tableCounts'>('tableCounts', choice)),
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
    this.#hold(this.#held ?? this.#order);
  }

  release(): void {
    if (this.#held !== undefined) this.#hold(undefined);
  }

  #hold(held: HeldOrder | undefined): void {
    this.#held = held;
    this.held$.next(held);
  }

  start(): () => void {
    const running = new Subscription();
    const listed = cluster.view(workerQuery<ServedQueries, 'listed'>('listed', this.#kind.id));
    running.add(
      this.#window$.subscribe((window) => {
        const { sort = this.#kind.sort } = window;
        const changes = this.#known.next(window.rows as readonly Stored<Row>[]);
        this.#order = new HeldOrder(placed(window), orderOf(sort, this.#kind.columns));
        this.order$.next(this.#order);
        // The rows of another window are at other places.
        if (this.#offset !== window.offset) this.release();
        else this.#hold(this.#held?.after({ changes, cause: 'watch', reset: false }));
        this.#offset = window.offset;
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
