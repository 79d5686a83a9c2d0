/**
 * Splits a batch of deltas into commits. A commit has one cause, contains no key twice, and does not cross the end of
 * the first list. client-go: tools/cache/the_real_fifo.go, PopBatch.
 */
import type { Delta } from '../reflector/delta.ts';
import type { Cause } from './change-set.ts';

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
  const listed = (
    delta: Extract<Delta<T>, { type: 'replacing' | 'replaced' }>,
    missing: readonly Delta<T>[],
  ) => {
    const initial = !isSynced(delta.scope) && !ended.has(delta.scope);
    const cause = initial ? 'initial' : 'relist';
    const joins = open?.cause === cause && missing.length === 0;
    const commit = joins ? (open as Open<T>) : begin(cause, initial);
    // Not spread into the call, because a list may miss more objects than a call may have arguments.
    for (const each of missing) commit.deltas.push(each);
    commit.deltas.push(delta);
    if (delta.type === 'replaced') {
      ended.add(delta.scope);
      open = undefined;
    }
  };
  const lists = tombstones(deltas);
  for (let at = 0; at < deltas.length; at++) {
    const end = lists.get(at) ?? at;
    const missing = end === at ? [] : deltas.slice(at, end);
    at = end;
    const delta = deltas[at] as Delta<T>;
    if (delta.type === 'replacing' || delta.type === 'replaced') listed(delta, missing);
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

/**
 * Finds the tombstones of lists, which are right before the `replaced` and become visible with it. Maps the index of
 * the first tombstone to the index of the `replaced`.
 */
function tombstones<T>(deltas: readonly Delta<T>[]): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  let from: number | undefined;
  for (let at = 0; at < deltas.length; at++) {
    const delta = deltas[at] as Delta<T>;
    if (delta.type === 'deleted' && delta.finalStateUnknown) from ??= at;
    else {
      if (delta.type === 'replaced' && from !== undefined) found.set(from, at);
      from = undefined;
    }
  }
  return found;
}
