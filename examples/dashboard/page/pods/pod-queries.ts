/**
 * The live queries of the page. All of them begin with one stream of pods, so one commit changes the table and the
 * counts in the same turn. The cost of a commit is proportional to its changes, not to the number of pods.
 */
import {
  type Aggregate,
  type AnyChangeSet,
  type ChangeStream,
  count,
  type GroupRow,
  liveFilter,
  liveGroupBy,
  liveMap,
  liveShare,
  liveSort,
  liveWindow,
  type OrderedChangeStream,
  type RowOrder,
  type Stored,
  toView,
  type View,
} from 'rx-informer';
import type { Pod } from 'rx-informer/resources';
import { BehaviorSubject, map, Subscription } from 'rxjs';
import { versionHash, withHash, withoutHash } from '../../shared/fingerprint.ts';
import { type Filter, noFilter, testOf } from './filter.ts';
import { byText, orderOf, type Sort } from './order.ts';
import { type PodRow, podRow } from './pod-row.ts';

/** The positions of the rows that the table shows. */
export interface RowRange {
  readonly offset: number;
  readonly limit: number;
}

/** The version and the number of changes that the page has received. */
export interface Received {
  /** The version of the pods on the page. */
  readonly resourceVersion: string;
  /** The number of changes since the page was opened. */
  readonly changes: number;
}

const perGroup = { count: count<PodRow>() };

/** The fingerprint of pods and their versions, to compare with the server's. */
const fingerprint: Aggregate<Pod, number, number, number> = {
  value: ({ metadata }) => versionHash(metadata.uid, metadata.resourceVersion),
  initial: () => 0,
  add: withHash,
  remove: withoutHash,
  result: (sum) => sum,
};
const perCollection = { pods: count<Pod>(), fingerprint };

/** A key and the number of its pods. */
export type Count = GroupRow<typeof perGroup>;

/** The queries of a page and their parameters. */
export class PodQueries {
  readonly filter$ = new BehaviorSubject<Filter>(noFilter);
  readonly sort$ = new BehaviorSubject<Sort>({ key: 'name', descending: false });
  readonly range$ = new BehaviorSubject<RowRange>({ offset: 0, limit: 50 });
  /** All rows that match the filter, in order. The table shows a window of them. */
  readonly order$ = new BehaviorSubject<RowOrder<PodRow> | undefined>(undefined);
  readonly received$ = new BehaviorSubject<Received>({ resourceVersion: '', changes: 0 });

  /** The rows of {@link range$}; `total` counts the rows that match the filter. */
  readonly table: View<PodRow>;
  readonly phases: View<Count>;
  readonly namespaces: View<Count>;
  readonly tones: View<Count>;
  /**
   * One row about all pods at the version of {@link received$}, also those that cannot be shown; none if there are no
   * pods.
   */
  readonly totals: View<GroupRow<typeof perCollection>>;
  /** Complete pods by UID, for the details of one pod. */
  readonly pods: View<Pod>;

  readonly #pods$: ChangeStream<Pod>;
  readonly #sorted$: OrderedChangeStream<PodRow>;

  constructor(changes$: ChangeStream<Pod>) {
    const pods$ = changes$.pipe(liveShare());
    const rows$ = pods$.pipe(
      liveMap((pod: Stored<Pod>) => podRow(pod)),
      liveShare(),
    );
    this.#pods$ = pods$;
    this.#sorted$ = rows$.pipe(
      liveFilter(this.filter$.pipe(map(testOf))),
      liveSort(this.sort$.pipe(map(orderOf))),
      liveShare(),
    );
    const offset$ = this.range$.pipe(map(({ offset }) => offset));
    const limit$ = this.range$.pipe(map(({ limit }) => limit));
    this.table = this.#sorted$.pipe(liveWindow(offset$, limit$), toView());
    const countsBy = (key: (row: PodRow) => string): View<Count> =>
      rows$.pipe(
        liveGroupBy(key, perGroup),
        liveSort((one: Count, other: Count) => byText(one.key, other.key)),
        toView(),
      );
    this.phases = countsBy(({ phase }) => phase);
    this.namespaces = countsBy(({ namespace }) => namespace);
    this.tones = countsBy(({ tone }) => tone);
    this.totals = pods$.pipe(
      liveGroupBy(() => 'all', perCollection),
      toView(),
    );
    this.pods = pods$.pipe(toView());
  }

  /** Keeps all queries up to date, also those that no component reads. The returned function ends that. */
  start(): () => void {
    const held = new Subscription();
    held.add(this.#pods$.subscribe((set) => this.#receive(set)));
    held.add(this.#sorted$.subscribe(({ order }) => this.order$.next(order)));
    const { table, phases, namespaces, tones, totals, pods } = this;
    for (const view of [table, phases, namespaces, tones, totals, pods]) {
      held.add(view.subscribe(() => undefined));
    }
    return () => held.unsubscribe();
  }

  #receive({ resourceVersion, cause, changes }: AnyChangeSet<Pod>): void {
    const before = this.received$.value.changes;
    const received = before + (cause === 'watch' ? changes.length : 0);
    this.received$.next({ resourceVersion, changes: received });
  }
}
