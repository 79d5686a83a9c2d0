/** The live queries of a table, which the page runs over the rows of its worker. */
import {
  type ChangeStream,
  liveWindow,
  type OrderedChangeStream,
  toView,
  type View,
} from 'rx-informer';
import { BehaviorSubject, map, type Observable, Subscription, skip, take } from 'rxjs';
import type { PageState } from '../cluster/page-state.ts';
import type { ShownStatus } from '../cluster/shown-status.ts';
import type { Kind, Row } from '../kinds/kind.ts';
import type { CompareRows } from '../kinds/order.ts';
import { HeldOrder, type HeldRows, type ShownOrder } from './held-order.ts';
import { type Count, type Counted, ofEach, tableStreams } from './table-streams.ts';

export interface RowRange {
  readonly offset: number;
  readonly limit: number;
}

/** What the components of a table read. */
export type TableSource = Pick<TableQueries, keyof TableQueries>;

const UNKNOWN: ShownStatus = { refusedRows: [] };

export class TableQueries {
  readonly range$ = new BehaviorSubject<RowRange>({ offset: 0, limit: 50 });
  /** All matching rows, in order. The table shows a window of them. */
  readonly order$ = new BehaviorSubject<ShownOrder | undefined>(undefined);
  /** Whether all rows are known, without what other kinds add to them. */
  readonly isListed$ = new BehaviorSubject(false);
  readonly status$: BehaviorSubject<ShownStatus> = new BehaviorSubject<ShownStatus>(UNKNOWN);
  /** The order that the table shows instead, while the user points at its rows. */
  readonly held$ = new BehaviorSubject<HeldRows | undefined>(undefined);

  /** The rows of {@link range$}; `total` counts the rows that match the filter. */
  readonly table: View<Row>;
  /** `all` and `shown` have one row, or none if there are none. */
  readonly counts: Readonly<Record<Counted, View<Count>>>;
  readonly #sorted$: OrderedChangeStream<Row>;
  readonly #compare$: Observable<CompareRows>;
  readonly #listed$: ChangeStream<unknown>;
  readonly #given$: Observable<ShownStatus>;
  #holding: Subscription | undefined;

  /**
   * `rows$` are those that the selectors of the filter select, `everything$` all rows of the kind, `listed$` is complete as
   * soon as their number is known, and `status$` is that of their informers, if the rows come from a worker.
   */
  constructor(
    kind: Kind,
    rows$: ChangeStream<Row>,
    everything$: ChangeStream<Row>,
    page$: Observable<PageState>,
    listed$: ChangeStream<unknown> = rows$,
    status$?: Observable<ShownStatus>,
  ) {
    this.#listed$ = listed$;
    const { compare$, sorted$, counts } = tableStreams(kind, rows$, everything$, page$);
    this.#compare$ = compare$;
    this.#sorted$ = sorted$;
    const offset$ = this.range$.pipe(map(({ offset }) => offset));
    const limit$ = this.range$.pipe(map(({ limit }) => limit));
    this.table = this.#sorted$.pipe(liveWindow(offset$, limit$), toView());
    this.#given$ = status$ ?? this.table.status$;
    this.counts = ofEach((of) => counts[of].pipe(toView()));
  }

  /** Keeps every row at its place until {@link release}, or until the user asks for other rows or another order. */
  hold(): void {
    const order = this.order$.value;
    if (this.#holding !== undefined || order === undefined) return;
    const holding = new Subscription();
    this.#holding = holding;
    holding.add(() => this.held$.next(undefined));
    let held: HeldOrder | undefined;
    holding.add(
      this.#compare$.pipe(take(1)).subscribe((compare) => {
        held = new HeldOrder(order.slice(), compare);
        this.held$.next(held);
      }),
    );
    // The first set has the rows that are held already.
    holding.add(
      this.#sorted$.pipe(skip(1)).subscribe((set) => {
        held = held?.after(set);
        if (held === undefined) this.release();
        else this.held$.next(held);
      }),
    );
  }

  release(): void {
    const holding = this.#holding;
    this.#holding = undefined;
    holding?.unsubscribe();
  }

  /** Keeps all queries up to date, also those that no component reads. The returned function ends that. */
  start(): () => void {
    const held = new Subscription();
    // First, so that the informer has all objects and the selectors of the filter are evaluated locally.
    held.add(this.counts.all.subscribe(() => undefined));
    held.add(this.#listed$.subscribe(({ synced }) => this.isListed$.next(synced)));
    held.add(this.#given$.subscribe((status) => this.status$.next(status)));
    held.add(this.#sorted$.subscribe(({ order }) => this.order$.next(order)));
    for (const view of [this.table, ...Object.values(this.counts)]) {
      held.add(view.subscribe(() => undefined));
    }
    held.add(() => this.release());
    return () => held.unsubscribe();
  }
}
