/** `liveQuery`: a query as plain data. */
import { check, checkedSentCount, refusal, shownValue } from '../../checks/checked-option.ts';
import type { PartialObjectMetadata } from '../../decode/projection.ts';
import { normalFieldText } from '../../meta/field-selector.ts';
import { givenText } from '../../meta/given-selectors.ts';
import { isFields } from '../../meta/json-fields.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { normalLabelText } from '../../meta/label-selector.ts';
import { type Resource, resourceName } from '../../meta/resource.ts';
import { normalCondition, type QueryCondition } from './condition.ts';
import { checkMetadataPaths } from './metadata-paths.ts';
import { normalOrders, type OrderBy, type QueryOrder } from './order-by.ts';
import { checkField, checkFields, refused } from './refused.ts';
import { normalSelection, type QuerySelection, type RowOf, type Select } from './select.ts';
import type { Where } from './where.ts';

type OneOrSeveral<V> = V | readonly V[];

/** The argument of {@link liveQuery}. Only the first five fields reach a request. */
export interface LiveQuerySpec<
  T extends KubernetesObject,
  S = unknown,
  O = unknown,
  N = number | undefined,
> {
  readonly from: Resource<T>;
  /** `metadata` in a {@link MetadataQuerySpec}. @defaultValue complete objects */
  readonly as?: undefined;
  /** One namespace or several; '' means all, also if the factory has a namespace. @defaultValue that of the factory */
  readonly namespace?: OneOrSeveral<string> | undefined;
  /** As for `kubectl -l`. {@link formatLabelSelector} makes it of the `spec.selector` of an object. */
  readonly labelSelector?: string;
  /** As for `kubectl --field-selector`; the server decides which fields are supported. */
  readonly fieldSelector?: string;
  /** Which objects are in the answer. @defaultValue all */
  readonly where?: Where<T> | undefined;
  /** The columns of a row: `{ column: path }`, or a function with a key. @defaultValue the objects */
  readonly select?: S | undefined;
  /** The order of the rows, by one or several values. Ties are ordered by id. */
  readonly orderBy?: O | undefined;
  /** The most rows. Without `orderBy` the rows are ordered by namespace and name. */
  readonly limit?: N | undefined;
  /** How many rows are left out at the beginning. @defaultValue 0 */
  readonly offset?: N | undefined;
}

/**
 * The argument of {@link liveQuery} for the metadata alone. Only metadata is requested, as by an informer with
 * `as: 'metadata'`, so the contents of the objects do not reach this process.
 */
export interface MetadataQuerySpec<S = unknown, O = unknown, N = number | undefined>
  extends Omit<LiveQuerySpec<PartialObjectMetadata, S, O, N>, 'from' | 'as'> {
  readonly from: Resource<KubernetesObject>;
  readonly as: 'metadata';
}

declare const rows: unique symbol;

/**
 * A query as data: valid, frozen, in its one form. `JSON.stringify` writes it without its functions, and `liveQuery` takes
 * what `JSON.parse` reads.
 */
export interface LiveQuery<Row = unknown, Ordered extends boolean = boolean> {
  readonly from: Resource<KubernetesObject>;
  /** Only the metadata of the objects is read. */
  readonly as?: 'metadata';
  readonly namespace?: OneOrSeveral<string>;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly where?: QueryCondition;
  readonly select?: QuerySelection;
  readonly orderBy?: readonly QueryOrder[];
  readonly limit?: number;
  readonly offset?: number;
  /** Equal for equal queries. Not enumerable, so a copy of a query is not mistaken for that query. */
  readonly key: string;
  /** Never set; carries the type of the rows and whether they have an order. */
  readonly [rows]?: { readonly row: Row; readonly ordered: Ordered };
}

/** Whether a query with these types of `orderBy`, and of `limit` and `offset`, gives rows in an order. */
export type IsOrdered<O, Any, N> = [Any] extends [O] // nothing was inferred
  ? IsOrdered<undefined, 1, N>
  : [O] extends [undefined]
    ? [N] extends [undefined]
      ? false
      : undefined extends N
        ? boolean
        : true
    : undefined extends O
      ? boolean
      : true;

/** The query that a specification gives. */
export type QueryOf<T extends KubernetesObject, S, O, N> = LiveQuery<
  RowOf<T, S>,
  IsOrdered<O, OneOrSeveral<OrderBy<T>> | undefined, N>
>;

const FIELDS = [
  'from',
  'as',
  'namespace',
  'labelSelector',
  'fieldSelector',
  'where',
  'select',
  'orderBy',
  'limit',
  'offset',
];

/** A limit without an order would cut at random. */
const BY_NAME: readonly QueryOrder[] = [{ path: 'metadata.namespace' }, { path: 'metadata.name' }];

function checkedResource(from: unknown): Resource<KubernetesObject> {
  const names = ['group', 'version', 'plural', 'kind', 'apiVersion'];
  const isResource = isFields(from) && names.every((name) => typeof from[name] === 'string');
  checkField(isResource, 'from', from, 'a resource such as pods of rx-informer/resources');
  return from as unknown as Resource<KubernetesObject>;
}

function checkedNamespace(resource: Resource, namespace: unknown): OneOrSeveral<string> {
  const names: readonly unknown[] = Array.isArray(namespace) ? namespace : [namespace];
  const isList = Array.isArray(namespace);
  if (names.length === 0) refused('namespace', 'is empty; leave it out');
  for (const name of names) {
    const isName = typeof name === 'string' && !(isList && name === '');
    checkField(isName, 'namespace', namespace, "a namespace, a list of them, or ''");
  }
  if (!resource.namespaced && names.some((name) => name !== '')) {
    refused(
      'namespace',
      `is ${shownValue(namespace)}, but ${resourceName(resource)} is cluster-scoped`,
    );
  }
  const sorted = [...new Set(names as readonly string[])].sort();
  return sorted.length === 1 ? (sorted[0] as string) : sorted;
}

function checkedForm(as: unknown): 'metadata' | undefined {
  if (as === undefined || as === 'metadata') return as;
  throw refusal('liveQuery: as', as, "'metadata' or left out");
}

function selectorText(
  spec: object,
  field: 'labelSelector' | 'fieldSelector',
  normal: (text: string) => string,
): string {
  const text = givenText('liveQuery', spec, field);
  try {
    return normal(text);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return refused(field, `is not valid: ${error.message}`);
  }
}

function normalQuery(spec: unknown): Omit<LiveQuery, 'key'> {
  check(isFields(spec), 'liveQuery: the query', spec, '{ from, … }');
  checkFields('', spec, FIELDS);
  const from = checkedResource(spec['from']);
  const as = checkedForm(spec['as']);
  const { namespace, where, select, orderBy, limit, offset } = spec;
  const condition = where === undefined ? undefined : normalCondition(where);
  const isEverything = condition !== undefined && 'and' in condition && condition.and.length === 0;
  const start =
    offset === undefined ? 0 : checkedSentCount(offset as number, 'liveQuery: offset', 0);
  const isCut = limit !== undefined || offset !== undefined;
  const orders = orderBy === undefined ? (isCut ? BY_NAME : undefined) : normalOrders(orderBy);
  const query = {
    from,
    ...(as === undefined ? {} : { as }),
    ...(namespace === undefined ? {} : { namespace: checkedNamespace(from, namespace) }),
    ...('labelSelector' in spec && {
      labelSelector: selectorText(spec, 'labelSelector', normalLabelText),
    }),
    ...('fieldSelector' in spec && {
      fieldSelector: selectorText(spec, 'fieldSelector', normalFieldText),
    }),
    ...(condition === undefined || isEverything ? {} : { where: condition }),
    ...(select === undefined ? {} : { select: normalSelection(select) }),
    ...(orders === undefined ? {} : { orderBy: orders }),
    ...(limit === undefined
      ? {}
      : { limit: checkedSentCount(limit as number, 'liveQuery: limit', 0) }),
    ...(start === 0 ? {} : { offset: start }),
  };
  if (as !== undefined) checkMetadataPaths(query);
  return query;
}

/** Fields of a query in its one form have one order. Functions are not written, so their keys stand for them. */
function keyOf({ from, ...query }: Omit<LiveQuery, 'key'>): string {
  const { group, version, plural } = from;
  return JSON.stringify({ from: { group, version, plural }, ...query });
}

function frozen<V>(value: V): V {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const each of Object.values(value)) frozen(each);
  return Object.freeze(value);
}

const known = /* @__PURE__ */ new WeakSet<object>();

/**
 * Creates a query: which objects, in which order, and what of them. A query is plain data, so it can be compared, stored
 * and sent to a worker. Functions are allowed only beside a `key`, which stands for them.
 *
 * A condition is `{ path, operator: value }`, with one of the operators `eq`, `ne`, `in`, `lt`, `lte`, `gt`, `gte`,
 * `exists`, `prefix` and `contains`; `{ and }`, `{ or }` and `{ not }` combine conditions. A path passes arrays through, and
 * means "some element". Absent values, `null` included, equal nothing and are not less or greater than anything; `ne` is
 * the opposite of `eq`, so it holds for them. `as` says how both sides are read: `text`, `number`, `time` or `quantity`. A
 * value that cannot be read so equals nothing, too.
 *
 * With `as: 'metadata'` only the metadata is requested and answered, for example of Secrets or of a kind with large
 * objects. Conditions, order and columns then read paths of `metadata` only.
 *
 * Throws a `TypeError` that names the field if a field is invalid.
 *
 * @example
 * ```ts
 * import { label, liveQuery } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 *
 * const restarting = liveQuery({
 *   from: pods,
 *   namespace: ['shop', 'till'],
 *   where: {
 *     and: [
 *       { path: 'status.containerStatuses.restartCount', gte: 5 },
 *       { path: label('app.kubernetes.io/part-of'), eq: 'shop' },
 *     ],
 *   },
 *   select: { name: 'metadata.name', restarts: 'status.containerStatuses.restartCount' },
 *   orderBy: { path: 'metadata.creationTimestamp', direction: 'desc', as: 'time' },
 *   limit: 10,
 * });
 * const copy = liveQuery(JSON.parse(JSON.stringify(restarting)));
 * copy.key === restarting.key; // => true
 * ```
 */
export function liveQuery<
  const S extends Select<PartialObjectMetadata> | undefined,
  const O extends OneOrSeveral<OrderBy<PartialObjectMetadata>> | undefined,
  N extends number | undefined = undefined,
>(spec: MetadataQuerySpec<S, O, N>): QueryOf<PartialObjectMetadata, S, O, N>;
export function liveQuery<
  T extends KubernetesObject,
  // Without defaults, which the compiler would take for the types of functions in place.
  const S extends Select<T> | undefined,
  const O extends OneOrSeveral<OrderBy<T>> | undefined,
  N extends number | undefined = undefined,
>(spec: LiveQuerySpec<T, S, O, N>): QueryOf<T, S, O, N>;
export function liveQuery(spec: object): LiveQuery {
  return checkedQuery(spec);
}

/** {@link liveQuery} for a query whose types are not known, such as one of a caller or of another realm. */
export function checkedQuery(given: object): LiveQuery {
  if (known.has(given)) return given as LiveQuery;
  const query = normalQuery(given);
  Object.defineProperty(query, 'key', { value: keyOf(query) });
  frozen(query);
  known.add(query);
  return query as LiveQuery;
}
