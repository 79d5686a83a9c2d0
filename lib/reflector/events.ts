/**
 * Converts batches of watch events to deltas. Decides which events move the version, which bookmark ends a streaming
 * LIST, and which error ends a batch.
 */
import type { Refused, WatchEvent } from '../decode/watch-event.ts';
import { ApiError } from '../meta/api-error.ts';
import { type KubernetesObject, versionOf } from '../meta/kubernetes-object.ts';
import { isOlder } from '../meta/resource-version.ts';
import type { Delta } from './delta.ts';

type Event = WatchEvent<KubernetesObject>;

/** The result of reading a batch of watch events. */
export interface Reading {
  readonly deltas: readonly Delta<KubernetesObject>[];
  readonly resourceVersion: string;
  readonly adopting: boolean;
  /** The ERROR event that ended the batch, if any. */
  readonly error: ApiError | undefined;
  /**
   * Whether an event was older than a version already seen: the events are out of order, or the server has another
   * history now. The deltas do not contain that event.
   */
  readonly wentBack: boolean;
}

/** The version after an event; the received one, unless it is known to be older. */
function later(seen: string, received: string): string {
  return received === '' || isOlder(received, seen) ? seen : received;
}

/** Reads events of a watch that is not a streaming LIST, or of a streaming LIST after its end mark. */
export function readEvents(
  events: readonly Event[],
  seen: string,
  isAdopting: boolean,
  scope: string | undefined,
): Reading {
  const deltas: Delta<KubernetesObject>[] = [];
  let [resourceVersion, adopting] = [seen, isAdopting];
  const end = (error?: ApiError, back = false): Reading => {
    return { deltas, resourceVersion, adopting, error, wentBack: back };
  };
  for (const event of events) {
    if (event.type === 'ERROR') return end(event.error);
    // A REJECTED event may be among the first events of the watch, which are not in the order of their versions.
    if (event.type !== 'ADDED' && event.type !== 'REJECTED') adopting = true;
    if (event.type === 'BOOKMARK') {
      if (isOlder(event.resourceVersion, resourceVersion)) return end(undefined, true);
      ({ resourceVersion } = event);
      deltas.push({ type: 'bookmark', resourceVersion, scope });
      continue;
    }
    if (event.type === 'DELETED') {
      const { key, object, resourceVersion: received } = event;
      deltas.push(
        object === undefined
          ? { type: 'deleted', key, finalStateUnknown: true, resourceVersion: received }
          : { type: 'deleted', key, object, finalStateUnknown: false },
      );
      if (adopting) resourceVersion = later(resourceVersion, received);
      continue;
    }
    const received =
      event.type === 'REJECTED' ? event.refused.resourceVersion : versionOf(event.object);
    // The deletion of this object may have been received before, so applying the event could store a deleted object.
    if (adopting && isOlder(received, resourceVersion)) return end(undefined, true);
    const { key } = event;
    if (event.type === 'REJECTED') deltas.push({ type: 'refused', key, refused: event.refused });
    else {
      const type = event.type === 'ADDED' ? 'added' : 'updated';
      deltas.push({ type, key, object: event.object, basis: event.basis });
    }
    // It is not older, as was just checked.
    if (adopting && received !== '') resourceVersion = received;
  }
  return end();
}

type Addition = Extract<Event, { type: 'ADDED' | 'MODIFIED' }>;

function isAddition(event: Event): event is Addition {
  return event.type === 'ADDED';
}

/** The result of reading a batch of a streaming LIST. */
export interface StreamReading {
  readonly objects: readonly KubernetesObject[];
  /** The keys of the objects, in the same order. */
  readonly keys: readonly string[];
  readonly removed: readonly string[];
  readonly rejected: readonly Refused[];
  /** Whether objects are stored ones that were not parsed. */
  readonly unparsed: boolean;
  /** The version of the end mark and the events after it; `undefined` if the batch contains no end mark. */
  readonly end: { readonly resourceVersion: string; readonly rest: readonly Event[] } | undefined;
  readonly error: ApiError | undefined;
}

/** The error for a bookmark before the end mark. A streaming LIST has none, so the server sends an ordinary watch. */
function ignoredRequest(): ApiError {
  const message =
    'the server ignored sendInitialEvents: it sent an ordinary watch instead of a streaming list';
  return new ApiError({ code: 501, reason: 'NotImplemented', message });
}

/** Reads a batch of additions, as nearly all of a streaming LIST are. Each key occurs once. */
function readAdditions(events: readonly Addition[]): StreamReading {
  return {
    objects: events.map(({ object }) => object),
    keys: events.map(({ key }) => key),
    removed: [],
    rejected: [],
    unparsed: events.some(({ unparsed }) => unparsed === true),
    end: undefined,
    error: undefined,
  };
}

/** Reads events of a streaming LIST up to its end mark. Of several events of one key in the batch, the last counts. */
export function readStream(events: readonly Event[]): StreamReading {
  if (events.every(isAddition)) return readAdditions(events);
  const objects = new Map<string, KubernetesObject>();
  const removed = new Set<string>();
  const rejected = new Map<string, Refused>();
  let unparsed = false;
  const reading = (end: StreamReading['end'], error: ApiError | undefined): StreamReading => ({
    objects: [...objects.values()],
    keys: [...objects.keys()],
    removed: [...removed],
    rejected: [...rejected.values()],
    unparsed,
    end,
    error,
  });
  for (let at = 0; at < events.length; at++) {
    const event = events[at] as Event;
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
      unparsed ||= event.unparsed === true;
    }
  }
  return reading(undefined, undefined);
}
