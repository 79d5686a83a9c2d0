/** Edits by a function of the page, which the worker sends. */

import { checkedTimeout } from '../../checks/checked-option.ts';
import type { Draft, EditOptions } from '../../client/edit.ts';
import { drafted } from '../../client/edit.ts';
import { addressOf, isObject, type ObjectTarget } from '../../client/object-target.ts';
import { ApiError } from '../../meta/api-error.ts';
import { type KubernetesObject, type Stored, uidOf } from '../../meta/kubernetes-object.ts';
import { type Resource, resourceName } from '../../meta/resource.ts';
import { type CarriedError, carryError, readError } from '../../wire/carried-errors.ts';
import type { CarriedEdit, OfSession } from '../messages.ts';
import { tabOf } from './connect-peer.ts';
import type { EditMessage, Tab } from './tab.ts';
import type { WorkerCluster } from './worker-cluster.ts';

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
  const where = `edit of ${resourceName(any)} ${name}`;
  const aborted = (rest = '') =>
    ApiError.local('Aborted', `${where}: the caller has aborted it${rest}`);
  if (signal?.aborted === true) throw aborted();
  return await new Promise<Stored<T>>((resolve, reject) => {
    const sent = sendEdit(tabOf(cluster), edit, (message) => {
      if (message.type === 'ended') return end(() => reject(message.cause));
      if (message.type === 'base') {
        try {
          sent.send(message.question, { draft: drafted(message.base as T, recipe) });
        } catch (error) {
          // The error itself, because the recipe may throw anything.
          failure = { error };
          sent.send(message.question, { error: carryError(error) });
        }
        return;
      }
      const { error, object } = message;
      if (error === undefined) return end(() => resolve(object as Stored<T>));
      end(() => reject(failure === undefined ? readError(error) : failure.error));
    });
    let failure: { readonly error: unknown } | undefined;
    const end = (settle: () => void) => {
      sent.end();
      signal?.removeEventListener('abort', abort);
      settle();
    };
    const abort = () => {
      sent.abort();
      // At once, because the worker may not answer any more.
      end(() => reject(aborted('; the edit may still take effect')));
    };
    signal?.addEventListener('abort', abort);
  });
}

/** An edit that was sent. */
export interface SentEdit {
  send(
    question: number,
    draft: { readonly draft: unknown } | { readonly error: CarriedError },
  ): void;
  abort(): void;
  /** Nothing is received any more. */
  end(): void;
}

/**
 * Sends an edit. `on` receives the states of which drafts are to be made, then the end. Throws an `ApiError` if there is no
 * session.
 */
export function sendEdit(
  tab: Tab,
  edit: CarriedEdit,
  on: (message: EditMessage) => void,
): SentEdit {
  const { session } = tab;
  if (session === undefined) {
    const { error } = tab.link.connection;
    throw error ?? ApiError.local('Network', 'the worker has not answered yet');
  }
  const id = tab.nextId();
  // First, because it throws if the edit cannot be sent.
  tab.post({ type: 'edit', id, edit });
  tab.edits.set(id, on);
  const post = (message: OfSession) => {
    if (tab.session === session) tab.post(message);
  };
  return {
    send: (question, draft) => post({ type: 'draft', id: question, ...draft }),
    abort: () => post({ type: 'edit-abort', id }),
    end: () => tab.edits.delete(id),
  };
}
