/** The waits of an informer: until it is synced, and until its store shows a version or a deletion. */
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Core } from './core.ts';
import type { SharedInformer } from './shared-informer.ts';
import { invalidVersion, isAtLeast, observed, type SyncWaitOptions } from './waits.ts';

/** Creates `whenSynced`, which waits until `isSynced` returns true. */
export function createSyncWait<T extends KubernetesObject>(
  { name, board, waits }: Pick<Core<T>, 'name' | 'board' | 'waits'>,
  isSynced: () => boolean,
): (wait?: SyncWaitOptions) => Promise<void> {
  return (wait = {}) =>
    waits.until<void>(
      () => (isSynced() ? { value: undefined } : undefined),
      wait,
      () => board.notSynced(name, wait.timeoutMs ?? 0),
      () => board.blocking(name, wait),
    );
}

export function createStateWaits<T extends KubernetesObject>(
  core: Core<T>,
): Pick<SharedInformer<T>, 'whenSynced' | 'whenObserved' | 'whenAtLeast'> {
  const { name, indexer, board, waits } = core;
  return {
    whenSynced: createSyncWait(core, () => indexer.synced),
    whenObserved: (key, target, wait = {}) => {
      const invalid = invalidVersion(
        'whenObserved',
        typeof target === 'string' ? target : target.resourceVersion,
      );
      if (invalid !== undefined) return Promise.reject(invalid);
      return waits.until(
        () => observed(indexer, key, target),
        wait,
        () => board.notObserved(name, key, wait.timeoutMs ?? 0),
      );
    },
    whenAtLeast: (resourceVersion, wait = {}) => {
      const invalid = invalidVersion('whenAtLeast', resourceVersion);
      if (invalid !== undefined) return Promise.reject(invalid);
      return waits.until<void>(
        () => (isAtLeast(indexer, resourceVersion) ? { value: undefined } : undefined),
        wait,
        () => board.notObserved(name, `version ${resourceVersion}`, wait.timeoutMs ?? 0),
      );
    },
  };
}
