/** Queries as messages carry them: as data, or as the name of a query that the worker knows, with parameters. */

import type { Observable } from 'rxjs';
import { check, checkedName } from '../checks/checked-option.ts';
import type { LiveQueries } from '../factory/queries/create-live-queries.ts';
import type { LiveQuery } from '../query/live-query/live-query.ts';
import type { AnyChangeSet } from '../store/change-set.ts';
import { lostPart } from '../wire/json-data.ts';

/**
 * Names of queries of the worker, with the functions that make them of parameters. A function returns a query, or a stream
 * of the live queries that it receives, after live operators: `live.stream(query).pipe(liveGroupBy(…))`.
 */
export type WorkerQueries = Readonly<
  Record<
    string,
    (params: never, live: LiveQueries) => LiveQuery | Observable<AnyChangeSet<unknown>>
  >
>;

/** Queries with names: functions, as for {@link serveQueries}, or with what else a server must know of them. */
export type NamedQueries = Readonly<
  Record<string, WorkerQueries[string] | { readonly ask: WorkerQueries[string] }>
>;

type AskOf<Q> = Q extends { readonly ask: infer Ask } ? Ask : Q;
type MadeBy<Q> = AskOf<Q> extends (...args: never) => infer Made ? Made : never;
type ArgumentsOf<Q> = AskOf<Q> extends (...args: infer All) => unknown ? All : never;

declare const rows: unique symbol;

/** A query of the worker, created by {@link workerQuery}. */
export interface WorkerQuery<Row = unknown> {
  readonly named: string;
  readonly params?: unknown;
  /** Never set; carries the type of the rows. */
  readonly [rows]?: Row;
}

/** The most rows of a query without `select`, because copies of complete objects are costly. */
export const MOST_OBJECTS = 200;

/** A query as data. */
export type CarriedQuery = Readonly<Record<string, unknown>>;

/** The parameters of a query with a name, which may be anything. */
export const paramsOf = (carried: CarriedQuery): never => carried['params'] as never;

/** A query and the text that is equal for equal queries. */
export interface CheckedQuery {
  readonly query: CarriedQuery;
  readonly key: string;
}

type RowOfQuery<Q> =
  Q extends Observable<infer Set>
    ? Set extends Pick<AnyChangeSet<infer Row>, 'changes'>
      ? Row
      : never
    : Q extends LiveQuery<infer Row>
      ? Row
      : never;

/** The parameters that a tab sends. They may be left out if the function takes `undefined`. */
type ParamsOf<All extends readonly unknown[]> = All extends readonly []
  ? []
  : All extends readonly [params?: infer P, ...rest: unknown[]]
    ? undefined extends P
      ? [params?: P]
      : [params: P]
    : never;

/**
 * Names a query that {@link serveQueries} was given, and its parameters, which are data. Use it for queries with functions and
 * for streams, which cannot be sent to a worker. If the function in the worker throws, the error is in `status.error` of the view.
 *
 * Throws a `TypeError` if the name is not text, or if the parameters contain what is not data of JSON, such as a function, a
 * Date or a Set.
 *
 * @example
 * ```ts
 * import { liveQuery } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { workerQuery } from 'rx-informer/worker';
 *
 * // in the file of the worker: serveQueries({ createFactory, queries })
 * const queries = {
 *   podsOf: (namespace: string) =>
 *     liveQuery({
 *       from: pods,
 *       namespace,
 *       select: { key: 'name', project: ({ metadata }) => ({ name: metadata.name.toUpperCase() }) },
 *     }),
 * };
 * // in the page, with the type of the queries alone
 * const query = workerQuery<typeof queries, 'podsOf'>('podsOf', 'shop');
 * query.named; // => 'podsOf'
 * ```
 */
export function workerQuery<Q extends NamedQueries, Name extends keyof Q & string>(
  named: Name,
  ...[params]: ParamsOf<ArgumentsOf<Q[Name]>>
): WorkerQuery<RowOfQuery<MadeBy<Q[Name]>>> {
  checkedName(named, 'workerQuery: the name', 'a name of serveQueries({ queries })');
  checkData('workerQuery: the parameters', params);
  return params === undefined ? { named } : { named, params };
}

/**
 * Throws a `TypeError` that names the first part of a value that is not JSON: a function, or a value such as a Date, a Set,
 * NaN, or `undefined` in a list, which has the JSON of another value, so that two different queries would be taken for one.
 */
function checkData(where: string, value: unknown): void {
  const lost = lostPart(value);
  if (lost === undefined) return;
  const [what, ...path] = lost;
  const at = path.length === 0 ? where : `${where}: ${path.join('.')}`;
  const next =
    what === 'a function'
      ? 'register the query by serveQueries({ queries }), and ask workerQuery(name, params)'
      : 'pass data of JSON';
  throw new TypeError(`${at} is ${what}, which a worker cannot receive; ${next}`);
}

/** Throws a `TypeError` if a query would send many complete objects to a tab. */
export function checkSize(where: string, query: Pick<LiveQuery, 'select' | 'limit'>): void {
  const { select, limit } = query;
  if (select !== undefined || (limit !== undefined && limit <= MOST_OBJECTS)) return;
  throw new TypeError(
    `${where}: the query has no select, and its limit is ${limit ?? 'absent'}; give it select: { column: path, … }, or a limit of at most ${MOST_OBJECTS}`,
  );
}

/**
 * Checks what can be checked in a page without the code of queries; the worker checks the rest. Throws a `TypeError` if
 * a query cannot be sent to a worker.
 */
export function carryQuery(where: string, given: LiveQuery | WorkerQuery): CheckedQuery {
  check(Object(given) === given, `${where}: the query`, given, 'a live query, or workerQuery(…)');
  checkData(where, given);
  if (!('named' in given)) checkSize(where, given);
  // Only the data of the resource, without its type, and without the key of the query, which is not data.
  const key = JSON.stringify(given);
  return { query: JSON.parse(key) as CarriedQuery, key };
}
