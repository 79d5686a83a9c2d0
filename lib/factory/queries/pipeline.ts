/** Builds the stream of a planned query: it holds the informers, reads them, and applies the rest of the query. */
import { type Observable, Subject } from 'rxjs';
import { takeUntil, tap } from 'rxjs/operators';
import { parseFieldSelector } from '../../meta/field-selector.ts';
import type { KubernetesObject, Stored } from '../../meta/kubernetes-object.ts';
import { parseLabelText } from '../../meta/label-selector.ts';
import { liveOperator } from '../../query/engine/live-operator.ts';
import type { LiveOptions } from '../../query/engine/machine.ts';
import { PassMachine } from '../../query/engine/row-machine.ts';
import { answerOf, filteredBy } from '../../query/live-query/answer.ts';
import type { QueryCondition } from '../../query/live-query/condition.ts';
import type { LiveQuery } from '../../query/live-query/live-query.ts';
import {
  type IndexFuncs,
  isData,
  type Predicate,
  predicateOf,
} from '../../query/live-query/predicate.ts';
import { indexedRows } from '../../query/operators/index-fan-out.ts';
import { liveShare } from '../../query/operators/live-share.ts';
import type { AnyChangeSet, ChangeSet } from '../../store/change-set.ts';
import { NAMESPACE_INDEX } from '../../store/index-funcs.ts';
import type { Hold, InformerPool } from '../shared-informers.ts';
import { withCommonAdditions } from './common-additions.ts';
import type { LocalScope } from './coverage.ts';
import { requestOf, type SourcePlan } from './plan.ts';
import type { SharedFirstRows } from './shared-first-rows.ts';

/** Holds the informer of a plan, which is created if it does not exist. */
export function holdInformer(
  informers: InformerPool,
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
    const labels = parseLabelText(labelSelector);
    predicates.push((object) => labels.matches(metadata(object)?.labels));
  }
  if (fieldSelector !== '') {
    const fields = parseFieldSelector(fieldSelector);
    predicates.push((object) => fields.matches(object));
  }
  return predicates;
}

/** The objects of an informer of which a source has those of one value of an index. */
export interface Beyond {
  readonly changes$: Observable<ChangeSet<KubernetesObject>>;
  find(key: string): Stored<KubernetesObject> | undefined;
  /** Whether an object has the value. */
  holds(object: unknown): boolean;
}

/** A layer between the informers and the queries that shows objects otherwise than the informers have them. */
export interface Layer {
  /**
   * The objects of a source as they are shown. `find` returns the object that the source has under a key, at the end of
   * a turn. Each subscription of the result begins with all objects. With `beyond`, the result also has objects that have
   * the value only by what the layer shows of them.
   */
  pass(
    source: Observable<ChangeSet<KubernetesObject>>,
    find: (key: string) => Stored<KubernetesObject> | undefined,
    beyond?: Beyond,
  ): Observable<ChangeSet<KubernetesObject>>;
}

/** The options of a pipeline. */
export interface PipelineOptions extends LiveOptions {
  readonly layer?: Layer | undefined;
  readonly firstRows: SharedFirstRows;
}

/** What a plan reads of its informer, and the predicates that remain. */
interface Read {
  readonly source: Observable<ChangeSet<KubernetesObject>>;
  readonly predicates: readonly Predicate[];
  /** Whether the predicates are of data alone. */
  readonly areData: boolean;
  /** Whether the informer shares the objects itself. */
  readonly isShared: boolean;
}

function read(
  { informer }: Hold,
  { index, local, where, rows, scope: { as } }: SourcePlan,
  { layer }: PipelineOptions,
): Read {
  const { indexer } = informer;
  const indices = indexer.getIndexers() as IndexFuncs;
  const predicates = [
    ...scopePredicates(local),
    ...where.map((condition) => predicateOf(condition, indices)),
  ];
  const isShared = index === undefined;
  const areData = where.every(isData);
  const source =
    rows?.(informer) ??
    (isShared ? withCommonAdditions(informer) : indexedRows(informer, index.name, index.value));
  // A layer shows complete objects.
  if (layer === undefined || as === 'metadata') return { source, predicates, areData, isShared };
  const find = (key: string) => indexer.getByKey(key);
  if (isShared) return { source: layer.pass(source, find), predicates, areData, isShared };
  // An object may leave and enter the value of the index by what the layer shows of it.
  const hasValue = predicateOf({ index: index.name, eq: index.value } as QueryCondition, indices);
  const holds = (object: unknown) => hasValue(object, 0) !== false;
  const own = (key: string) => {
    const object = find(key);
    return object !== undefined && holds(object) ? object : undefined;
  };
  return {
    source: layer.pass(source, own, { changes$: informer.changes$, find, holds }),
    predicates: [hasValue, ...predicates],
    areData: areData && index.name === NAMESPACE_INDEX,
    isShared,
  };
}

/** The objects of all sources, of which each has namespaces of its own. Completes with the first of them, because the rows of a stopped informer are outdated. */
function united(
  sources: readonly Observable<ChangeSet<KubernetesObject>>[],
  options: LiveOptions,
): Observable<ChangeSet<KubernetesObject>> {
  const [first, ...more] = sources;
  if (first !== undefined && more.length === 0) return first;
  const ended = new Subject<void>();
  const noted = sources.map((each) => each.pipe(tap({ complete: () => ended.next() })));
  const union = liveOperator<KubernetesObject, ChangeSet<KubernetesObject>>({
    ...options,
    name: 'live queries',
    sources: noted,
    params: [],
    create: (_values, context) => new PassMachine<KubernetesObject>(context, noted.length),
  });
  return union.pipe(takeUntil(ended));
}

/** The answer of a query that reads these informers, computed once for all subscribers. */
export function answerFrom(
  query: LiveQuery,
  sources: readonly (readonly [Hold, SourcePlan])[],
  options: PipelineOptions,
): Observable<AnyChangeSet<unknown>> {
  const reads = sources.map(([hold, plan]) => read(hold, plan, options));
  const [first, second] = reads;
  const isOne = first?.areData === true && second === undefined;
  const [objects, predicates] = isOne
    ? [first.source, first.predicates]
    : [
        united(
          reads.map((each) => filteredBy(each.predicates, each.source, options)),
          options,
        ),
        [],
      ];
  const [source] = sources;
  const answer = answerOf(query, objects, predicates, options, (make) =>
    isOne && source !== undefined
      ? options.firstRows.of(source[0].informer, source[1], query, make)
      : make(),
  );
  const isShared = reads.some((each) => each.isShared && each.source === answer);
  return isShared ? answer : (liveShare()(answer) as Observable<AnyChangeSet<unknown>>);
}
