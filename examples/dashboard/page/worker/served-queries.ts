/** The queries with names that the server of all users answers: those of the worker, and the windows and the counts of tables. */
import {
  type ChangeStream,
  type KubernetesObject,
  type LiveQueries,
  liveMap,
  liveSort,
  liveUnion,
  liveWindow,
  type OrderedChangeStream,
  type Resource,
} from 'rx-informer';
import { deployments, events, pods, replicaSets } from 'rx-informer/resources';
import type { SharedQueriesByName } from 'rx-informer/server';
import { of } from 'rxjs';
import { kindGroups, kindOf } from '../kinds/index.ts';
import type { Kind, Row, Sort } from '../kinds/kind.ts';
import { orderOf } from '../kinds/order.ts';
import { readsOf } from '../kinds/reads.ts';
import { parseFilter } from '../table/filter.ts';
import {
  byKey,
  type Count,
  type Counted,
  ofEach,
  type TableChoice,
  type TableStreams,
  tableStreams,
} from '../table/table-streams.ts';
import { oneOf, queries, type RowOf } from './named-queries.ts';
import { noSelectors, ownRowsOf, rowsOf, type Selectors } from './row-queries.ts';
import { found, type Search } from './search.ts';
import { inTrouble } from './troubles.ts';

/** The kinds that the server has. Of ConfigMaps a table shows the metadata alone, which informers of complete objects do not have. */
const servedTables = kindGroups.flatMap(({ kinds }) => kinds).filter(({ as }) => as === undefined);

type Read = Resource<KubernetesObject>;

export const servedKinds: readonly Read[] = [
  ...new Set(servedTables.map(({ resource }) => resource as Read)),
];

export interface ServedChoice extends Omit<TableChoice, 'sort'> {
  readonly kind: string;
  /** @defaultValue that of the kind */
  readonly sort?: Sort | undefined;
}

/** A count of a table, and what is counted. */
export interface CountOf extends Count {
  readonly of: Counted;
}

interface Window {
  readonly offset: number;
  readonly limit: number;
}

/** The most rows of a window. */
const MOST = 500;
const LONGEST = 1_000;

function isText(given: unknown): given is string {
  return typeof given === 'string' && given.length <= LONGEST;
}

/** Whatever a page has sent may be anything. */
function servedKind(id: unknown): Kind {
  const kind = isText(id) ? kindOf(id) : undefined;
  // Without such a kind it is that of Pods.
  if (kind !== undefined && kind.id === id && servedTables.includes(kind)) return kind;
  throw new TypeError('this dashboard has no such kind');
}

function checkedChoice(given: ServedChoice): ServedChoice & TableChoice {
  const { kind, filter, namespace, tone, status, sort } = given;
  const texts = [filter, namespace, tone, status, sort?.key ?? ''];
  if (!texts.every(isText)) throw new TypeError('the choice of a table is texts');
  const { id } = servedKind(kind);
  const order = sort && { key: sort.key, descending: sort.descending === true };
  return { kind: id, filter, namespace, tone, status, sort: order };
}

function checkedWindow({ offset, limit }: Window): Window {
  if (Number.isSafeInteger(offset) && offset >= 0 && limit >= 1 && limit <= MOST) {
    return { offset, limit: Math.floor(limit) };
  }
  throw new TypeError(`a window has at most ${MOST} rows`);
}

/** What a table of the kind reads. A user of some namespaces may not read Nodes, so what they would add is left out. */
function tableReads(kind: Kind): readonly Read[] {
  const reads = readsOf(kind);
  const { resource } = kind;
  const isWithin = !resource.namespaced || reads.every(({ namespaced }) => namespaced);
  return isWithin ? reads : [resource as Read];
}

function rows(live: LiveQueries, kind: Kind, selectors: Selectors): ChangeStream<Row> {
  const isJoined = tableReads(kind).length === readsOf(kind).length;
  const stream$ = isJoined
    ? rowsOf(live, kind, selectors)
    : ownRowsOf(live, kind, selectors).pipe(liveSort(orderOf(kind.sort, kind.columns)));
  return stream$ as ChangeStream<Row>;
}

function streamsOf(given: ServedChoice, live: LiveQueries): TableStreams {
  const choice = checkedChoice(given);
  const kind = servedKind(choice.kind);
  const { labelSelector, fieldSelector } = parseFilter(choice.filter, kind.id);
  const rows$ = rows(live, kind, { labelSelector, fieldSelector });
  const isEverything = labelSelector === '' && fieldSelector === '';
  const everything$ = isEverything ? rows$ : rows(live, kind, noSelectors);
  return tableStreams(kind, rows$, everything$, of(choice));
}

interface OfKind {
  readonly kind: string;
}

const ofKind = ({ kind }: OfKind) => tableReads(servedKind(kind));
const ownOf = (kind: string) => [servedKind(kind).resource as Read];
const within = ({ namespace }: { readonly namespace: string }) => [namespace];
const known = (kind: OfKind & Selectors, live: LiveQueries) =>
  rows(live, servedKind(kind.kind), kind);

export const servedQueries = {
  tableRows: {
    reads: ofKind,
    ask: (given: ServedChoice & Window, live: LiveQueries) => {
      const { offset, limit } = checkedWindow(given);
      return streamsOf(given, live).sorted$.pipe(liveWindow(offset, limit));
    },
  },
  tableCounts: {
    reads: ofKind,
    ask: (given: ServedChoice, live: LiveQueries): OrderedChangeStream<CountOf> => {
      const { counts } = streamsOf(given, live);
      const named = (of: Counted) =>
        (counts[of] as unknown as ChangeStream<Count>).pipe(liveMap((row) => ({ ...row, of })));
      return liveUnion(ofEach(named)).pipe(liveSort<CountOf>(byKey));
    },
  },
  rows: { reads: ofKind, ask: known },
  momentaryRows: { reads: ofKind, ask: known },
  rowOf: {
    reads: ofKind,
    ask: (of: RowOf, live: LiveQueries) => oneOf(rows(live, servedKind(of.kind), noSelectors), of),
  },
  troubles: {
    reads: (kind: string) => ofKind({ kind }),
    ask: (kind: string, live: LiveQueries) =>
      rows(live, servedKind(kind), noSelectors).pipe(inTrouble),
  },
  listed: { reads: ownOf, ask: queries.listed },
  search: {
    reads: ofKind,
    ask: (of: Search, live: LiveQueries) => found(rows(live, servedKind(of.kind), noSelectors), of),
  },
  podsOf: { reads: [pods], ask: queries.podsOf, namespaces: within },
  containersOf: { reads: [pods], ask: queries.containersOf, namespaces: within },
  deploymentsOf: { reads: [deployments], ask: queries.deploymentsOf, namespaces: within },
  replicaSetsOf: { reads: [replicaSets], ask: queries.replicaSetsOf, namespaces: within },
  eventsOf: { reads: [events], ask: queries.eventsOf },
  eventsIn: {
    reads: [events],
    ask: queries.eventsIn,
    namespaces: (namespace: string) => [namespace],
  },
  podsOn: { reads: [pods], ask: queries.podsOn },
} satisfies SharedQueriesByName;

export type ServedQueries = typeof servedQueries;
