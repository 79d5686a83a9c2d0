/** The rows of a kind: what is read from the server, the row that is made of each object, and what other kinds add. */
import {
  atMostEvery,
  type ChangeStream,
  conflateByKey,
  type KubernetesObject,
  type LiveQueries,
  type LiveQuery,
  liveJoin,
  liveQuery,
  liveSort,
  type OrderedChangeStream,
  parseFieldSelector,
  type Resource,
} from 'rx-informer';
import type { Kind, Row } from '../kinds/kind.ts';
import { orderOf } from '../kinds/order.ts';
import { type Used, usageKey, withUsage } from '../kinds/usage.ts';
import { presentFactory } from './cluster-factory.ts';
import { tableRowsOf } from './table-rows.ts';
import { usedBy } from './usage.ts';

/** The shortest time between two renderings of changed rows, in milliseconds, so that time is left for input. */
const PAINT_EVERY_MS = 200;

export interface Selectors {
  readonly labelSelector: string;
  readonly fieldSelector: string;
}

export const noSelectors: Selectors = { labelSelector: '', fieldSelector: '' };

/** The query of a kind as data. */
export function queryOf(kind: Kind, selectors?: Selectors): LiveQuery<Row, false> {
  const { labelSelector = '', fieldSelector = '' } = selectors ?? {};
  // Each kind reads its own resource.
  const { resource: from, as } = kind as Pick<Kind, 'as'> & {
    resource: Resource<KubernetesObject>;
  };
  const project = kind.row as (object: KubernetesObject) => Row;
  const fields = parseFieldSelector(fieldSelector);
  const query = {
    ...(labelSelector === '' ? {} : { labelSelector }),
    // As a condition, because a server selects by a few fields only, and each text would be a watch of its own.
    ...(fields.isEverything ? {} : { where: { key: `fields ${fields}`, test: fields.matches } }),
    select: { key: `row of ${kind.resource.plural}`, project },
  };
  const made = as === undefined ? liveQuery({ from, ...query }) : liveQuery({ from, as, ...query });
  return made as LiveQuery<Row, false>;
}

/** Paces a stream for the screens of all tabs: at most five times per second. The changes in between are folded. */
export function paced<T>(): (source: ChangeStream<T>) => ChangeStream<T> {
  return (source) => source.pipe(conflateByKey<T>({ ready: atMostEvery(PAINT_EVERY_MS) }));
}

/** The rows of a kind without what other kinds add to them. */
export function ownRowsOf(live: LiveQueries, kind: Kind, selectors?: Selectors): ChangeStream<Row> {
  if (kind.isTable) return tableRowsOf(presentFactory(), kind, selectors).pipe(paced());
  return live.stream(queryOf(kind, selectors)).pipe(paced());
}

/** The rows with what the objects use, if the cluster says it. */
function metered(kind: Kind, rows$: ChangeStream<Row>): ChangeStream<Row> {
  const used$ = kind.metered && usedBy(kind.metered);
  if (used$ === undefined) return rows$;
  const on = { left: usageKey, right: ({ key }: Used) => key };
  return rows$.pipe(liveJoin(used$, { on, one: true, project: withUsage }));
}

/** The rows of a kind with what other kinds add to them, in the order that a table begins with. */
export function rowsOf(
  live: LiveQueries,
  kind: Kind,
  selectors: Selectors,
): ChangeStream<object> | OrderedChangeStream<Row> {
  const own$ = ownRowsOf(live, kind, selectors);
  const joined$ = kind.join?.(own$, (other) => ownRowsOf(live, other)) ?? own$;
  // The page makes the rows of a tree of its branches.
  if (kind.show !== undefined) return joined$;
  return metered(kind, joined$ as ChangeStream<Row>).pipe(
    liveSort(orderOf(kind.sort, kind.columns)),
  );
}
