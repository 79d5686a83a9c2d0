/** The values of the letters in the diagrams of `marbleListWatch`, and how they are read. */
import type { ListPart, WatchEvent } from '../../decode/watch-event.ts';
import type { WatchSignal } from '../../list-watch/lister-watcher.ts';
import type { ApiError } from '../../meta/api-error.ts';
import { metaNamespaceKeyFunc } from '../../meta/key.ts';
import { type KubernetesObject, versionOf } from '../../meta/kubernetes-object.ts';

/**
 * A letter in the diagram of a LIST: items. The items with a `resourceVersion` are the last ones and complete the LIST.
 */
export interface MarbleList<T> {
  readonly items: readonly T[];
  /** The version of the list. Without a version, more items follow in the same diagram. */
  readonly resourceVersion?: string;
  /** The token of the next page, which the next diagram of `lists` answers. */
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** A letter in the diagram of a WATCH: an event as on the wire, without the fields that follow from the object. */
export type MarbleEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | {
      readonly type: 'BOOKMARK';
      readonly resourceVersion: string;
      /** Ends the initial events of a streaming LIST. @defaultValue false */
      readonly initialEventsEnd?: boolean;
    }
  | { readonly type: 'ERROR'; readonly error: ApiError };

/** A signal of a watch that carries no event. */
export type MarbleSignal = 'opened' | 'alive' | 'doubted';

/**
 * The value of a letter. An `ApiError` ends the request with that error, like a response with its status. Events in an
 * array arrive together. `'opened'` is the head of a watch's response, `'alive'` is bytes
 * without an event, and `'doubted'` says that the connection may be dead, until the next `'opened'`.
 */
export type MarbleValue<T> =
  | MarbleList<T>
  | MarbleEvent<T>
  | readonly MarbleEvent<T>[]
  | ApiError
  | MarbleSignal;

/** Returns the part of a list that a value describes; `undefined` if the value describes another thing. */
export function listPart<T>(value: MarbleValue<T>): ListPart<T> | undefined {
  if (typeof value !== 'object' || !('items' in value) || !Array.isArray(value.items)) {
    return undefined;
  }
  const { items, resourceVersion, ...rest } = value;
  if (resourceVersion === undefined) return { items };
  return { items, metadata: { resourceVersion, ...rest } };
}

/** `undefined` for a value that is not an event, which a test without types may give. */
function watchEvent<T extends KubernetesObject>(event: MarbleEvent<T>): WatchEvent<T> | undefined {
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED': {
      const { type, object } = event;
      const key = metaNamespaceKeyFunc(object);
      if (type !== 'DELETED') return { type, key, object };
      return { type, key, object, resourceVersion: versionOf(object) };
    }
    case 'BOOKMARK':
      return { initialEventsEnd: false, ...event };
    case 'ERROR':
      return event;
    default:
      return undefined;
  }
}

function isSignal(value: unknown): value is MarbleSignal {
  return value === 'opened' || value === 'alive' || value === 'doubted';
}

function isBatch<T>(value: MarbleValue<T>): value is readonly MarbleEvent<T>[] {
  return Array.isArray(value);
}

/** Returns the signal of a watch that a value describes; `undefined` if the value describes another thing. */
export function watchSignal<T extends KubernetesObject>(
  value: MarbleValue<T>,
): WatchSignal<T> | undefined {
  if (isSignal(value)) return { kind: value };
  if (!isBatch(value) && (typeof value !== 'object' || !('type' in value))) return undefined;
  const events = [value].flat().map((event) => watchEvent<T>(event as MarbleEvent<T>));
  return events.includes(undefined)
    ? undefined
    : { kind: 'events', events: events as WatchEvent<T>[] };
}
