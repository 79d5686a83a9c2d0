/** Who the users of the load are, and what they ask: 200 queries, of 20 filters and sorts by ten windows. */
import { type LiveQuery, liveQuery } from 'rx-informer';
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
const FILTERS = [
  undefined,
  { path: 'status.phase', eq: 'Running' },
  { path: 'spec.nodeName', ne: 'node-7' },
  { path: 'metadata.name', contains: '0' },
] as const;

export const QUERIES: readonly LiveQuery[] = FILTERS.flatMap((where) =>
  SORTS.flatMap((path) =>
    Array.from({ length: 10 }, (_, window) =>
      liveQuery({
        ...{ from: pods, select, offset: window * 10, limit: 50 },
        ...(where !== undefined && { where }),
        orderBy: [{ path }, { path: 'metadata.name' }],
      } as never),
    ),
  ),
);

/** The five queries of a user. */
export const queriesOf = (user: number): readonly LiveQuery[] =>
  Array.from({ length: 5 }, (_, at) => QUERIES[(user * 7 + at * 43) % QUERIES.length] as LiveQuery);
