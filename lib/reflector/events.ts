/** Watch events as deltas: what moves the version, what ends a streaming LIST, where an ERROR cuts a batch. */
import type { Refused, WatchEvent } from '../decode/watch-event.ts';
import { ApiError } from '../meta/api-error.ts';
import { type KubernetesObject, versionOf } from '../meta/kubernetes-object.ts';
import { isOlder } from '../meta/resource-version.ts';
import type { Delta } from './delta.ts';

/** What a batch of events amounts to. */
export interface Reading<T> {
  readonly deltas: readonly Delta<T>[];
  readonly resourceVersion: string;
  readonly adopting: boolean;
  /** An ERROR ended the batch. */
  readonly error: ApiError | undefined;
  /** What came is older than what was seen: out of order, or of another history. It is not in the deltas. */
  readonly wentBack: boolean;
}

/** The later of two versions; the newer event's where they cannot be compared. */
function later(seen: string, came: string): string {
  if (came === '') return seen;
  return isOlder(came, seen) ? seen : came;
}

/** Reads events of a plain watch. */
export function readEvents<T>(
  events: readonly WatchEvent<T>[],
  from: { readonly resourceVersion: string; readonly adopting: boolean },
  scope: string | undefined,
): Reading<T> {
  const deltas: Delta<T>[] = [];
  let { resourceVersion, adopting } = from;
  const end = (error?: ApiError, back = false): Reading<T> => {
    return { deltas, resourceVersion, adopting, error, wentBack: back };
  };
  for (const event of events) {
    if (event.type === 'ERROR') return end(event.error);
    // One that is refused may be among the first, which come in no order of versions.
    if (event.type !== 'ADDED' && event.type !== 'REJECTED') adopting = true;
    if (event.type === 'BOOKMARK') {
      if (isOlder(event.resourceVersion, resourceVersion)) return end(undefined, true);
      ({ resourceVersion } = event);
      deltas.push({
        type: 'bookmark',
        resourceVersion,
        ...(scope === undefined ? {} : { scope }),
      });
      continue;
    }
    if (event.type === 'DELETED') {
      const { key, object, resourceVersion: came } = event;
      deltas.push(
        object === undefined
          ? { type: 'deleted', key, finalStateUnknown: true, resourceVersion: came }
          : { type: 'deleted', key, object, finalStateUnknown: false },
      );
      if (adopting) resourceVersion = later(resourceVersion, came);
      continue;
    }
    const came =
      event.type === 'REJECTED'
        ? event.refused.resourceVersion
        : versionOf(event.object as KubernetesObject);
    // Its own end may have come before it: to believe it would bring back what is gone.
    if (adopting && isOlder(came, resourceVersion)) return end(undefined, true);
    const { key } = event;
    if (event.type === 'REJECTED') deltas.push({ type: 'refused', key, refused: event.refused });
    else {
      const type = event.type === 'ADDED' ? 'added' : 'updated';
      deltas.push({ type, key, object: event.object });
    }
    if (adopting) resourceVersion = later(resourceVersion, came);
  }
  return end();
}

/** What a batch of a streaming LIST amounts to. */
export interface StreamReading<T> {
  readonly objects: readonly T[];
  readonly removed: readonly string[];
  readonly rejected: readonly Refused[];
  /** The bookmark that ends the list, and what came behind it. */
  readonly end:
    | { readonly resourceVersion: string; readonly rest: readonly WatchEvent<T>[] }
    | undefined;
  readonly error: ApiError | undefined;
}

/** Before the end mark a streaming LIST has no bookmark: this one comes from a plain watch. */
function ignoredRequest(): ApiError {
  const message = 'the server watches plainly: it takes no notice of sendInitialEvents';
  return new ApiError({ code: 501, reason: 'NotImplemented', message });
}

/** Reads events of a streaming LIST up to its end. The last word on a key within the batch stands. */
export function readStream<T>(events: readonly WatchEvent<T>[]): StreamReading<T> {
  const objects = new Map<string, T>();
  const removed = new Set<string>();
  const rejected = new Map<string, Refused>();
  const reading = (
    end: StreamReading<T>['end'],
    error: ApiError | undefined,
  ): StreamReading<T> => ({
    objects: [...objects.values()],
    removed: [...removed],
    rejected: [...rejected.values()],
    end,
    error,
  });
  for (let at = 0; at < events.length; at++) {
    const event = events[at] as WatchEvent<T>;
    if (event.type === 'ERROR') return reading(undefined, event.error);
    if (event.type === 'BOOKMARK') {
      if (!event.initialEventsEnd) return reading(undefined, ignoredRequest());
      const { resourceVersion } = event;
      return reading({ resourceVersion, rest: events.slice(at + 1) }, undefined);
    }
    const { key } = event;
    if (event.type === 'DELETED') {
      objects.delete(key);
      rejected.delete(key);
      removed.add(key);
    } else if (event.type === 'REJECTED') {
      objects.delete(key);
      removed.delete(key);
      rejected.set(key, event.refused);
    } else {
      removed.delete(key);
      rejected.delete(key);
      objects.set(key, event.object);
    }
  }
  return reading(undefined, undefined);
}
