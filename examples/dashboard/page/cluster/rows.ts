/** The rows of a kind, which the worker makes, and what they cost the page. */
import { type ChangeStream, liveShare } from 'rx-informer';
import { workerQuery } from 'rx-informer/worker';
import { tap } from 'rxjs';
import type { Kind, Row } from '../kinds/kind.ts';
import type { Branch } from '../kinds/roll-up.ts';
import { isStored } from '../kinds/stored.ts';
import type { Selectors } from '../worker/row-queries.ts';
import { cluster, type Queries, unlessPaused } from './cluster.ts';
import { changesOf } from './row-changes.ts';
import { statusOf } from './shown-status.ts';

/** The work of the page for a query since it began. */
export class Cost {
  /** Change sets, and the changes in them. */
  sets = 0;
  changes = 0;
  /** The time from a change set to the end of its last step, in milliseconds: all of them, and the longest. */
  totalMs = 0;
  longestMs = 0;
  #beganMs = 0;

  begin(): void {
    this.#beganMs = performance.now();
  }

  end(changes: number): void {
    const ms = performance.now() - this.#beganMs;
    this.sets++;
    this.changes += changes;
    this.totalMs += ms;
    this.longestMs = Math.max(this.longestMs, ms);
  }
}

/** The row of a tree is a branch. */
const idOf = (row: object) => ('row' in row ? (row as Branch).row : (row as Row)).uid;

/**
 * The rows of a kind, with what other kinds add to them. `listed$` is complete as soon as their number is known, even if another kind may not be
 * read.
 */
export function rowsOf(kind: Kind, cost: Cost, selectors: Selectors) {
  const { labelSelector, fieldSelector } = selectors;
  const asked = { kind: kind.id, labelSelector, fieldSelector };
  const name = isStored(kind) ? 'rows' : 'momentaryRows';
  const view = cluster.view<object>(workerQuery<Queries, typeof name>(name, asked));
  const joined$ = changesOf(view, idOf).pipe(
    tap(() => cost.begin()),
    unlessPaused(),
  ) as ChangeStream<object>;
  const rows$ = (kind.show?.(joined$) ?? (joined$ as ChangeStream<Row>)).pipe(liveShare());
  const status$ = statusOf(view, () => cluster.connection);
  // The health of a tree is that of all its objects.
  if (kind.join === undefined || kind.isTree)
    return { rows$, listed$: rows$ as ChangeStream<unknown>, status$ };
  const listed = cluster.view<object>(workerQuery<Queries, 'listed'>('listed', kind.id));
  return { rows$, listed$: changesOf(listed, () => 'all'), status$ };
}
