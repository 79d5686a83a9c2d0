/** The queries of the requests of a collection: LIST, WATCH and the probe for buffering proxies. */
import { nameSelector } from '../meta/field-selector.ts';
import type { ListRequest, WatchRequest } from './lister-watcher.ts';

/** Parameters of a query. Those that are absent or empty are not sent. */
export type Parameters = Readonly<Record<string, string | undefined>>;

export function listQuery<T>(request: ListRequest<T>): Parameters {
  const { resourceVersion, limit, shardSelector } = request;
  // With a limit, a version without a match would request exactly that version, from which the server may refuse a
  // watch.
  const bare = limit === undefined || resourceVersion === '' || resourceVersion === '0';
  return {
    shardSelector,
    limit: limit?.toString(),
    continue: request.continue,
    resourceVersion,
    resourceVersionMatch: request.resourceVersionMatch ?? (bare ? undefined : 'NotOlderThan'),
  };
}

/** A watch ends with a bookmark after this time. */
function watching(timeoutSeconds: number): Parameters {
  return { watch: 'true', allowWatchBookmarks: 'true', timeoutSeconds: `${timeoutSeconds}` };
}

/**
 * The query of a probe. It requests one existing object, if any is known, which is sent immediately, and a bookmark
 * before the end.
 */
export function probeQuery(
  seconds: number,
  name: string | undefined,
  fieldSelector: string | undefined,
): Parameters {
  const fields = [fieldSelector, name && nameSelector(name)].filter(Boolean).join(',');
  return { ...watching(seconds), resourceVersion: '0', fieldSelector: fields };
}

export function watchQuery<T>(request: WatchRequest<T>, timeoutSeconds: number): Parameters {
  const { resourceVersion, resourceVersionMatch, sendInitialEvents, shardSelector } = request;
  return {
    ...watching(timeoutSeconds),
    shardSelector,
    sendInitialEvents: sendInitialEvents ? 'true' : undefined,
    resourceVersion,
    resourceVersionMatch,
  };
}

export function given(parameters: Parameters): Record<string, string> {
  const all = Object.entries(parameters);
  return Object.fromEntries(all.filter((each): each is [string, string] => !!each[1]));
}
