/**
 * The sources of a controller's keys: the reconciled objects, the objects that they own, other objects with a mapping, and
 * streams of keys. client-go: the handlers of sample-controller; controller-runtime: pkg/builder, pkg/handler.
 */

import type { Observable, Subscription } from 'rxjs';
import { check } from '../checks/checked-option.ts';
import type { InformerStatus } from '../informer/status/status.ts';
import type { KubernetesObject, Stored } from '../meta/kubernetes-object.ts';
import type { ChangeSet } from '../store/change-set.ts';
import { isKey, shownKey } from '../work-queue/work-queue.ts';
import { ask } from './combine.ts';
import { type ObjectChange, objectChange, type Predicate } from './predicates.ts';

/** The part of an informer that a controller uses. Every `SharedInformer` has it. */
export interface WatchedInformer<T extends KubernetesObject> {
  readonly name: string;
  readonly changes$: Observable<ChangeSet<T>>;
  readonly indexer: { getByKey(key: string): Stored<T> | undefined };
  readonly status: Pick<InformerStatus, 'phase' | 'error'>;
  readonly status$?: Observable<unknown>;
  /**
   * Returns the part of a key that stands before `namespace/name`, such as the name of a cluster and `/`.
   * @defaultValue ''
   */
  prefixOf?(key: string): string;
  /**
   * Returns whether the part of the collection that has this key is complete, for an informer that is synced before all
   * of its parts are; `undefined` if there is no such part. A key is reconciled when its part is complete in all
   * informers of the controller, and not at all if the reconciled objects have no such part. `status$` must emit when
   * a part becomes complete.
   * @defaultValue all keys are reconciled
   */
  isCompleteAt?(key: string): boolean | undefined;
}

/** An informer whose changes are filtered by predicates. */
export interface FilteredSource<T extends KubernetesObject> {
  readonly informer: WatchedInformer<T>;
  /** A change passes if all of them pass it. @defaultValue every change passes */
  readonly predicates?: readonly Predicate<T>[] | undefined;
}

/** An informer whose changes affect other objects. */
export interface MappedSource<T extends KubernetesObject> extends FilteredSource<T> {
  /**
   * Returns the keys that a change affects. It receives the state before and the state after, because an object that moves from
   * one owner to another affects both.
   */
  map(change: ObjectChange<T>): Iterable<string>;
}

/** The priority of keys from initial lists and resyncs, which wait behind later changes. controller-runtime: handler.LowPriority */
export const LOW_PRIORITY: number = -100;

/** Receives keys and errors from a source. */
export interface SourceHost {
  /** `of` is the key of the object whose change affects this key. */
  wake(key: string, reason: string, priority: number, of?: string): void;
  /** Called when the source will emit no more. */
  ended(error?: unknown): void;
  report(error: unknown, key?: string): void;
}

/** A source of keys. */
export interface Source {
  /** The name in status and errors, such as `for: foos`. */
  readonly name: string;
  /** Why the source is not synced, as far as is known. */
  why(): string;
  /** The informer to wait for; absent if there is none. */
  readonly informer?: WatchedInformer<KubernetesObject>;
  listen(host: SourceHost): Subscription;
}

/** Queues a key. An invalid key is reported, and does not affect the others. */
function wake(
  host: SourceHost,
  key: string,
  reason: string,
  { priority, of }: { readonly priority: number; readonly of?: string },
): void {
  if (isKey(key)) return host.wake(key, reason, priority, of);
  const message = `${shownKey(key)} is not a key; give 'namespace/name', or 'name'`;
  return host.report(new TypeError(message), of);
}

/** Converts the changes of an informer to keys. */
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
        // The change passes, because one reconcile too many is better than a missed change.
        host.report(error, change.key);
        return true;
      }
    });
  const enqueue = (change: ObjectChange<T>, host: SourceHost) => {
    const { type, cause, key } = change;
    const quiet = cause === 'initial' || cause === 'resync';
    const reason = `${role}:${cause === 'resync' ? cause : type}`;
    try {
      const keys: Iterable<string> = source.map(change);
      // A string is iterable, too, but by its characters.
      const isList = typeof keys === 'object' && Symbol.iterator in keys;
      check(isList, `${role}: what map returned`, keys, 'a list of keys');
      for (const affected of keys)
        wake(host, affected, reason, { priority: quiet ? LOW_PRIORITY : 0, of: key });
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
            if (each !== undefined && passes(each, host)) enqueue(each, host);
          }
        },
        error: (error) => host.ended(error),
        complete: () => host.ended(),
      }),
  };
}

/** A stream of keys. The controller becomes unhealthy if the stream errors, and not if it completes. */
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
