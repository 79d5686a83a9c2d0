/**
 * Work that must be done before an object may go. A deleted object is gone from the cache and cannot be cleaned
 * up after; a finalizer keeps it until its controller has said that all is done. kube-rs: runtime::finalizer.
 *
 * The list is shared with other controllers, so it is changed by JSON Patches that hold only for the list they
 * were made from; a merge patch would put the whole list back as it was read.
 */

import type { JsonPatchOperation } from '../client/patch.ts';
import type { ResourceClient } from '../client/resource-client.ts';
import { ApiError } from '../meta/api-error.ts';
import { type KubernetesObject, uidOf, versionOf } from '../meta/kubernetes-object.ts';
import type { Stored } from '../meta/stored.ts';
import type { ReconcileResult } from '../work-queue/outcome.ts';
import type { ReconcileRequest } from './controller.ts';

const TRIES = 5;

/** The two halves of a reconcile. */
export interface FinalizerHandlers<T extends KubernetesObject> {
  /** The object is wanted, and the finalizer holds it. */
  apply(
    object: Stored<T>,
    request: ReconcileRequest<T>,
  ): ReconcileResult | Promise<ReconcileResult>;
  /**
   * The object is to go: undo what `apply` made, outside the cluster too. It may be called again after it was
   * done. Returns with `requeue` or `requeueAfterMs` when it is not done yet; else the finalizer is removed.
   */
  cleanup(
    object: Stored<T>,
    request: ReconcileRequest<T>,
  ): ReconcileResult | Promise<ReconcileResult>;
}

type Calls<T extends KubernetesObject> = Pick<ResourceClient<T>, 'get' | 'patch'>;

/** The steps from one list to the other; `undefined` where there is nothing to do. */
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
    // An empty list is not there at all, and `add` would replace what another has put there since.
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

/** A test of the patch failed, or somebody else was faster: the newest object decides. */
function isOutdated(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 409 || error.code === 422);
}

/** Changes the list; `undefined` when the object is gone. */
async function change<T extends KubernetesObject>(
  client: Calls<T>,
  object: Stored<T>,
  name: string,
  wanted: boolean,
  signal: AbortSignal | undefined,
): Promise<Stored<T> | undefined> {
  const options = signal === undefined ? {} : { signal };
  const { namespace, name: objectName = '' } = object.metadata ?? {};
  const target = { name: objectName, ...(namespace === undefined ? {} : { namespace }) };
  let current = object;
  try {
    for (let tries = 1; ; tries++) {
      const json = steps(current, name, wanted);
      if (json === undefined) return current;
      // No new finalizer is let in once the object is to go.
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
 * Adds a finalizer to an object, and answers the object as it is then: `undefined` where it is gone, without the
 * finalizer where it is being deleted. Does nothing where it is there already.
 *
 * A conflict is tried again on the newest object, five times at most. Rejects with an `ApiError`.
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
 * Removes a finalizer, this one and no other, and answers the object as it is then: `undefined` where it is gone.
 * Does nothing where it is not there. A conflict is tried again on the newest object, five times at most. Rejects
 * with an `ApiError`.
 */
export function removeFinalizer<T extends KubernetesObject>(
  client: Calls<T>,
  object: T,
  name: string,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<Stored<T> | undefined> {
  return change(client, object as Stored<T>, name, false, options.signal);
}

function isPending(result: ReconcileResult): boolean {
  return result?.requeue === true || (result?.requeueAfterMs ?? 0) > 0;
}

/**
 * A reconcile that is split in two: `apply` while the object is wanted, `cleanup` when it is to go.
 *
 * `apply` is not called before the finalizer is on the object, so nothing is ever made that `cleanup` could not
 * take away; it is then called in the same reconcile, with the object as the server answered it. The finalizer is
 * removed when `cleanup` returns without a requeue; when it throws, the object stays and it is tried again. An
 * object that is gone, or is to go and does not have the finalizer, is nobody's business: neither is called.
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
 *   cleanup: () => {}, // delete the bucket at the provider
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
  if (!/^[^/\s]+\/[^/\s]+$/.test(name)) {
    throw new TypeError(
      `finalizer: ${JSON.stringify(name)} is not a valid finalizer name; the server requires 'domain/name', such as 'example.com/cleanup'`,
    );
  }
  return async (_key, request) => {
    const { object, signal } = request;
    if (object === undefined) return undefined;
    if (object.metadata?.deletionTimestamp === undefined) {
      const held = await addFinalizer(client, object, name, { signal });
      const wanted = held !== undefined && held.metadata?.deletionTimestamp === undefined;
      return wanted ? handlers.apply(held, { ...request, object: held }) : undefined;
    }
    if (!object.metadata.finalizers?.includes(name)) return undefined;
    const result = await handlers.cleanup(object, request);
    if (!isPending(result)) await removeFinalizer(client, object, name, { signal });
    return result;
  };
}
