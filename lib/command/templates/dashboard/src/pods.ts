/** What the table asks for: its columns, and the query of one page. */
import { type LiveQuery, liveQuery } from 'rx-informer';
import { pods } from 'rx-informer/resources';

/** The columns of the table: their titles, and the paths by which they are sorted. */
export const COLUMNS = [
  { id: 'namespace', title: 'Namespace', path: 'metadata.namespace' },
  { id: 'name', title: 'Name', path: 'metadata.name' },
  { id: 'phase', title: 'Phase', path: 'status.phase' },
  { id: 'node', title: 'Node', path: 'spec.nodeName' },
  { id: 'created', title: 'Created', path: 'metadata.creationTimestamp' },
] as const;

export type Column = (typeof COLUMNS)[number];

/** A row has only what the page shows, so another change of a Pod renders nothing. */
export interface PodRow {
  readonly uid: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly phase: string | undefined;
  readonly node: string | undefined;
  readonly created: string | undefined;
}

/** What the user has chosen. */
export interface Choice {
  readonly filter: string;
  readonly column: Column;
  readonly direction: 'asc' | 'desc';
  readonly page: number;
}

/** How many rows a page has. */
export const PAGE_SIZE = 25;

/** The rows of one page. All pages read from one informer, so another choice sends no request. */
export function podsQuery({ filter, column, direction, page }: Choice): LiveQuery<PodRow> {
  return liveQuery({
    from: pods,
    where: {
      or: [
        { path: 'metadata.name', contains: filter, ignoreCase: true },
        { path: 'metadata.namespace', contains: filter, ignoreCase: true },
      ],
    },
    select: {
      uid: 'metadata.uid',
      namespace: 'metadata.namespace',
      name: 'metadata.name',
      phase: 'status.phase',
      node: 'spec.nodeName',
      created: 'metadata.creationTimestamp',
    },
    orderBy: [{ path: column.path, direction }, { path: 'metadata.name' }],
    offset: page * PAGE_SIZE,
    limit: PAGE_SIZE,
  });
}
