/** Who the users of the load are, and what they ask: 200 queries, of 20 filters and sorts by ten windows. */
import { type KubernetesObject, type LiveQuery, liveQuery } from 'rx-informer';
import { pods } from 'rx-informer/resources';

const NAMESPACES = 40;
const TEAMS = 20;

export const namespaceOf = (pod: number) => `ns-${pod % NAMESPACES}`;

/** Of ten users four see all, four are in one of 20 teams, and two have namespaces of their own. */
export function permittedTo(user: number): 'all' | readonly string[] {
  if (user % 10 < 4) return 'all';
  if (user % 10 < 8) return [namespaceOf(user % TEAMS), namespaceOf((user % TEAMS) + TEAMS)];
  return [namespaceOf(user), namespaceOf(user * 7 + 3), namespaceOf(user * 13 + 5)];
}

const select = {
  name: 'metadata.name',
  namespace: 'metadata.namespace',
  phase: 'status.phase',
  at: 'metadata.labels.at',
} as const;
const SORTS = [
  'metadata.name',
  'spec.nodeName',
  'status.phase',
  'metadata.namespace',
  'metadata.uid',
];
const valueAt = (pod: KubernetesObject, path: string) =>
  String(path.split('.').reduce<unknown>((part, name) => (part as never)?.[name], pod));
type Condition = { readonly path: string; readonly [operator: string]: string };
type Test = (value: string) => boolean;
/** Each as a condition, and as a function that no part of the library has seen. */
const FILTERS: readonly (readonly [Condition | undefined, Test])[] = [
  [undefined, () => true],
  [{ path: 'status.phase', eq: 'Running' }, (value) => value === 'Running'],
  [{ path: 'spec.nodeName', ne: 'node-7' }, (value) => value !== 'node-7'],
  [{ path: 'metadata.name', contains: '0' }, (value) => value.includes('0')],
];
const WINDOWS = 10;
const LIMIT = 50;

/** A query, and what it asks, for whoever computes the rows without the library. */
interface Question {
  readonly query: LiveQuery;
  readonly path: string;
  readonly offset: number;
  has(pod: KubernetesObject): boolean;
}

const QUESTIONS: readonly Question[] = FILTERS.flatMap(([where, test]) =>
  SORTS.flatMap((path) =>
    Array.from({ length: WINDOWS }, (_, window) => {
      const offset = window * 10;
      const query = liveQuery({
        ...{ from: pods, select, offset, limit: LIMIT },
        ...(where !== undefined && { where }),
        orderBy: [{ path }, { path: 'metadata.name' }],
      } as never);
      const has = (pod: KubernetesObject) => where === undefined || test(valueAt(pod, where.path));
      return { query, path, offset, has };
    }),
  ),
);

/** How many queries a user has. */
export const ASKED = 5;
const questionOf = (user: number, at: number) =>
  QUESTIONS[(user * 7 + at * 43) % QUESTIONS.length] as Question;

/** The queries of a user. */
export const queriesOf = (user: number): readonly LiveQuery[] =>
  Array.from({ length: ASKED }, (_, at) => questionOf(user, at).query);

/** The rows of a query of a user who may read this, computed of all Pods. Names differ in all namespaces. */
export function rowsOf(
  all: readonly KubernetesObject[],
  user: number,
  at: number,
  permitted = permittedTo(user),
): readonly unknown[] {
  const { path, offset, has } = questionOf(user, at);
  return all
    .filter(({ metadata }) => permitted === 'all' || permitted.includes(`${metadata?.namespace}`))
    .filter(has)
    .map((pod) => ({ pod, keys: [valueAt(pod, path), valueAt(pod, 'metadata.name')] }))
    .sort(({ keys: [a = '', b = ''] }, { keys: [c = '', d = ''] }) =>
      a < c || (a === c && b < d) ? -1 : 1,
    )
    .slice(offset, offset + LIMIT)
    .map(({ pod }) => Object.values(select).map((each) => valueAt(pod, each)));
}
