/** Decides which informers a query reads, and what is left to be done locally. */
import type { Observable } from 'rxjs';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { type Resource, resourceName } from '../../meta/resource.ts';
import type { QueryCondition } from '../../query/live-query/condition.ts';
import type { LiveQuery } from '../../query/live-query/live-query.ts';
import { collectNeeds, conjunctsOf } from '../../query/live-query/predicate.ts';
import type { ChangeSet } from '../../store/change-set.ts';
import { NAMESPACE_INDEX } from '../../store/index-funcs.ts';
import type { AnyInformer } from '../make-informer.ts';
import { type InformerScope, type ReadScope, readScope, scopeName } from '../scope.ts';
import type { Entry } from '../shared-informers.ts';
import { type LocalScope, localScope } from './coverage.ts';

/** The objects under a value of an index. */
export interface IndexRead {
  readonly name: string;
  readonly value: string;
}

/** One informer that a query reads. */
export interface SourcePlan {
  readonly name: string;
  readonly scope: ReadScope;
  /** `part`: it has some namespaces of the query, and other sources have the others. */
  readonly use: 'same' | 'wider' | 'part' | 'new';
  readonly reason: string;
  readonly index?: IndexRead;
  /** Reads the informer in place of all its objects, or those of an index: at least those that the selection leaves. */
  readonly rows?: ((informer: AnyInformer) => Observable<ChangeSet<KubernetesObject>>) | undefined;
  /** The selection that is made locally among the objects that are read. */
  readonly local: LocalScope;
  /** The conditions that are evaluated locally; without the one that the index answers. */
  readonly where: readonly QueryCondition[];
}

/** The properties of a factory that a plan depends on. */
export interface PlanContext {
  scopeOf(resource: Resource<KubernetesObject>, scope: InformerScope): ReadScope;
  entriesOf(resource: Resource<KubernetesObject>): readonly Entry[];
  nameOf(resource: Resource<KubernetesObject>, scope: ReadScope): string;
  /**
   * Whether conditions of indices are evaluated for each object, because a value of an index has objects of all clusters,
   * whose ids must be told apart. @defaultValue false
   */
  readonly isOverClusters?: boolean;
  /** Whether an informer of all namespaces may have only some of them. @defaultValue false */
  readonly hasFallback?: boolean;
  /** `undefined`: not known. */
  indicesOf(
    resource: Resource<KubernetesObject>,
    as: ReadScope['as'],
  ): readonly string[] | undefined;
}

/** A factory without informers, defaults and options. */
export const FRESH: PlanContext = {
  scopeOf: (resource, scope) => readScope(resource, scope, {}),
  entriesOf: () => [],
  nameOf: (resource, scope) =>
    [resourceName(resource), scopeName(scope)].filter((part) => part !== '').join('/'),
  indicesOf: () => undefined,
};

/** A request for the informer of exactly this scope, whatever the factory's defaults are. */
export function requestOf(scope: ReadScope): InformerScope {
  const { namespaces, labelSelector, fieldSelector, as } = scope;
  return {
    as,
    ...(namespaces.length === 0 ? { namespace: '' } : { namespaces }),
    labelSelector,
    fieldSelector,
  };
}

function askedScope(query: LiveQuery, context: PlanContext): ReadScope {
  const { from, as, namespace, labelSelector, fieldSelector } = query;
  return context.scopeOf(from, {
    as,
    ...(typeof namespace === 'string' ? { namespace } : { namespaces: namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  });
}

/** An index of a query that its informers do not have. */
export function missingIndex(query: LiveQuery, context: PlanContext): string | undefined {
  const known = context.indicesOf(query.from, query.as ?? 'object');
  if (query.where === undefined || known === undefined) return undefined;
  const needs = {
    paths: new Set<string>(),
    indices: new Set<string>(),
    functions: new Set<string>(),
  };
  collectNeeds(query.where, needs);
  return [...needs.indices].find((name) => !known.includes(name));
}

function checkIndices(query: LiveQuery, context: PlanContext): void {
  const missing = missingIndex(query, context);
  if (missing === undefined) return;
  const known = context.indicesOf(query.from, query.as ?? 'object') ?? [];
  throw new TypeError(
    `live queries: where.index is ${JSON.stringify(missing)}, but the informers of ${resourceName(query.from)} have only these indices: ${known.join(', ')}; add it by forResource(…, { indexers })`,
  );
}

/**
 * The selection among the objects of a running informer that gives those asked for; `undefined` if it lacks some, or is refused by the
 * server, which may permit what is asked for.
 */
function selectionFrom(
  { informer, scope }: Entry,
  asked: ReadScope,
  { from }: LiveQuery,
  { hasFallback, isOverClusters }: PlanContext,
): LocalScope | undefined {
  const { phase, blocked, access } = informer.status;
  if (phase === 'idle' || phase === 'stopped' || blocked !== undefined) return undefined;
  const mayLack = hasFallback === true && from.namespaced && scope.namespaces.length === 0;
  if (!mayLack) return localScope(asked, scope);
  // Before it is synced it is not known what the user may read, and of several clusters each may permit something else.
  if (isOverClusters || !informer.hasSynced) return undefined;
  if (access === undefined) return localScope(asked, scope);
  // None is permitted. In a scope an empty list would mean all.
  if (access.namespaces.length === 0) return undefined;
  const local = localScope(asked, { ...scope, namespaces: access.namespaces });
  // It may show more namespaces later.
  return local && { ...local, namespaces: asked.namespaces };
}

type Found = Pick<SourcePlan, 'name' | 'scope' | 'use' | 'reason' | 'local'>;

function findInformer(asked: ReadScope, query: LiveQuery, context: PlanContext): Found | undefined {
  const wider: (Found & { readonly synced: boolean; readonly size: number })[] = [];
  for (const entry of context.entriesOf(query.from)) {
    const { name, scope, informer } = entry;
    const own = localScope(asked, scope);
    if (own === undefined) continue;
    const isSame =
      own.namespaces === undefined &&
      scope.labelSelector === asked.labelSelector &&
      scope.fieldSelector === asked.fieldSelector;
    if (isSame) {
      const reason = 'the informer has exactly this scope';
      return { name, scope, use: 'same', reason, local: own };
    }
    const local = selectionFrom(entry, asked, query, context);
    if (local === undefined) continue;
    const reason = 'the informer runs and has all objects of the query';
    const size = informer.indexer.list().length;
    wider.push({ name, scope, use: 'wider', reason, local, synced: informer.hasSynced, size });
  }
  // The fewest objects to walk; a store that is not complete would have to be waited for.
  wider.sort((one, other) => +other.synced - +one.synced || one.size - other.size);
  return wider[0];
}

/** One of several informers that a query reads. */
interface ReadInformer {
  readonly found: Found;
  /** The namespaces that are read from it. */
  readonly namespaces: readonly string[];
}

/**
 * Running informers that together have some or all namespaces of the query, as few as possible. Each namespace is read
 * from one of them.
 */
function findSeveral(
  asked: ReadScope,
  query: LiveQuery,
  context: PlanContext,
): readonly ReadInformer[] {
  const found: ReadInformer[] = [];
  const entries = context.entriesOf(query.from);
  let rest = asked.namespaces;
  while (rest.length > 0) {
    const parts = entries.flatMap((entry) => {
      const { name, scope, informer } = entry;
      const has = (namespaces: readonly string[]) =>
        selectionFrom(entry, { ...asked, namespaces }, query, context);
      const namespaces = rest.filter((each) => has([each]) !== undefined);
      const local = namespaces.length === 0 ? undefined : has(namespaces);
      if (local === undefined) return [];
      const reason = `the informer runs and has the namespaces ${namespaces.join(', ')} of the query`;
      const own: Found = { name, scope, use: 'part', reason, local };
      return [{ found: own, namespaces, synced: informer.hasSynced }];
    });
    parts.sort(
      (one, other) =>
        other.namespaces.length - one.namespaces.length || +other.synced - +one.synced,
    );
    const [best] = parts;
    if (best === undefined) break;
    found.push(best);
    rest = rest.filter((each) => !best.namespaces.includes(each));
  }
  return found;
}

function newInformer(
  query: LiveQuery,
  scope: ReadScope,
  context: PlanContext,
  reason: string,
): Found {
  const name = context.nameOf(query.from, scope);
  return { name, scope, use: 'new', reason, local: { labelSelector: '', fieldSelector: '' } };
}

/** The informer of the namespaces that no running informer has. */
function informerOfRest(query: LiveQuery, rest: ReadScope, context: PlanContext): Found {
  const known = findInformer(rest, query, context);
  if (known !== undefined) {
    return { ...known, use: 'part', reason: 'the informer has the other namespaces of the query' };
  }
  const reason = 'no running informer has the other namespaces of the query';
  return newInformer(query, rest, context, reason);
}

function namespaceOf(condition: QueryCondition): string | undefined {
  const isNamespace = 'path' in condition && condition.path === 'metadata.namespace';
  if (!isNamespace || !('eq' in condition) || condition.as !== undefined) return undefined;
  const { eq } = condition;
  // The index has the objects without a namespace under '', but an absent value equals nothing.
  return typeof eq === 'string' && eq !== '' ? eq : undefined;
}

/** Chooses an index, which answers one condition or the namespace, and leaves the rest. */
function withIndex(query: LiveQuery, found: Found, { isOverClusters }: PlanContext): SourcePlan {
  const where = conjunctsOf(query.where);
  if (isOverClusters === true) return { ...found, where };
  const own = where.find((each) => 'index' in each) as { index: string; eq: string } | undefined;
  const { local, scope } = found;
  if (own !== undefined) {
    const rest = where.filter((each) => each !== (own as QueryCondition));
    return { ...found, index: { name: own.index, value: own.eq }, where: rest };
  }
  const [namespace, ...more] = local.namespaces ?? [];
  if (namespace !== undefined && more.length === 0) {
    const { namespaces: _answered, ...rest } = local;
    return { ...found, local: rest, index: { name: NAMESPACE_INDEX, value: namespace }, where };
  }
  const asked = where.find((each) => namespaceOf(each) !== undefined);
  const value = asked === undefined ? undefined : namespaceOf(asked);
  if (value === undefined || (scope.namespaces.length === 1 && scope.namespaces[0] === value)) {
    return { ...found, where };
  }
  const rest = where.filter((each) => each !== asked);
  return { ...found, index: { name: NAMESPACE_INDEX, value }, where: rest };
}

/**
 * Plans the sources of a query. Throws a `TypeError` if the factory's informers of the resource have no index of a name in
 * the query.
 */
export function planOf(query: LiveQuery, context: PlanContext): readonly SourcePlan[] {
  checkIndices(query, context);
  const asked = askedScope(query, context);
  const one = findInformer(asked, query, context);
  if (one !== undefined) return [withIndex(query, one, context)];
  const parts = asked.namespaces.length > 1 ? findSeveral(asked, query, context) : [];
  if (parts.length === 0) {
    const reason = 'no running informer has all objects of the query';
    return [withIndex(query, newInformer(query, asked, context, reason), context)];
  }
  const plans = parts.map((part) => withIndex(query, part.found, context));
  const namespaces = asked.namespaces.filter((each) =>
    parts.every((part) => !part.namespaces.includes(each)),
  );
  if (namespaces.length === 0) return plans;
  return [
    ...plans,
    withIndex(query, informerOfRest(query, { ...asked, namespaces }, context), context),
  ];
}

/**
 * The source of a query that reads an informer of this scope and no other, in whatever state it is. `undefined` if the informer lacks
 * objects that the query may ask for.
 */
export function planOfScope(
  query: LiveQuery,
  scope: ReadScope,
  context: PlanContext,
): SourcePlan | undefined {
  checkIndices(query, context);
  const local = localScope(askedScope(query, context), scope);
  if (local === undefined) return undefined;
  const name = context.nameOf(query.from, scope);
  const reason = 'this informer alone is read';
  return withIndex(query, { name, scope, use: 'wider', reason, local }, context);
}
