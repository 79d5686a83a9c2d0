/**
 * Splits a batch of deltas into commits. A commit has one cause, contains no key twice, and does not cross the end of
 * the first list. client-go: tools/cache/the_real_fifo.go, PopBatch.
 */
import type { Delta } from '../../reflector/delta.ts';
import type { Cause } from '../change-set.ts';

/** Deltas that become visible in the store together. */
export interface Commit<T> {
  readonly cause: Exclude<Cause, 'snapshot'>;
  /** Whether the commit belongs to the first list. */
  readonly initial: boolean;
  readonly deltas: readonly Delta<T>[];
}

interface Open<T> extends Commit<T> {
  readonly deltas: Delta<T>[];
  readonly keys: Set<string>;
}

/** Splits `deltas`. `isSynced` says whether the first list of a scope was complete before this batch. */
export function splitCommits<T>(
  deltas: readonly Delta<T>[],
  isSynced: (scope: string | undefined) => boolean,
): Commit<T>[] {
  const [only] = deltas;
  // A lone event needs no set of keys.
  if (deltas.length === 1 && (only?.type === 'added' || only?.type === 'updated')) {
    return [{ cause: only.cause ?? 'watch', initial: false, deltas }];
  }
  const commits: Open<T>[] = [];
  const ended = new Set<string | undefined>();
  let open: Open<T> | undefined;
  const begin = (cause: Commit<T>['cause'], initial: boolean): Open<T> => {
    open = { cause, initial, deltas: [], keys: new Set() };
    commits.push(open);
    return open;
  };
  const keyed = (
    delta: Exclude<Extract<Delta<T>, { key: string }>, { type: 'refused' }>,
    cause: 'watch' | 'resync' | 'rebalance',
  ) => {
    const fits = open !== undefined && open.cause === cause && !open.keys.has(delta.key);
    const commit = fits ? (open as Open<T>) : begin(cause, false);
    commit.keys.add(delta.key);
    commit.deltas.push(delta);
  };
  const listed = (delta: Extract<Delta<T>, { type: 'replacing' | 'replaced' }>) => {
    const initial = !isSynced(delta.scope) && !ended.has(delta.scope);
    const cause = initial ? 'initial' : 'relist';
    const commit = open?.cause === cause ? open : begin(cause, initial);
    commit.deltas.push(delta);
    if (delta.type === 'replaced') {
      ended.add(delta.scope);
      open = undefined;
    }
  };
  for (const delta of deltas) {
    if (delta.type === 'replacing' || delta.type === 'replaced') listed(delta);
    else if (delta.type === 'retry') {
      // The keys that a retry changes are not known yet, so it gets its own commit.
      begin('watch', false).deltas.push(delta);
      open = undefined;
    } else if (
      delta.type === 'bookmark' ||
      delta.type === 'refused' ||
      delta.type === 'replace-abort'
    ) {
      // These deltas change no object.
      (open ?? begin('watch', false)).deltas.push(delta);
    } else if (delta.type !== 'rebalanced') {
      keyed(delta, delta.type === 'sync' ? 'resync' : (delta.cause ?? 'watch'));
    }
  }
  return commits;
}
