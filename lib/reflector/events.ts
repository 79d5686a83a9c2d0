/**
 * Converts batches of watch events to deltas. Decides which events move the version, which bookmark ends a streaming
 * LIST, and which error ends a batch.
 */
import { type Refused, versionIn, type WatchEvent } from '../decode/watch-event.ts';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { compareResourceVersion, isOlder } from '../meta/resource-version.ts';
import type { Delta } from './delta.ts';
import type { Memory, Watching } from './state.ts';

type Event = WatchEvent<KubernetesObject>;

/** Where a watch stands, before and after a batch. */
type Position = Pick<Watching, 'adopting' | 'repeats'> & Pick<Memory, 'resourceVersion'>;

/** The result of reading a batch of watch events. */
export interface Reading extends Position {
  readonly deltas: readonly Delta<KubernetesObject>[];
  /** The ERROR event that ended the batch, if any. */
  readonly error: ApiError | undefined;
  /**
   * Whether an event was older than a version already seen: the events are out of order, or the server has another
   * history now. The deltas do not contain that event.
   */
  readonly wentBack: boolean;
}

type Change = Exclude<Event, { type: 'ERROR' }>;

function deltaOf(event: Change, scope: string | undefined): Delta<KubernetesObject> {
  switch (event.type) {
    case 'BOOKMARK':
      return { type: 'bookmark', resourceVersion: event.resourceVersion, scope };
    case 'REFUSED':
      return { type: 'refused', key: event.key, refused: event.refused };
    case 'DELETED': {
      const { key, object, resourceVersion } = event;
      return object === undefined
        ? { type: 'deleted', key, finalStateUnknown: true, resourceVersion }
        : { type: 'deleted', key, object, finalStateUnknown: false };
    }
    default: {
      const { key, object, basis } = event;
      return { type: event.type === 'ADDED' ? 'added' : 'updated', key, object, basis };
    }
  }
}

/**
 * Reads events of a watch that is not a streaming LIST, or of a streaming LIST after its end mark. Drops those that the
 * watch before it has delivered already.
 */
export function readEvents(
  events: readonly Event[],
  from: Position,
  scope: string | undefined,
): Reading {
  const deltas: Delta<KubernetesObject>[] = [];
  let { resourceVersion, adopting, repeats } = from;
  const end = (error?: ApiError, wentBack = false): Reading => {
    const isPast = wentBack || repeats?.resourceVersion === repeats?.until;
    return {
      deltas,
      resourceVersion,
      adopting,
      repeats: isPast ? undefined : repeats,
      error,
      wentBack,
    };
  };
  for (const event of events) {
    if (event.type === 'ERROR') return end(event.error);
    const received = versionIn(event);
    if (repeats !== undefined) {
      const { until } = repeats;
      const order = compareResourceVersion(received, until);
      if (order !== undefined && order <= 0) {
        const isBack = isOlder(received, repeats.resourceVersion);
        if (isBack && event.type !== 'DELETED') return end(undefined, true);
        if (!isBack) repeats = { resourceVersion: received, until };
        continue;
      }
      repeats = undefined;
    }
    // A REFUSED event may be among the first events of the watch, which are not in the order of their versions.
    if (event.type !== 'ADDED' && event.type !== 'REFUSED') adopting = true;
    if (adopting) {
      const isBack = isOlder(received, resourceVersion);
      // The deletion of this object may have been received before, so applying the event could store a deleted object.
      if (isBack && event.type !== 'DELETED') return end(undefined, true);
      if (!isBack && received !== '') resourceVersion = received;
    }
    deltas.push(deltaOf(event, scope));
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
  /** The number of ADDED events. */
  readonly added: number;
  readonly removed: readonly string[];
  readonly refused: readonly Refused[];
  /** Whether objects are stored ones that were not parsed. */
  readonly unparsed: boolean;
  /** The version of the end mark and the events after it; `undefined` if the batch contains no end mark. */
  readonly end: { readonly resourceVersion: string; readonly rest: readonly Event[] } | undefined;
  readonly error: ApiError | undefined;
}

/** The error for an ordinary watch in place of a streaming LIST. */
export function ignoredRequest(): ApiError {
  const message =
    'the server ignored sendInitialEvents: it sent an ordinary watch instead of a streaming list';
  return new ApiError({ code: 501, reason: 'NotImplemented', message });
}

/** Reads a batch of additions, as nearly all of a streaming LIST are. Each key occurs once. */
function readAdditions(events: readonly Addition[]): StreamReading {
  return {
    objects: events.map(({ object }) => object),
    keys: events.map(({ key }) => key),
    added: events.length,
    removed: [],
    refused: [],
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
  const refused = new Map<string, Refused>();
  let added = 0;
  let unparsed = false;
  const reading = (end: StreamReading['end'], error: ApiError | undefined): StreamReading => ({
    objects: [...objects.values()],
    keys: [...objects.keys()],
    added,
    removed: [...removed],
    refused: [...refused.values()],
    unparsed,
    end,
    error,
  });
  for (let at = 0; at < events.length; at++) {
    const event = events[at] as Event;
    if (event.type === 'ERROR') return reading(undefined, event.error);
    if (event.type === 'BOOKMARK') {
      // A streaming LIST has no bookmark before its end mark.
      if (!event.initialEventsEnd) return reading(undefined, ignoredRequest());
      const { resourceVersion } = event;
      return reading({ resourceVersion, rest: events.slice(at + 1) }, undefined);
    }
    const { key } = event;
    if (event.type === 'DELETED') {
      objects.delete(key);
      refused.delete(key);
      removed.add(key);
    } else if (event.type === 'REFUSED') {
      objects.delete(key);
      removed.delete(key);
      refused.set(key, event.refused);
    } else {
      removed.delete(key);
      refused.delete(key);
      objects.set(key, event.object);
      if (event.type === 'ADDED') added++;
      unparsed ||= event.unparsed === true;
    }
  }
  return reading(undefined, undefined);
}
