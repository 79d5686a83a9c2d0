/**
 * Cuts a batch of deltas into commits: one cause each, no key twice, and none that crosses the end of the first
 * list. client-go: tools/cache/the_real_fifo.go, PopBatch.
 */
import type { Delta } from '../reflector/delta.ts';
import type { Cause } from './change-set.ts';

/** Deltas that become visible at once. */
export interface Commit<T> {
  readonly cause: Exclude<Cause, 'snapshot'>;
  /** Part of the first list. */
  readonly initial: boolean;
  readonly deltas: Delta<T>[];
}

interface Open<T> extends Commit<T> {
  readonly keys: Set<string>;
}

/** `isSynced` tells whether a scope's first list had ended before this batch. */
export function splitCommits<T>(
  deltas: readonly Delta<T>[],
  isSynced: (scope: string | undefined) => boolean,
): Commit<T>[] {
  const commits: Open<T>[] = [];
  const ended = new Set<string | undefined>();
  let open: Open<T> | undefined;
  const begin = (cause: Commit<T>['cause'], initial: boolean): Open<T> => {
    open = { cause, initial, deltas: [], keys: new Set() };
    commits.push(open);
    return open;
  };
  const keyed = (delta: Extract<Delta<T>, { key: string }>, cause: 'watch' | 'resync') => {
    const fits = open !== undefined && open.cause === cause && !open.keys.has(delta.key);
    const commit = fits ? (open as Open<T>) : begin(cause, false);
    commit.keys.add(delta.key);
    commit.deltas.push(delta);
  };
  const whole = (delta: Extract<Delta<T>, { type: 'replacing' | 'replaced' }>) => {
    const initial = !isSynced(delta.scope) && !ended.has(delta.scope);
    const cause = initial ? 'initial' : 'relist';
    // A list's tombstones stand right before its end and become visible with it.
    const tombstones = delta.type === 'replaced' ? takeTombstones(open) : [];
    const joins = open?.cause === cause && tombstones.length === 0;
    const commit = joins ? (open as Open<T>) : begin(cause, initial);
    commit.deltas.push(...tombstones, delta);
    if (delta.type === 'replaced') {
      ended.add(delta.scope);
      open = undefined;
    }
  };
  for (const delta of deltas) {
    if (delta.type === 'replacing' || delta.type === 'replaced') whole(delta);
    else if (delta.type === 'replace-abort') continue;
    else if (delta.type === 'bookmark') (open ?? begin('watch', false)).deltas.push(delta);
    else keyed(delta, delta.type === 'sync' ? 'resync' : 'watch');
  }
  return commits.filter((commit) => commit.deltas.length > 0);
}

function takeTombstones<T>(open: Open<T> | undefined): Delta<T>[] {
  if (open === undefined || open.cause !== 'watch') return [];
  const { deltas } = open;
  let from = deltas.length;
  while (from > 0) {
    const delta = deltas[from - 1];
    if (delta?.type !== 'deleted' || !delta.finalStateUnknown) break;
    from--;
  }
  return deltas.splice(from);
}
