/**
 * Creates an informer that any number of subscribers and handlers share.
 * client-go: tools/cache/shared_informer.go, sharedIndexInformer.
 */
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { type Assembly, assemble } from './assembly.ts';
import type { SharedInformerOptions } from './options.ts';
import { noteRemoval } from './removal.ts';
import type { SharedInformer } from './shared-informer.ts';
import { createStateWaits } from './state-waits.ts';
import { createStreams } from './streams.ts';

/**
 * Creates a shared informer over one ListerWatcher, or over several ListerWatchers of different namespaces with one
 * store.
 *
 * No request is sent before `start()` or the first subscription to a data stream. Throws a `TypeError` if several
 * ListerWatchers share a scope, or if a period is not a valid number.
 *
 * @example
 * ```ts
 * import { createClient, createListWatch, createSharedInformer } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const informer = createSharedInformer(createListWatch(client, pods));
 * const names: string[] = [];
 * informer.added$.subscribe((pod) => names.push(pod.metadata.name));
 * await informer.whenSynced({ timeoutMs: 5_000 });
 * names; // => ['web-0']
 * await informer.stop();
 * ```
 */
export function createSharedInformer<T extends KubernetesObject, Names extends string = string>(
  source: ListerWatcher<T> | readonly ListerWatcher<T>[],
  options: SharedInformerOptions<T, Names> = {},
): SharedInformer<T, Names> {
  const listerWatchers = Array.isArray(source)
    ? (source as readonly ListerWatcher<T>[])
    : [source as ListerWatcher<T>];
  return sharedInformerOf(assemble(listerWatchers, options as SharedInformerOptions<T>));
}

/** The public interface of the parts of an informer. */
export function sharedInformerOf<T extends KubernetesObject, Names extends string = string>(
  parts: Assembly<T>,
): SharedInformer<T, Names> {
  const { indexer, board, registrations, lifecycle } = parts;
  const informer: SharedInformer<T> = {
    name: parts.name,
    indexer,
    ...createStreams(parts),
    ...createStateWaits(parts),
    get status() {
      return board.status;
    },
    get hasSynced() {
      return indexer.synced;
    },
    get lastSyncResourceVersion() {
      return indexer.resourceVersion;
    },
    get isStopped() {
      return lifecycle.isStopped;
    },
    addEventHandler: (handler, handlerOptions = {}) => registrations.add(handler, handlerOptions),
    removeEventHandler: (registration, removal = {}) => registrations.remove(registration, removal),
    start: () => lifecycle.start(),
    stop: () => lifecycle.stop(),
    refresh: () => parts.run.refresh(),
  };
  return noteRemoval(informer, () => lifecycle.stop(true));
}
