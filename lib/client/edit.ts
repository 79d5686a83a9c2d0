/**
 * Changes by draft: the recipe changes a draft of the object, and what it did is sent as a JSON Patch that holds
 * only for what it was made from. A server refuses such a patch as a whole, so nothing is overwritten that the
 * recipe has not seen; then the recipe runs again on the newest. Better than read-change-update: only what changed
 * is sent, and fields that the type does not know cannot get lost.
 */

import { type Draft, Immer } from 'immer';
import { ApiError } from '../meta/api-error.ts';
import { type KubernetesObject, uidOf, versionOf } from '../meta/kubernetes-object.ts';
import type { Stored } from '../meta/stored.ts';
import type { CallOptions, WriteOptions } from './call-options.ts';
import { type JsonDifferenceOptions, jsonDifference } from './json-difference.ts';
import { isObject, type ObjectTarget } from './object-target.ts';
import type { JsonPatchOperation } from './patch.ts';
import { isConflict, type RetryOnConflictOptions, retryOnConflict } from './retry-on-conflict.ts';

export type { Draft };

/** What {@link ResourceClient.edit} takes. */
export interface EditOptions extends WriteOptions, RetryOnConflictOptions {
  /** `'status'`: only what the recipe does to the status is written. @defaultValue the object itself */
  readonly subresource?: string | undefined;
  /**
   * What must not have changed. `resourceVersion`: anything. `uid`: only that it is the same object, every list that
   * the recipe changed, and every list or map that it added, removed or replaced as a whole; single values are then
   * written over whatever they are.
   * @defaultValue 'resourceVersion'
   */
  readonly check?: 'resourceVersion' | 'uid' | undefined;
}

/** The two calls that an edit is made of. */
export interface EditCalls<T> {
  get(target: ObjectTarget, options: CallOptions): Promise<Stored<T>>;
  patch(
    target: ObjectTarget,
    patch: { readonly json: readonly JsonPatchOperation[] },
    options: WriteOptions & { readonly subresource?: string | undefined },
  ): Promise<Stored<T>>;
}

// Of our own, because the shared one freezes what a draft was made from: that is the caller's.
const immer = /* @__PURE__ */ new Immer({ autoFreeze: false });

function drafted<T extends KubernetesObject>(base: T, recipe: (draft: Draft<T>) => void): T {
  return immer.produce(base, (draft) => {
    // What it returns is not looked at: `(draft) => draft.spec.replicas++` means the change.
    const returned: unknown = recipe(draft as Draft<T>);
    if (typeof (returned as PromiseLike<unknown> | undefined)?.then !== 'function') return;
    // It goes on with a draft that is no more; only this error is of use.
    (returned as PromiseLike<unknown>).then(undefined, () => {});
    throw new TypeError(
      'edit: the recipe returned a Promise; get all it needs first, then change the draft synchronously',
    );
  }) as T;
}

function testOf(base: KubernetesObject, check: 'resourceVersion' | 'uid'): JsonPatchOperation {
  const value = check === 'uid' ? uidOf(base) : versionOf(base);
  return { op: 'test', path: `/metadata/${check}`, value };
}

/**
 * The patch that {@link ResourceClient.edit} sends; empty when the recipe changed nothing.
 *
 * Throws a `TypeError` when the recipe returns a Promise, and what the recipe throws.
 *
 * @example
 * ```ts
 * import { editPatch } from 'rx-informer';
 *
 * const object = { metadata: { name: 'prices', resourceVersion: '7', labels: { app: 'shop' } } };
 * const recipe = (draft: typeof object) => {
 *   draft.metadata.labels.app = 'bar';
 * };
 * editPatch(object, recipe)[0]; // => { op: 'test', path: '/metadata/resourceVersion', value: '7' }
 * editPatch(object, recipe)[1]; // => { op: 'replace', path: '/metadata/labels/app', value: 'bar' }
 * ```
 */
export function editPatch<T extends KubernetesObject>(
  base: T,
  recipe: (draft: Draft<T>) => void,
  check: 'resourceVersion' | 'uid' = 'resourceVersion',
  options: JsonDifferenceOptions = { guard: check === 'uid' },
): JsonPatchOperation[] {
  const steps = jsonDifference(base, drafted(base, recipe), options);
  return steps.length === 0 ? [] : [testOf(base, check), ...steps];
}

/** An object at hand serves as the first base when it says which version it is. */
function baseOf<T extends KubernetesObject>(target: ObjectTarget): Stored<T> | undefined {
  if (!isObject(target) || versionOf(target) === '' || uidOf(target) === '') return undefined;
  return target as Stored<T>;
}

/** See {@link ResourceClient.edit}. */
export async function edit<T extends KubernetesObject>(
  calls: EditCalls<T>,
  where: string,
  target: ObjectTarget,
  recipe: (draft: Draft<T>) => void,
  options: EditOptions = {},
): Promise<Stored<T>> {
  const { check = 'resourceVersion', signal, attempts: _attempts, ...rest } = options;
  const { backoff: _backoff, scheduler: _scheduler, random: _random, ...write } = rest;
  if (check !== 'resourceVersion' && check !== 'uid') {
    throw new TypeError(
      `${where}: check is ${JSON.stringify(check)}; it is 'resourceVersion' or 'uid'`,
    );
  }
  const call = signal === undefined ? {} : { signal };
  const first = baseOf<T>(target);
  const uid = isObject(target) ? uidOf(target) : '';
  let base = first;

  const fresh = async (): Promise<Stored<T>> => {
    const object = await calls.get(target, call);
    if (uid === '' || uidOf(object) === uid) return object;
    const message = `${where}: the object with uid ${uid} is gone, and another one has its name (uid ${uidOf(object)})`;
    throw new ApiError({ code: 404, reason: 'NotFound', message });
  };
  const attempt = async (): Promise<Stored<T>> => {
    const from = base ?? (await fresh());
    base = undefined;
    // A store's transform may have cut a list or a map: what it shows is then not what the server has.
    const guard = check === 'uid' || from === first;
    const json = editPatch<T>(from, recipe, check, { guard });
    if (json.length === 0) return from;
    try {
      return await calls.patch(target, { json }, { ...write, ...call });
    } catch (error) {
      // A server answers a failed `test` as it answers an object that is not valid: the object tells which it was.
      if (!(error instanceof ApiError) || error.code !== 422) throw error;
      const now = await fresh();
      const same = versionOf(now) !== '' && versionOf(now) === versionOf(from);
      if (same && from !== first) throw error;
      base = now;
      const message = `${where}: the object was changed meanwhile`;
      throw new ApiError({ code: 409, reason: 'Conflict', message, cause: error });
    }
  };
  try {
    return await retryOnConflict(attempt, options);
  } catch (error) {
    if (!isConflict(error)) throw error;
    const { attempts = 5 } = options;
    const next = "try later, raise 'attempts', or use check: 'uid' if other changes do not matter";
    const message = `${where}: another writer changed the object during each of ${attempts} attempts; ${next}`;
    throw new ApiError({ code: 409, reason: 'Conflict', message, cause: error });
  }
}
