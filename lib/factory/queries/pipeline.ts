/** Builds the stream of a planned query: it holds the informers, reads them, and applies the rest of the query. */
import { type Observable, Subject } from 'rxjs';
import { takeUntil, tap } from 'rxjs/operators';
import { parseFieldSelector } from '../../meta/field-selector.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { parseLabelSelector } from '../../meta/label-selector.ts';
import type { LiveOptions } from '../../query/engine/operator.ts';
import { answerOf, filteredBy } from '../../query/live-query/answer.ts';
import type { LiveQuery } from '../../query/live-query/live-query.ts';
import { type IndexFuncs, type Predicate, predicateOf } from '../../query/live-query/predicate.ts';
import { liveShare } from '../../query/operators/live-share.ts';
import { liveUnion } from '../../query/operators/live-union.ts';
import { liveIndex } from '../../query/sources/live-index.ts';
import type { AnyChangeSet, ChangeSet } from '../../store/change-set.ts';
import type { Hold, SharedInformers } from '../shared-informers.ts';
import type { LocalScope } from './coverage.ts';
import { requestOf, type SourcePlan } from './plan.ts';

/** Holds the informer of a plan, which is created if it does not exist. */
export function holdInformer(
  informers: SharedInformers,
  query: LiveQuery,
  { scope }: SourcePlan,
): Hold {
  return informers.acquire(query.from, requestOf(scope));
}

function scopePredicates({ namespaces, labelSelector, fieldSelector }: LocalScope): Predicate[] {
  const predicates: Predicate[] = [];
  const metadata = (object: unknown) => (object as KubernetesObject).metadata;
  if (namespaces !== undefined) {
    const names = new Set(namespaces);
    predicates.push((object) => names.has(metadata(object)?.namespace ?? ''));
  }
  if (labelSelector !== '') {
    const labels = parseLabelSelector(labelSelector);
    predicates.push((object) => labels.matches(metadata(object)?.labels));
  }
  if (fieldSelector !== '') {
    const fields = parseFieldSelector(fieldSelector);
    predicates.push((object) => fields.matches(object));
  }
  return predicates;
}

function read(
  { informer }: Hold,
  { index, local, where }: SourcePlan,
  options: LiveOptions,
): Observable<ChangeSet<KubernetesObject>> {
  const indices = informer.indexer.getIndexers() as unknown as IndexFuncs;
  const predicates = where.map((condition) => predicateOf(condition, indices));
  const source =
    index === undefined ? informer.changes$ : liveIndex(informer, index.name, index.value, options);
  return filteredBy([...scopePredicates(local), ...predicates], source, options);
}

/** The objects of all sources. Completes with the first of them, because the rows of a stopped informer are outdated. */
function united(
  sources: readonly Observable<ChangeSet<KubernetesObject>>[],
  options: LiveOptions,
): Observable<ChangeSet<KubernetesObject>> {
  const [first, ...more] = sources;
  if (first !== undefined && more.length === 0) return first;
  const ended = new Subject<void>();
  const noted = sources.map((each) => each.pipe(tap({ complete: () => ended.next() })));
  return liveUnion(noted, options).pipe(takeUntil(ended));
}

/** The answer of a query that reads these informers, computed once for all subscribers. */
export function answerFrom(
  query: LiveQuery,
  sources: readonly (readonly [Hold, SourcePlan])[],
  options: LiveOptions,
): Observable<AnyChangeSet<unknown>> {
  const objects = united(
    sources.map(([hold, plan]) => read(hold, plan, options)),
    options,
  );
  const answer = answerOf(query, objects, options);
  // An informer shares its objects itself.
  const isShared = sources.some(([{ informer }]) => informer.changes$ === answer);
  return isShared ? answer : (liveShare()(answer) as Observable<AnyChangeSet<unknown>>);
}
