/** The paths that a query of the metadata alone may read. */
import type { QueryCondition } from './condition.ts';
import type { QueryOrder } from './order-by.ts';
import { collectNeeds } from './predicate.ts';
import { refused } from './refused.ts';
import { isKeyed, type QuerySelection } from './select.ts';

const PRESENT = ['metadata', 'kind', 'apiVersion'];

function checkPath(field: string, path: string): void {
  if (PRESENT.some((name) => path === name || path.startsWith(`${name}.`))) return;
  // An absent value equals nothing, so such a condition would select nothing without a word.
  refused(
    field,
    `is ${JSON.stringify(path)}, but as is 'metadata'; it must begin with 'metadata.'`,
  );
}

/** Throws a `TypeError` if a query of the metadata reads something else. Functions receive what there is. */
export function checkMetadataPaths(query: {
  readonly where?: QueryCondition;
  readonly select?: QuerySelection;
  readonly orderBy?: readonly QueryOrder[];
}): void {
  const { where, select, orderBy = [] } = query;
  const paths = new Set<string>();
  if (where !== undefined) collectNeeds(where, { paths, indices: new Set(), functions: new Set() });
  for (const path of paths) checkPath('where.path', path);
  for (const order of orderBy) if ('path' in order) checkPath('orderBy.path', order.path);
  if (select === undefined || isKeyed(select)) return;
  for (const [name, path] of Object.entries(select)) checkPath(`select.${name}`, path as string);
}
