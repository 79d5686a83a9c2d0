/**
 * Validates the output of a ListerWatcher before it is used. A user's own ListerWatcher may emit anything, and an
 * error that it causes in a later stage would not be retried.
 */
import type { ListMeta, ListPart, Refused, WatchEvent } from '../decode/watch-event.ts';
import { ApiError } from '../meta/api-error.ts';
import { isKeyOf } from '../meta/key.ts';
import { hasSoundMetadata, type KubernetesObject } from '../meta/kubernetes-object.ts';
import type { WatchSignal } from './lister-watcher.ts';

const KINDS: ReadonlySet<unknown> = new Set([
  ...['queued', 'sending', 'opened', 'alive', 'doubted'],
  ...['events', 'listed'],
]);

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/**
 * Whether a value can be an item. The store refuses an object without a name, but a name that is not a string could
 * not even be reported.
 */
function isItem(value: unknown): value is KubernetesObject {
  return isObject(value) && hasSoundMetadata(value);
}

function isRefused(value: unknown): value is Refused {
  if (!isObject(value)) return false;
  const { key, uid, resourceVersion, reason, retry } = value as Partial<Refused>;
  const texts = [key, uid, resourceVersion].every((text) => typeof text === 'string');
  return texts && key !== '' && reason instanceof ApiError && typeof retry === 'function';
}

function isKeyed(object: unknown, key: unknown): boolean {
  return isItem(object) && isKeyOf(key, object);
}

function malformed(what: string): ApiError {
  return ApiError.local('Malformed', `the ListerWatcher returned ${what}`);
}

function isListMeta(metadata: unknown): boolean {
  if (!isObject(metadata)) return false;
  const { resourceVersion, continue: token } = metadata as Partial<ListMeta>;
  return typeof resourceVersion === 'string' && (token === undefined || typeof token === 'string');
}

/** Throws an `ApiError` if a part of a list is malformed. */
export function validatedPart<T>(part: ListPart<T>): ListPart<T> {
  if (!isObject(part) || !Array.isArray(part.items)) throw malformed('a part without items');
  if (!part.items.every(isItem)) throw malformed('an invalid item');
  const { refused = [] } = part;
  if (!Array.isArray(refused) || !refused.every(isRefused)) {
    throw malformed('an invalid object');
  }
  if (part.wrongKind !== undefined && !(part.wrongKind instanceof ApiError)) {
    throw malformed('an invalid wrongKind');
  }
  if (part.metadata !== undefined && !isListMeta(part.metadata)) {
    throw malformed('invalid metadata');
  }
  return part;
}

function isSound<T>(event: WatchEvent<T>): boolean {
  if (!isObject(event)) return false;
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
      return isKeyed(event.object, event.key);
    case 'DELETED':
      if (typeof event.key !== 'string' || typeof event.resourceVersion !== 'string') return false;
      return event.object === undefined || isKeyed(event.object, event.key);
    case 'REFUSED':
      return isRefused(event.refused) && event.refused.key === event.key;
    case 'BOOKMARK':
      return typeof event.resourceVersion === 'string';
    case 'ERROR':
      return event.error instanceof ApiError;
    default:
      return false;
  }
}

/** Throws an `ApiError` if a signal of a watch is malformed. */
export function validatedSignal<T>(signal: WatchSignal<T>): WatchSignal<T> {
  if (!isObject(signal) || !KINDS.has(signal.kind)) throw malformed('a signal of an unknown kind');
  if (signal.kind === 'listed') {
    validatedPart(signal);
    if (typeof signal.resourceVersion !== 'string') throw malformed('a list without version');
  }
  if (signal.kind !== 'events') return signal;
  if (!Array.isArray(signal.events)) throw malformed('invalid events');
  if (!signal.events.every(isSound)) throw malformed('an invalid event');
  return signal;
}
