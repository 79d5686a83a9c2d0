/** The ListerWatchers of an informer, which may change while it runs. */
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import { inScope } from '../meta/key.ts';

/** Which part of a collection an informer shows because the server does not permit to list all of it. */
export interface LimitedAccess {
  /** The namespaces that are shown. If it is empty, none is, unlike in a scope. */
  readonly namespaces: readonly string[];
  /** The namespaces in which list or watch is not permitted. */
  readonly missing: readonly string[];
  /** Both, in words for a user. */
  readonly message: string;
}

/** Whether an informer with this access shows the namespace of a key. */
export function isShown(access: LimitedAccess | undefined, key: string): boolean {
  return access === undefined || access.namespaces.some((namespace) => inScope(key, namespace));
}

/** A set of ListerWatchers, each with a scope of its own. */
export interface SourceSet<T> {
  readonly listerWatchers: readonly ListerWatcher<T>[];
  /** Set if they do not cover the complete collection. */
  readonly access?: LimitedAccess | undefined;
}
