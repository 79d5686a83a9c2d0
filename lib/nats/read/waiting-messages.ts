/** The messages of a set that is not complete. */
import type { WatchEvent } from '../../decode/watch-event.ts';

/** A message that waits for the `_meta` record. */
export interface Waiting<T> {
  readonly key: string;
  /** UID and version; `undefined` for a deletion. */
  readonly state: string | undefined;
  readonly event: WatchEvent<T>;
}

/**
 * The last message of each key. A publisher that died within a set and its successor may have written one each, and an
 * informer shows the events before a second event of a key as a set of their own.
 */
export function lastOfEachKey<T>(waiting: readonly Waiting<T>[]): Iterable<Waiting<T>> {
  const last = new Map<string, Waiting<T>>();
  for (const each of waiting) {
    last.delete(each.key);
    last.set(each.key, each);
  }
  return last.values();
}
