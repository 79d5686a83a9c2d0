/** The waits of an informer: until it is synced, and until its store shows a version or a deletion. */
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { InformerPort } from './part.ts';
import type { SharedInformer } from './shared-informer.ts';
import { invalidVersion, isAtLeast, observed, Waits } from './waits.ts';

export function createStateWaits<T extends KubernetesObject>(
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
        () => (store.synced ? { value: undefined } : undefined),
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
        () => observed(store, key, target),
        wait,
        () => board.notObserved(name, key, wait.timeoutMs ?? 0),
      );
    },
    whenAtLeast: (resourceVersion, wait = {}) => {
      const invalid = invalidVersion('whenAtLeast', resourceVersion);
      if (invalid !== undefined) return Promise.reject(invalid);
      return waits.until<void>(
        () => (isAtLeast(store, resourceVersion) ? { value: undefined } : undefined),
        wait,
        () => board.notObserved(name, `version ${resourceVersion}`, wait.timeoutMs ?? 0),
      );
    },
  };
}
