/**
 * The steps from the rows of a kind to what a table shows. Each step narrows the one before it, and the counts stand between the steps,
 * so that they say how many rows a further choice would leave. All of them begin with one stream of rows, so that one commit changes
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
  type OrderedChangeStream,
  sum,
} from 'rx-informer';
import { distinctUntilChanged, map, type Observable } from 'rxjs';
import type { PageState } from '../cluster/page-state.ts';
import { type Kind, namespaceIn, type Row } from '../kinds/kind.ts';
import { byValue, type CompareRows, orderOf } from '../kinds/order.ts';
import { parseFilter, testOf } from './filter.ts';

const perGroup = {
  count: count<Row>(),
  bad: sum<Row>(({ tone }) => (tone === 'bad' ? 1 : 0)),
};

/** A key and the number of its rows. */
export type Count = GroupRow<typeof perGroup>;

/** What the user has chosen of the rows of a kind. */
export type TableChoice = Pick<PageState, 'filter' | 'namespace' | 'tone' | 'status' | 'sort'>;

/** What is counted: all rows, those that the table shows, or those that each choice would show. */
export const counted = ['all', 'shown', 'namespaces', 'tones', 'statuses'] as const;

export type Counted = (typeof counted)[number];

/** Makes something of each of the counts. */
export function ofEach<T>(make: (of: Counted) => T): Readonly<Record<Counted, T>> {
  return Object.fromEntries(counted.map((of) => [of, make(of)])) as Record<Counted, T>;
}

export interface TableStreams {
  readonly compare$: Observable<CompareRows>;
  /** All matching rows, in order. */
  readonly sorted$: OrderedChangeStream<Row>;
  readonly counts: Readonly<Record<Counted, OrderedChangeStream<Count>>>;
}

/** The children in a tree are not counted. */
const isCounted = (row: Row) => !row['depth'];

export const byKey = (one: Count, other: Count) => byValue(one.key, other.key);

function countsBy(rows$: ChangeStream<Row>, key: (row: Row) => string): OrderedChangeStream<Count> {
  return rows$.pipe(
    liveGroupBy((row: Row) => (isCounted(row) ? key(row) : undefined), perGroup),
    liveSort(byKey),
  );
}

/** `rows$` are those that the selectors of the filter select, and `everything$` all rows of the kind. */
export function tableStreams(
  kind: Kind,
  rows$: ChangeStream<Row>,
  everything$: ChangeStream<Row>,
  choice$: Observable<TableChoice>,
): TableStreams {
  const of = <V>(field: (choice: TableChoice) => V) =>
    choice$.pipe(map(field), distinctUntilChanged());
  /** The rows that pass a test of one field of the choice. */
  const narrowed = (
    from$: ChangeStream<Row>,
    field: (choice: TableChoice) => string,
    test: (value: string) => (row: Row) => boolean,
  ) => from$.pipe(liveFilter(of(field).pipe(map(test))), liveShare());
  const found$ = narrowed(
    rows$,
    ({ filter }) => parseFilter(filter, kind.id).words.join(' '),
    (words) => testOf(words.split(' ')),
  );
  const isIn = (field: 'namespace' | 'tone' | 'status') => (value: string) => (row: Row) =>
    value === '' || row[field] === value;
  const inNamespace$ = narrowed(found$, (choice) => namespaceIn(kind, choice), isIn('namespace'));
  const ofTone$ = narrowed(inNamespace$, ({ tone }) => tone, isIn('tone'));
  const matching$ = narrowed(ofTone$, ({ status }) => status, isIn('status'));
  const compare$ = of(({ sort }) => sort).pipe(
    map((sort = kind.sort) => orderOf(sort, kind.columns)),
  );
  return {
    compare$,
    sorted$: matching$.pipe(liveSort(compare$), liveShare()),
    counts: {
      all: countsBy(everything$, () => 'all'),
      shown: countsBy(matching$, () => 'shown'),
      namespaces: countsBy(found$, ({ namespace }) => namespace),
      tones: countsBy(inNamespace$, ({ tone }) => tone),
      statuses: countsBy(inNamespace$, ({ status }) => status),
    },
  };
}
