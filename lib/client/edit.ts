/**
 * Edits an object: the recipe changes a draft, and its changes are sent as a JSON Patch that applies only to the
 * version that the recipe received. A server rejects such a patch completely if the object has changed, so that
 * nothing is overwritten that the recipe has not seen; then the recipe runs again on the newest object. Unlike a
 * read-modify-update, an edit sends only the changes and cannot lose fields that the type does not know.
 */

import { type Draft, Immer, isDraft } from 'immer';
import { checkedWord } from '../checks/checked-option.ts';
import { ApiError } from '../meta/api-error.ts';
import { isFields } from '../meta/json-fields.ts';
import { type KubernetesObject, type Stored, uidOf, versionOf } from '../meta/kubernetes-object.ts';
import type { CallOptions, WriteOptions } from './call-options.ts';
import { type JsonDifferenceOptions, jsonDifference } from './json-difference.ts';
import { isComplete, isObject, type ObjectTarget } from './object-target.ts';
import type { JsonPatchOperation } from './patch.ts';
import {
  DEFAULT_ATTEMPTS,
  isConflict,
  type RetryOnConflictOptions,
  retryOnConflict,
} from './retry-on-conflict.ts';
import { abortedError } from './until-aborted.ts';

export type { Draft };

/** The options of {@link ResourceClient.edit}. */
export interface EditOptions extends WriteOptions, RetryOnConflictOptions {
  /** With `'status'`, only the changes to the status are written. @defaultValue the object itself */
  readonly subresource?: string | undefined;
  /**
   * The precondition of the write. `resourceVersion`: nothing in the object has changed. `uid`: the object is the same
   * one, and so are every list that the recipe changes inside and every list or map that it adds, removes or replaces
   * as one value. Scalar values are then overwritten, even if another writer has changed them.
   * @defaultValue 'resourceVersion'
   */
  readonly check?: 'resourceVersion' | 'uid' | undefined;
}

/** The two calls that an edit needs. */
export interface EditCalls<T> {
  get(target: ObjectTarget, options: CallOptions): Promise<Stored<T>>;
  patch(
    target: ObjectTarget,
    patch: { readonly json: readonly JsonPatchOperation[] },
    options: WriteOptions & { readonly subresource?: string | undefined },
  ): Promise<Stored<T>>;
}

// A separate instance, because the shared one freezes the base of a draft, and the base belongs to the caller.
const immer = /* @__PURE__ */ new Immer({ autoFreeze: false });

function ignored(): TypeError {
  return new TypeError(
    'edit: the recipe returned an object, which is ignored; change the draft, and return nothing',
  );
}

/** The object with the changes of a recipe. Throws a `TypeError` if the recipe returns a Promise or an object, or changes the name. */
export function drafted<T extends KubernetesObject>(base: T, recipe: (draft: Draft<T>) => void): T {
  let isIgnored = false;
  const made = immer.produce(base, (draft) => {
    // Other return values are ignored, because `(draft) => draft.spec.replicas++` returns a number, and an assignment
    // its value. A new object, or any if nothing has changed, was meant to take the place of the draft.
    const returned: unknown = recipe(draft as Draft<T>);
    if (typeof (returned as PromiseLike<unknown> | undefined)?.then !== 'function') {
      if (!isFields(returned) || isDraft(returned)) return;
      isIgnored = Object.getPrototypeOf(returned) === Object.prototype;
      if (isIgnored && isFields(returned['metadata'])) throw ignored();
      return;
    }
    // The draft is revoked when `produce` ends, so a later rejection of the recipe is of no use.
    (returned as PromiseLike<unknown>).then(undefined, () => {});
    throw new TypeError(
      'edit: the recipe returned a Promise; await all data before the edit, then change the draft synchronously',
    );
  }) as T;
  if (isIgnored && made === base) throw ignored();
  const name = made.metadata?.name;
  if (name === base.metadata?.name) return made;
  // Here, because a page shows the draft before the server can refuse it.
  throw new TypeError(
    `edit: after the recipe metadata.name is ${JSON.stringify(name)}; it must stay ${JSON.stringify(base.metadata?.name)}`,
  );
}

function testOf(base: KubernetesObject, check: 'resourceVersion' | 'uid'): JsonPatchOperation {
  const value = check === 'uid' ? uidOf(base) : versionOf(base);
  return { op: 'test', path: `/metadata/${check}`, value };
}

/**
 * Returns the patch that {@link ResourceClient.edit} sends. It is empty if the recipe changed nothing.
 *
 * Throws a `TypeError` if the recipe returns a Promise, or an object in place of changing the draft, or changes
 * `metadata.name`, and rethrows errors of the recipe.
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
  return patchTo(base, drafted(base, recipe), check, options);
}

function patchTo<T extends KubernetesObject>(
  base: T,
  draft: T,
  check: 'resourceVersion' | 'uid',
  options: JsonDifferenceOptions,
): JsonPatchOperation[] {
  const steps = jsonDifference(base, draft, options);
  return steps.length === 0 ? [] : [testOf(base, check), ...steps];
}

/** The target as the first base, if it is a complete object with a version and a UID. */
function baseOf<T extends KubernetesObject>(target: ObjectTarget): Stored<T> | undefined {
  if (!isComplete(target) || versionOf(target) === '' || uidOf(target) === '') return undefined;
  return target as Stored<T>;
}

/** Implements {@link ResourceClient.edit}. `draftOf` makes the draft of a state, again after each conflict. */
export async function editBy<T extends KubernetesObject>(
  calls: EditCalls<T>,
  where: string,
  target: ObjectTarget,
  draftOf: (base: Stored<T>) => T | Promise<T>,
  options: EditOptions = {},
): Promise<Stored<T>> {
  const { check = 'resourceVersion', signal, attempts: _attempts, ...rest } = options;
  const { backoff: _backoff, scheduler: _scheduler, random: _random, ...write } = rest;
  checkedWord(check, `${where}: check`, ['resourceVersion', 'uid']);
  if (signal?.aborted) throw abortedError(where);
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
    // A store's transform may have removed parts of a list or map, so the object may differ from the server's.
    const guard = check === 'uid' || from === first;
    const json = patchTo<T>(from, await draftOf(from), check, { guard });
    if (json.length === 0) return from;
    try {
      return await calls.patch(target, { json }, { ...write, ...call });
    } catch (error) {
      // A server answers both a failed `test` and an invalid object with a 422. Only an invalid object has causes. Without
      // them the version tells the two apart.
      if (!(error instanceof ApiError) || error.code !== 422) throw error;
      const isInvalid = error.status?.details?.causes?.some(({ field }) => field !== undefined);
      if (isInvalid && from !== first) throw error;
      const now = await fresh();
      const same = versionOf(now) !== '' && versionOf(now) === versionOf(from);
      if (same && from !== first) throw error;
      base = now;
      const message = `${where}: the object was changed by another writer`;
      throw new ApiError({ code: 409, reason: 'Conflict', message, cause: error });
    }
  };
  try {
    return await retryOnConflict(attempt, options);
  } catch (error) {
    if (!isConflict(error)) throw error;
    const { attempts = DEFAULT_ATTEMPTS } = options;
    const next = "try later, raise 'attempts', or use check: 'uid' if other changes do not matter";
    const message = `${where}: another writer changed the object during each of ${attempts} attempts; ${next}`;
    throw new ApiError({ code: 409, reason: 'Conflict', message, cause: error });
  }
}
