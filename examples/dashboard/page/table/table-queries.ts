/**
 * The live queries of a table. Each step narrows the one before it, and the counts stand between the steps, so that they
 * say how many rows a further choice would leave. All of them begin with one stream of rows, so that one commit changes
 * the table and the counts in the same turn. The cost of a commit is proportional to its changes.
 */
import {
  type ChangeStream,
  count,
  type GroupRow,
  liveFilter,
  liveGroupBy,
  liveShare,
  liveSort,
  liveWindow,
  type OrderedChangeStream,
  type RowOrder,
  sum,
  toView,
  type View,
} from 'rx-informer';
import {
  BehaviorSubject,
  distinctUntilChanged,
  map,
  type Observable,
  Subscription,
  skip,
  take,
} from 'rxjs';
import type { PageState } from '../cluster/page-state.ts';
import type { ShownStatus } from '../cluster/shown-status.ts';
import { type Kind, namespaceIn, type Row } from '../kinds/kind.ts';
import { byValue, type CompareRows, orderOf } from '../kinds/order.ts';
import { parseFilter, testOf } from './filter.ts';
import { HeldOrder } from './held-order.ts';

export interface RowRange {
  readonly offset: number;
  readonly limit: number;
}

const perGroup = {
  count: count<Row>(),
  bad: sum<Row>(({ tone }) => (tone === 'bad' ? 1 : 0)),
};

/** A key and the number of its rows. */
export type Count = GroupRow<typeof perGroup>;

const UNKNOWN: ShownStatus = { refusedRows: [] };

/** The children in a tree are not counted. */
const isCounted = (row: Row) => !row['depth'];

export class TableQueries {
  readonly range$ = new BehaviorSubject<RowRange>({ offset: 0, limit: 50 });
  /** All matching rows, in order. The table shows a window of them. */
  readonly order$ = new BehaviorSubject<RowOrder<Row> | undefined>(undefined);
  /** Whether all rows are known, without what other kinds add to them. */
  readonly isListed$ = new BehaviorSubject(false);
  readonly status$: BehaviorSubject<ShownStatus> = new BehaviorSubject<ShownStatus>(UNKNOWN);
  /** The order that the table shows instead, while the user points at its rows. */
  readonly held$ = new BehaviorSubject<HeldOrder | undefined>(undefined);

  /** The rows of {@link range$}; `total` counts the rows that match the filter. */
  readonly table: View<Row>;
  /** One row with the number of all objects; none if there are none. */
  readonly all: View<Count>;
  readonly shown: View<Count>;
  readonly namespaces: View<Count>;
  readonly tones: View<Count>;
  readonly statuses: View<Count>;
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
    const of = <V>(field: (page: PageState) => V) => page$.pipe(map(field), distinctUntilChanged());
    /** The rows that pass a test of one field of the page. */
    const narrowed = (
      from$: ChangeStream<Row>,
      field: (page: PageState) => string,
      test: (value: string) => (row: Row) => boolean,
    ) => from$.pipe(liveFilter(of(field).pipe(map(test))), liveShare());
    const found$ = narrowed(
      rows$,
      ({ filter }) => parseFilter(filter, kind.id).words.join(' '),
      (words) => testOf(words.split(' ')),
    );
    const isIn = (field: 'namespace' | 'tone' | 'status') => (value: string) => (row: Row) =>
      value === '' || row[field] === value;
    const inNamespace$ = narrowed(found$, (page) => namespaceIn(kind, page), isIn('namespace'));
    const ofTone$ = narrowed(inNamespace$, ({ tone }) => tone, isIn('tone'));
    const matching$ = narrowed(ofTone$, ({ status }) => status, isIn('status'));
    this.#compare$ = of(({ sort }) => sort).pipe(
      map((sort = kind.sort) => orderOf(sort, kind.columns)),
    );
    this.#sorted$ = matching$.pipe(liveSort(this.#compare$), liveShare());
    const offset$ = this.range$.pipe(map(({ offset }) => offset));
    const limit$ = this.range$.pipe(map(({ limit }) => limit));
    this.table = this.#sorted$.pipe(liveWindow(offset$, limit$), toView());
    this.#given$ = status$ ?? this.table.status$;
    const countsBy = (stream$: ChangeStream<Row>, key: (row: Row) => string): View<Count> =>
      stream$.pipe(
        liveGroupBy((row: Row) => (isCounted(row) ? key(row) : undefined), perGroup),
        liveSort((one: Count, other: Count) => byValue(one.key, other.key)),
        toView(),
      );
    this.all = countsBy(everything$, () => 'all');
    this.shown = countsBy(matching$, () => 'shown');
    this.namespaces = countsBy(found$, ({ namespace }) => namespace);
    this.tones = countsBy(inNamespace$, ({ tone }) => tone);
    this.statuses = countsBy(inNamespace$, ({ status }) => status);
  }

  /** Keeps every row at its place until {@link release}, or until the user asks for other rows or another order. */
  hold(): void {
    const order = this.order$.value;
    if (this.#holding !== undefined || order === undefined) return;
    const holding = new Subscription();
    this.#holding = holding;
    holding.add(() => this.held$.next(undefined));
    holding.add(
      this.#compare$
        .pipe(take(1))
        .subscribe((compare) => this.held$.next(new HeldOrder(order.slice(), compare))),
    );
    // The first set has the rows that are held already.
    holding.add(
      this.#sorted$.pipe(skip(1)).subscribe((set) => {
        const next = this.held$.value?.after(set);
        if (next === undefined) this.release();
        else this.held$.next(next);
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
    held.add(this.all.subscribe(() => undefined));
    held.add(this.#listed$.subscribe(({ synced }) => this.isListed$.next(synced)));
    held.add(this.#given$.subscribe((status) => this.status$.next(status)));
    held.add(this.#sorted$.subscribe(({ order }) => this.order$.next(order)));
    const { table, shown, namespaces, tones, statuses } = this;
    for (const view of [table, shown, namespaces, tones, statuses]) {
      held.add(view.subscribe(() => undefined));
    }
    held.add(() => this.release());
    return () => held.unsubscribe();
  }
}
