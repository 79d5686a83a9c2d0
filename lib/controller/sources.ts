/**
 * What wakes a controller: the objects it is for, those they own, others that a mapping leads back, and any
 * stream of keys. client-go: the sample controller's handlers; controller-runtime: pkg/builder, pkg/handler.
 */

import type { Observable, Subscription } from 'rxjs';
import type { InformerStatus } from '../informer/status/status.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Stored } from '../meta/stored.ts';
import type { ChangeSet } from '../store/change-set.ts';
import { isKey, shownKey } from '../work-queue/keys.ts';
import { ask } from './combine.ts';
import { type ObjectChange, objectChange } from './object-change.ts';
import type { Predicate } from './predicates.ts';

/** What a controller needs of an informer; every `SharedInformer` is one. */
export interface WatchedInformer<T extends KubernetesObject> {
  readonly name: string;
  readonly changes$: Observable<ChangeSet<T>>;
  readonly indexer: { getByKey(key: string): Stored<T> | undefined };
  readonly status: Pick<InformerStatus, 'phase' | 'error'>;
}

/** An informer whose changes are not all worth a reconcile. */
export interface FilteredSource<T extends KubernetesObject> {
  readonly informer: WatchedInformer<T>;
  /** All must pass. @defaultValue every change passes */
  readonly predicates?: readonly Predicate<T>[] | undefined;
}

/** An informer whose changes concern other objects. */
export interface MappedSource<T extends KubernetesObject> extends FilteredSource<T> {
  /**
   * The keys that a change concerns. It sees the state before and the state now: what moved from one to another
   * concerns both.
   */
  map(change: ObjectChange<T>): Iterable<string>;
}

/** Initial lists and resyncs wait behind what is news. controller-runtime: handler.LowPriority */
export const LOW_PRIORITY: number = -100;

/** Told by a source. */
export interface SourceHost {
  wake(key: string, reason: string, priority: number): void;
  /** It will tell nothing more. */
  ended(error?: unknown): void;
  report(error: unknown, key?: string): void;
}

/** Something that can be listened to. */
export interface Source {
  /** `for: foos`: how status and errors name it. */
  readonly name: string;
  /** Why it is not synced, as far as it knows. */
  why(): string;
  /** Absent: there is nothing to wait for. */
  readonly informer?: WatchedInformer<KubernetesObject>;
  listen(host: SourceHost): Subscription;
}

/** What is no key is reported, and the others are not held up by it. */
function wake(
  host: SourceHost,
  key: string,
  reason: string,
  { priority, of }: { readonly priority: number; readonly of?: string },
): void {
  if (isKey(key)) return host.wake(key, reason, priority);
  const message = `${shownKey(key)} is not a key; give 'namespace/name', or 'name'`;
  return host.report(new TypeError(message), of);
}

/** The changes of an informer as keys. */
export function informerSource<T extends KubernetesObject>(
  role: 'for' | 'owns' | 'watches',
  source: MappedSource<T>,
): Source {
  const { informer, predicates = [] } = source;
  const passes = (change: ObjectChange<T>, host: SourceHost) =>
    predicates.every((predicate) => {
      try {
        return ask(predicate, change);
      } catch (error) {
        // Better one reconcile too many than one that never comes.
        host.report(error, change.key);
        return true;
      }
    });
  const tell = (change: ObjectChange<T>, host: SourceHost) => {
    const { type, cause, key } = change;
    const quiet = cause === 'initial' || cause === 'resync';
    const reason = `${role}:${cause === 'resync' ? cause : type}`;
    try {
      const keys: Iterable<string> = source.map(change);
      // A text has an iterator too: of its characters.
      if (typeof keys !== 'object' || !(Symbol.iterator in keys)) {
        throw new TypeError(`map returned ${shownKey(keys)}; it must return a list of keys`);
      }
      for (const woken of keys)
        wake(host, woken, reason, { priority: quiet ? LOW_PRIORITY : 0, of: key });
    } catch (error) {
      host.report(error, key);
    }
  };
  return {
    name: `${role}: ${informer.name}`,
    informer,
    why: () => {
      const { phase, error } = informer.status;
      return error === undefined ? phase : `${phase}: ${error.message}`;
    },
    listen: (host) =>
      informer.changes$.subscribe({
        next: (set) => {
          for (const change of set.changes) {
            const each = objectChange(set, change);
            if (each !== undefined && passes(each, host)) tell(each, host);
          }
        },
        error: (error) => host.ended(error),
        complete: () => host.ended(),
      }),
  };
}

/** A stream of keys. That it completes is no failure; that it errors is. */
export function keySource(keys$: Observable<string>, at: number): Source {
  return {
    name: `sources[${at}]`,
    why: () => '',
    listen: (host) =>
      keys$.subscribe({
        next: (key) => wake(host, key, 'source', { priority: 0 }),
        error: (error) => host.ended(error),
      }),
  };
}
