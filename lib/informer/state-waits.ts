/** The waits of a shared informer: until it is synced, and until its store shows a version or a deletion. */
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Assembly } from './assembly.ts';
import type { SharedInformer } from './shared-informer.ts';
import { invalidVersion, isAtLeast, observed } from './waits.ts';

export function createStateWaits<T extends KubernetesObject>({
  name,
  indexer,
  board,
  waits,
}: Assembly<T>): Pick<SharedInformer<T>, 'whenSynced' | 'whenObserved' | 'whenAtLeast'> {
  return {
    whenSynced: (wait = {}) =>
      waits.until<void>(
        () => (indexer.synced ? { value: undefined } : undefined),
        wait,
        () => board.notSynced(name, wait.timeoutMs ?? 0),
        () => board.blocking(name, wait),
      ),
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
