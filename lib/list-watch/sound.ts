/**
 * Looks at what a ListerWatcher gives before anything relies on it: one that somebody wrote himself may give anything,
 * and what throws further in is nobody's failure, so that nobody would try again.
 */
import type { ListPart, WatchEvent } from '../decode/watch-event.ts';
import { ApiError } from '../meta/api-error.ts';
import type { WatchSignal } from './lister-watcher.ts';

const KINDS: ReadonlySet<unknown> = new Set(['queued', 'sending', 'opened', 'alive', 'events']);

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function malformed(what: string): ApiError {
  return ApiError.local('Malformed', `the ListerWatcher gave ${what}`);
}

/** Throws an `ApiError` on what is no part of a list. */
export function soundPart<T>(part: ListPart<T>): ListPart<T> {
  if (!isObject(part) || !Array.isArray(part.items)) throw malformed('a part without items');
  if (!part.items.every(isObject)) throw malformed('an item that is no object');
  return part;
}

function isSound<T>(event: WatchEvent<T>): boolean {
  if (!isObject(event)) return false;
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
      return typeof event.key === 'string' && isObject(event.object);
    case 'DELETED':
      return typeof event.key === 'string' && typeof (event.object ?? {}) === 'object';
    case 'REJECTED':
      return typeof event.key === 'string';
    case 'BOOKMARK':
      return typeof event.resourceVersion === 'string';
    case 'ERROR':
      return event.error instanceof ApiError;
    default:
      return false;
  }
}

/** Throws an `ApiError` on what is no signal of a watch. */
export function soundSignal<T>(signal: WatchSignal<T>): WatchSignal<T> {
  if (!isObject(signal) || !KINDS.has(signal.kind)) throw malformed('a signal of no known kind');
  if (signal.kind !== 'events') return signal;
  if (!Array.isArray(signal.events)) throw malformed('events that are no array');
  if (!signal.events.every(isSound)) throw malformed('an event that is none');
  return signal;
}
