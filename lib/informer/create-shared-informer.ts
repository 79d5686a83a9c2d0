/**
 * Creates an informer that any number of subscribers and handlers share.
 * client-go: tools/cache/shared_informer.go, sharedIndexInformer.
 */
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { InformerLifecycle } from './lifecycle.ts';
import type { SharedInformerOptions } from './options.ts';
import { type InformerPort, withPort } from './part.ts';
import { Refresher } from './refresher.ts';
import type { SharedInformer } from './shared-informer.ts';
import { isShown } from './sources.ts';
import { createStreams } from './streams.ts';
import { invalidTarget, invalidVersion, isAtLeast, observed, Waits } from './waits.ts';

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
    ? [...(source as readonly ListerWatcher<T>[])]
    : [source as ListerWatcher<T>];
  checkScopes(listerWatchers);
  return sharedInformerOf<T>(
    new InformerLifecycle({ listerWatchers, caller: 'createSharedInformer' }, options),
  );
}

/** Several ListerWatchers need scopes, because otherwise a list of one would delete the objects of another. */
function checkScopes<T>(listerWatchers: readonly ListerWatcher<T>[]): void {
  const [first, ...others] = listerWatchers;
  if (first === undefined) throw new TypeError('createSharedInformer: no ListerWatcher given');
  const scopes = new Set(listerWatchers.map(({ scope }) => scope || undefined));
  if (others.length === 0 || (scopes.size === listerWatchers.length && !scopes.has(undefined)))
    return;
  throw new TypeError(
    'createSharedInformer: each of several ListerWatchers needs a scope (namespace) of its own, because otherwise a list of one would delete the objects of another',
  );
}

/** The public interface of an informer. */
export function sharedInformerOf<T extends KubernetesObject>(
  core: InformerLifecycle<T>,
): SharedInformer<T> {
  const { name, store, board } = core;
  const refresher = core.attach(Refresher, () => new Refresher(core));
  const informer: SharedInformer<T> = {
    name,
    indexer: store,
    ...createStreams(core),
    ...createStateWaits(core),
    get status() {
      return board.status;
    },
    get hasSynced() {
      return store.synced;
    },
    get lastSyncResourceVersion() {
      return store.resourceVersion;
    },
    get isStopped() {
      return core.isStopped;
    },
    start: () => core.start(),
    stop: () => core.stop(),
    refresh: () => refresher.refresh(),
  };
  return withPort(informer, core);
}

/** The waits of an informer: until it is synced, and until its store shows a version or a deletion. */
function createStateWaits<T extends KubernetesObject>(
  port: InformerPort<T>,
): Pick<SharedInformer<T>, 'whenSynced' | 'whenObserved' | 'whenAtLeast'> {
  const { name, store, board, drain, timing } = port;
  const { scheduler } = timing;
  const waits = new Waits({ scheduler, drain, stopError: () => port.stopError });
  port.attach(createStateWaits, () => ({
    committed: () => waits.check(),
    transition: () => waits.check(),
    end: (_why, error) => waits.reject(error),
  }));
  return {
    whenSynced: (wait = {}) =>
      waits.until<void>(
        'whenSynced',
        () => (store.synced ? { value: undefined } : undefined),
        wait,
        () => board.notSynced(name, wait.timeoutMs ?? 0),
        () => board.blocking(name, wait),
      ),
    whenObserved: (key, target, wait = {}) => {
      const invalid = invalidTarget(target);
      if (invalid !== undefined) return Promise.reject(invalid);
      return waits.until(
        'whenObserved',
        // The objects of other namespaces may exist nevertheless.
        () => (isShown(board.access, key) ? observed(store, key, target) : undefined),
        wait,
        () => board.notObserved(name, key, wait.timeoutMs ?? 0),
      );
    },
    whenAtLeast: (resourceVersion, wait = {}) => {
      const invalid = invalidVersion('whenAtLeast', resourceVersion ?? '');
      if (invalid !== undefined) return Promise.reject(invalid);
      return waits.until<void>(
        'whenAtLeast',
        () => (isAtLeast(store, resourceVersion) ? { value: undefined } : undefined),
        wait,
        () => board.notObserved(name, `version ${resourceVersion}`, wait.timeoutMs ?? 0),
      );
    },
  };
}
