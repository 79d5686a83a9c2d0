/** Edits by a function of the page, which the worker sends. */
import type { Draft, EditOptions } from '../../client/edit.ts';
import { drafted } from '../../client/edit.ts';
import { addressOf, isObject, type ObjectTarget } from '../../client/object-target.ts';
import { ApiError } from '../../meta/api-error.ts';
import { type KubernetesObject, type Stored, uidOf } from '../../meta/kubernetes-object.ts';
import { type Resource, resourceName } from '../../meta/resource.ts';
import { checkedTimeout } from '../../rx/checked-option.ts';
import { carryError, readError } from '../carried-errors.ts';
import { tabOf, type WorkerCluster } from './connect-worker.ts';
import type { EditMessage, SentEdit } from './tab.ts';

/** The options of {@link editInWorker}: those of `edit` of a client that are data, and two more. */
export interface WorkerEditOptions extends Omit<EditOptions, 'backoff' | 'scheduler' | 'random'> {
  /**
   * How long the edit may take, and how long its draft is shown after the answer without its echo in the watch, in milliseconds.
   * While other edits of the object are sent first, the time does not count. @defaultValue 30000
   */
  readonly timeoutMs?: number | undefined;
}

/**
 * Edits one object. The recipe runs in the page, on the complete object as the server has it, and again after each
 * conflict; the worker sends the difference, and all tabs show the draft until the watch has what was written. Edits of one object by
 * all tabs are sent one after another.
 *
 * Rejects with the {@link ApiError} of the server, with what the recipe throws, with the reason `Network` if the worker ends, and
 * with `Stopped` if the session ends; in both cases the edit may still take effect. Throws a `TypeError` if the target
 * has no name.
 *
 * @example
 * ```ts no-run
 * import { deployments } from 'rx-informer/resources';
 * import { connectWorker, editInWorker } from 'rx-informer/worker';
 *
 * const cluster = connectWorker({
 *   identity: 'user-7',
 *   shared: () => new SharedWorker(new URL('./cluster.worker.ts', import.meta.url), { type: 'module' }),
 * });
 * await editInWorker(cluster, deployments, 'shop/web', (draft) => {
 *   if (draft.spec) draft.spec.replicas = 3;
 * });
 * ```
 */
export async function editInWorker<T extends KubernetesObject>(
  cluster: WorkerCluster,
  resource: Resource<T>,
  target: ObjectTarget,
  recipe: (draft: Draft<T>) => void,
  options: WorkerEditOptions = {},
): Promise<Stored<T>> {
  const { signal, timeoutMs = 30_000, ...data } = options;
  const limitMs = checkedTimeout(timeoutMs, 'editInWorker: timeoutMs');
  const any = resource as Resource<KubernetesObject>;
  const { namespace, name } = addressOf(any, target, undefined);
  const uid = isObject(target) && uidOf(target) !== '' ? uidOf(target) : undefined;
  const { group, version, plural } = resource;
  const edit = {
    resource: { group, version, plural },
    ...{ namespace, name, uid, options: data, timeoutMs: limitMs },
  };
  const aborted = () =>
    ApiError.local('Aborted', `edit of ${resourceName(any)} ${name}: the caller has aborted it`);
  if (signal?.aborted === true) throw aborted();
  return await new Promise<Stored<T>>((resolve, reject) => {
    let sent: SentEdit | undefined;
    let failure: { readonly error: unknown } | undefined;
    const abort = () => sent?.abort();
    const end = (settle: () => void) => {
      signal?.removeEventListener('abort', abort);
      settle();
    };
    const on = (message: EditMessage) => {
      if (message.type === 'base') {
        try {
          const draft = drafted(message.base as T, recipe);
          sent?.send(message.question, { draft });
        } catch (error) {
          // The error itself, because the recipe may throw anything.
          failure = { error };
          sent?.send(message.question, { error: carryError(error) });
        }
        return;
      }
      if (message.type === 'ended') return end(() => reject(message.cause));
      const { error, object } = message;
      if (error === undefined) return end(() => resolve(object as Stored<T>));
      end(() => reject(failure === undefined ? readError(error) : failure.error));
    };
    sent = tabOf(cluster).edit(edit, on);
    signal?.addEventListener('abort', abort);
  });
}
