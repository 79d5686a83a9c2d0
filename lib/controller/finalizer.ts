/**
 * Cleanup before an object is deleted. A deleted object is no longer in the cache, so its controller could not clean up after it.
 * A finalizer keeps the object until the controller has removed the finalizer. kube-rs: runtime::finalizer.
 *
 * Other controllers write the same list. So it is changed by JSON Patches that are valid only for the list they were made
 * from; a merge patch would overwrite the complete list with an old one.
 */

import { isObservable, type Observable, Subscription } from 'rxjs';
import { checkedText } from '../checks/checked-option.ts';
import type { JsonPatchOperation } from '../client/patch.ts';
import type { ResourceClient } from '../client/resource-client.ts';
import { ApiError } from '../meta/api-error.ts';
import { type KubernetesObject, type Stored, uidOf, versionOf } from '../meta/kubernetes-object.ts';
import type { ReconcileResult } from '../work-queue/reconcile-run.ts';
import type { ReconcileRequest } from './controller.ts';

const TRIES = 5;

/** The two parts of a reconcile. */
export interface FinalizerHandlers<T extends KubernetesObject> {
  /** Called while the object is not being deleted and has the finalizer. */
  apply(
    object: Stored<T>,
    request: ReconcileRequest<T>,
  ): ReconcileResult | Promise<ReconcileResult> | Observable<ReconcileResult>;
  /**
   * Called while the object is being deleted: undo what `apply` did, also outside of the cluster. It may be called again after
   * it has succeeded. If the cleanup is not done yet, return `requeue` or `requeueAfterMs`; otherwise the finalizer is removed.
   * The last value of an Observable is its result; it is unsubscribed if the signal aborts, and the finalizer stays.
   * An invalid `requeueAfterMs`, such as NaN, keeps the finalizer; the work queue gives the key up with a `TypeError`.
   */
  cleanup(
    object: Stored<T>,
    request: ReconcileRequest<T>,
  ): ReconcileResult | Promise<ReconcileResult> | Observable<ReconcileResult>;
}

type Calls<T extends KubernetesObject> = Pick<ResourceClient<T>, 'get' | 'patch'>;

/** The patch that adds or removes the finalizer; `undefined` if nothing has to change. */
function steps(
  object: KubernetesObject,
  name: string,
  wanted: boolean,
): readonly JsonPatchOperation[] | undefined {
  const finalizers = object.metadata?.finalizers ?? [];
  const at = finalizers.indexOf(name);
  const path = '/metadata/finalizers';
  const sameObject = { op: 'test', path: '/metadata/uid', value: uidOf(object) } as const;
  if (wanted) {
    if (at !== -1) return undefined;
    // An empty list is absent on the server, and `add` would replace a list that another client has added since.
    const unchanged =
      finalizers.length === 0
        ? ({ op: 'test', path: '/metadata/resourceVersion', value: versionOf(object) } as const)
        : ({ op: 'test', path, value: finalizers } as const);
    const add =
      finalizers.length === 0
        ? ({ op: 'add', path, value: [name] } as const)
        : ({ op: 'add', path: `${path}/-`, value: name } as const);
    return [sameObject, unchanged, add];
  }
  if (at === -1) return undefined;
  const element = `${path}/${at}`;
  return [sameObject, { op: 'test', path: element, value: name }, { op: 'remove', path: element }];
}

/** A test of the patch failed or the object changed: read it again and decide by its newest state. */
function isOutdated(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 409 || error.code === 422);
}

/** Changes the list of finalizers; returns `undefined` if the object does not exist any more. */
async function change<T extends KubernetesObject>(
  client: Calls<T>,
  object: Stored<T>,
  name: string,
  wanted: boolean,
  signal: AbortSignal | undefined,
): Promise<Stored<T> | undefined> {
  const options = signal === undefined ? {} : { signal };
  const { namespace, name: objectName = '' } = object.metadata ?? {};
  const target = { name: objectName, namespace };
  let current = object;
  try {
    for (let tries = 1; ; tries++) {
      const json = steps(current, name, wanted);
      if (json === undefined) return current;
      // The API server refuses new finalizers on an object that is being deleted.
      if (wanted && current.metadata?.deletionTimestamp !== undefined) return current;
      try {
        return await client.patch(target, { json }, options);
      } catch (error) {
        if (!isOutdated(error) || tries === TRIES) throw error;
      }
      current = await client.get(target, options);
      if (uidOf(current) !== uidOf(object)) return undefined;
    }
  } catch (error) {
    if (error instanceof ApiError && error.isNotFound) return undefined;
    throw error;
  }
}

/**
 * Adds a finalizer to an object and returns the object in its new state. Returns `undefined` if the object does not exist any
 * more, and the object without the finalizer if it is being deleted. Sends nothing if the object has the finalizer.
 *
 * A conflict is retried on the newest object, with at most five attempts. Rejects with an `ApiError`.
 */
export function addFinalizer<T extends KubernetesObject>(
  client: Calls<T>,
  object: T,
  name: string,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<Stored<T> | undefined> {
  return change(client, object as Stored<T>, name, true, options.signal);
}

/**
 * Removes this finalizer, and no other, and returns the object in its new state; `undefined` if the object does not exist any
 * more. Sends nothing if the object does not have the finalizer. A conflict is retried on the newest object, with at most five
 * attempts. Rejects with an `ApiError`.
 */
export function removeFinalizer<T extends KubernetesObject>(
  client: Calls<T>,
  object: T,
  name: string,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<Stored<T> | undefined> {
  return change(client, object as Stored<T>, name, false, options.signal);
}

/** The last value of an Observable, which is unsubscribed when the signal aborts. */
function resultOf(
  returned: ReconcileResult | Promise<ReconcileResult> | Observable<ReconcileResult>,
  signal: AbortSignal,
): ReconcileResult | Promise<ReconcileResult> {
  if (!isObservable(returned)) return returned;
  return new Promise((resolve, reject) => {
    let last: ReconcileResult;
    const work = new Subscription();
    const end = (settle: () => void) => {
      work.unsubscribe();
      settle();
    };
    const stop = () => end(() => reject(signal.reason as Error));
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop);
    work.add(() => signal.removeEventListener('abort', stop));
    const next = (result: ReconcileResult) => {
      last = result;
    };
    const error = (cause: unknown) => end(() => reject(cause as Error));
    const complete = () => end(() => resolve(last));
    work.add(returned.subscribe({ next, error, complete }));
  });
}

/** An invalid `requeueAfterMs` counts as pending, because the cleanup asked for another call. */
function isPending({ requeue, requeueAfterMs = 0 }: NonNullable<ReconcileResult> = {}): boolean {
  return requeue === true || !(typeof requeueAfterMs === 'number' && requeueAfterMs <= 0);
}

/**
 * Creates a reconcile from two parts: `apply` while the object exists, `cleanup` when it is being deleted.
 *
 * `apply` is not called before the finalizer is on the object, so `cleanup` is called for everything that `apply` creates. It
 * is called in the same reconcile that adds the finalizer, with the object from the server's response. The finalizer is removed
 * when `cleanup` returns without a requeue. If `cleanup` throws, the object stays and the reconcile is retried. For an object that
 * does not exist, or that is being deleted without this finalizer, neither part is called.
 *
 * Throws a `TypeError` if `name` is not a valid finalizer name.
 *
 * kube-rs: runtime::finalizer
 *
 * @example
 * ```ts
 * import { finalizer } from 'rx-informer';
 *
 * const bucket = { metadata: { name: 'logs', uid: '1', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.com/bucket'] } };
 * const patches: unknown[] = [];
 * const client = {
 *   get: async () => bucket,
 *   patch: async (_target: unknown, patch: unknown) => { patches.push(patch); return bucket; },
 * };
 * const reconcile = finalizer(client, 'example.com/bucket', {
 *   apply: () => {},
 *   cleanup: () => {}, // delete the bucket of the provider
 * });
 * await reconcile('logs', { object: bucket, signal: new AbortController().signal } as never);
 * patches.length; // => 1
 * ```
 */
export function finalizer<T extends KubernetesObject>(
  client: Calls<T>,
  name: string,
  handlers: FinalizerHandlers<T>,
): (key: string, request: ReconcileRequest<T>) => Promise<ReconcileResult> {
  const must = "'domain/name' as servers require, such as 'example.com/cleanup'";
  checkedText(name, 'finalizer: name', /^[^/\s]+\/[^/\s]+$/, must);
  return async (_key, request) => {
    const { object, signal } = request;
    if (object === undefined) return undefined;
    if (object.metadata?.deletionTimestamp === undefined) {
      const held = await addFinalizer(client, object, name, { signal });
      const wanted = held !== undefined && held.metadata?.deletionTimestamp === undefined;
      return wanted
        ? await resultOf(handlers.apply(held, { ...request, object: held }), signal)
        : undefined;
    }
    if (!object.metadata.finalizers?.includes(name)) return undefined;
    const result = await resultOf(handlers.cleanup(object, request), signal);
    if (!isPending(result ?? undefined)) await removeFinalizer(client, object, name, { signal });
    return result;
  };
}
