/** `explain`: what a query reads from where, and why. */
import { resourceName } from '../../meta/resource.ts';
import { checkedQuery, type LiveQuery } from '../../query/live-query/live-query.ts';
import { collectNeeds } from '../../query/live-query/predicate.ts';
import { isKeyed } from '../../query/live-query/select.ts';
import { FRESH, type IndexRead, planOf, type SourcePlan } from './plan.ts';

/** An informer that a query reads. */
export interface ExplainedSource {
  /** The name of the informer: `pods/shop`. */
  readonly informer: string;
  /**
   * Whether the informer has exactly the query's scope, a wider one, some of its namespaces (`part`; other sources have
   * the others), or is created for the query.
   */
  readonly use: 'same' | 'wider' | 'part' | 'new';
  readonly reason: string;
  /** The scope that the informer requests; no namespace means all. */
  readonly requests: {
    readonly namespaces: readonly string[];
    readonly labelSelector: string;
    readonly fieldSelector: string;
    /** Present if only the metadata is requested. */
    readonly as?: 'metadata';
  };
  /** The index that is read, so that a commit costs only what it changes under this value. */
  readonly index?: IndexRead;
  /** The conditions that are evaluated locally, for each object that is read. */
  readonly local: readonly string[];
}

/** The informers that a query reads, and the reasons. It is plain data. */
export interface QueryExplanation {
  readonly key: string;
  readonly resource: string;
  readonly sources: readonly ExplainedSource[];
  /** The steps that all selected objects pass through, in this order. */
  readonly local: readonly string[];
  /** The paths that the query reads. */
  readonly paths: readonly string[];
  /** The keys of the functions of the query. */
  readonly functions: readonly string[];
  /** Whether complete objects are needed: for the rows, or for a function. */
  readonly wholeObjects: boolean;
  /** All of this for a reader. */
  readonly text: string;
}

function explainedSource({
  name,
  use,
  reason,
  scope,
  index,
  local,
  where,
}: SourcePlan): ExplainedSource {
  const { namespaces, labelSelector, fieldSelector, as } = scope;
  return {
    informer: name,
    use,
    reason,
    requests: {
      ...{ namespaces, labelSelector, fieldSelector },
      ...(as === 'metadata' ? { as } : {}),
    },
    ...(index === undefined ? {} : { index }),
    local: [
      ...(local.namespaces === undefined ? [] : [`namespace in ${local.namespaces.join(', ')}`]),
      ...(local.labelSelector === '' ? [] : [`labelSelector ${local.labelSelector}`]),
      ...(local.fieldSelector === '' ? [] : [`fieldSelector ${local.fieldSelector}`]),
      ...where.map((each) => `where ${JSON.stringify(each)}`),
    ],
  };
}

function stepsAfter({ orderBy, offset, limit, select }: LiveQuery, sources: number): string[] {
  const orders = orderBy?.map((order) =>
    'compare' in order
      ? order.key
      : [order.path, order.as === undefined ? '' : `as ${order.as}`, order.direction ?? '']
          .filter((part) => part !== '')
          .join(' '),
  );
  const window = [
    ...(offset === undefined ? [] : [`offset ${offset}`]),
    ...(limit === undefined ? [] : [`limit ${limit}`]),
  ];
  const columns =
    select === undefined || isKeyed(select) ? [] : [`select ${Object.keys(select).join(', ')}`];
  return [
    ...(sources === 1 ? [] : [`union of ${sources} informers`]),
    ...(orders === undefined ? [] : [`orderBy ${orders.join(', ')}`]),
    // It may keep objects out.
    ...(select !== undefined && isKeyed(select) ? [`select ${select.key}`] : []),
    ...window,
    ...columns,
  ];
}

function needsOf(query: LiveQuery, plans: readonly SourcePlan[]) {
  const needs = {
    paths: new Set<string>(),
    indices: new Set<string>(),
    functions: new Set<string>(),
  };
  const { where, select, orderBy = [] } = query;
  if (where !== undefined) collectNeeds(where, needs);
  for (const order of orderBy) {
    if ('compare' in order) needs.functions.add(order.key);
    else needs.paths.add(order.path);
  }
  if (select !== undefined && isKeyed(select)) needs.functions.add(select.key);
  else for (const path of Object.values(select ?? {})) needs.paths.add(path as string);
  for (const { local } of plans) {
    if (local.namespaces !== undefined) needs.paths.add('metadata.namespace');
    if (local.labelSelector !== '') needs.paths.add('metadata.labels');
  }
  const wholeObjects =
    query.as === undefined &&
    (select === undefined || needs.functions.size + needs.indices.size > 0);
  return {
    paths: [...needs.paths].sort(),
    functions: [...needs.functions].sort(),
    wholeObjects,
  };
}

function textOf(explanation: Omit<QueryExplanation, 'text'>): string {
  const { resource, sources, local, paths, wholeObjects } = explanation;
  const needed = sources.some(({ requests }) => requests.as === 'metadata')
    ? 'the metadata of the objects'
    : wholeObjects
      ? 'complete objects'
      : paths.join(', ');
  const lines = [`query of ${resource}`];
  for (const { informer, use, reason, requests, index, local: own } of sources) {
    const { namespaces, labelSelector, fieldSelector } = requests;
    lines.push(
      `  ${use === 'new' ? 'creates' : 'reads'} the informer ${informer}: ${reason}`,
      `    requests ${namespaces.length === 0 ? 'all namespaces' : namespaces.join(', ')}${labelSelector === '' ? '' : `, labels ${labelSelector}`}${fieldSelector === '' ? '' : `, fields ${fieldSelector}`}${requests.as === undefined ? '' : ', metadata only'}`,
    );
    if (index !== undefined) {
      lines.push(`    reads the index ${index.name} at ${JSON.stringify(index.value)}`);
    }
    for (const each of own) lines.push(`    selects locally: ${each}`);
  }
  for (const each of local) lines.push(`  then ${each}`);
  lines.push(`  needs ${needed}`);
  return lines.join('\n');
}

/** Explains a query with these sources. */
export function explanationOf(query: LiveQuery, plans: readonly SourcePlan[]): QueryExplanation {
  const explanation = {
    key: query.key,
    resource: resourceName(query.from),
    sources: plans.map(explainedSource),
    local: stepsAfter(query, plans.length),
    ...needsOf(query, plans),
  };
  return { ...explanation, text: textOf(explanation) };
}

/**
 * Explains what a query would do in a factory without informers and defaults. `createLiveQueries(…).explain` explains
 * what it does in a factory.
 *
 * @example
 * ```ts
 * import { explain, liveQuery } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 *
 * const query = liveQuery({
 *   from: pods,
 *   namespace: 'shop',
 *   where: { path: 'status.phase', ne: 'Running' },
 *   select: { name: 'metadata.name' },
 * });
 * const { sources, paths } = explain(query);
 * sources[0]?.requests.namespaces; // => ['shop']
 * sources[0]?.local; // => ['where {"path":"status.phase","ne":"Running"}']
 * paths; // => ['metadata.name', 'status.phase']
 * ```
 */
export function explain(query: LiveQuery): QueryExplanation {
  const sound = checkedQuery(query);
  return explanationOf(sound, planOf(sound, FRESH));
}
