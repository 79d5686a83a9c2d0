/** `useEdit`, which edits objects and shows the result before the watch has it. */
import { useState, useSyncExternalStore } from 'react';
import { checkedTimeout } from '../../checks/checked-option.ts';
import type { Draft, EditOptions } from '../../client/edit.ts';
import type { ObjectTarget } from '../../client/object-target.ts';
import type { KubernetesObject, Stored } from '../../meta/kubernetes-object.ts';
import type { Resource } from '../../meta/resource.ts';
import { Hub } from '../../rx/sharing/hub.ts';
import { useProvided } from '../provider.ts';
import type { ProviderState } from '../provider-state.ts';
import { editorOf } from './editor.ts';

/** The options of {@link useEdit}, and of each edit. */
export interface UseEditOptions extends EditOptions {
  /**
   * How long the draft is shown without an answer of the server, and after the answer without its echo in the watch. The
   * time is in milliseconds. An edit without an answer is then aborted. While other edits of the object are sent first, the time
   * does not count. @defaultValue 30000
   */
  readonly timeoutMs?: number | undefined;
}

/** What {@link useEdit} returns. It never changes. */
export interface EditResult<T extends KubernetesObject> {
  /**
   * Edits an object: the object itself, its key, or `{ namespace, name }`. The recipe changes a draft, as for
   * `ResourceClient.edit`; it may run several times. Resolves with the server's answer. Rejects with the server's error,
   * which is also in `error`, so the promise may be ignored.
   */
  readonly edit: (
    target: ObjectTarget,
    recipe: (draft: Draft<T>) => void,
    options?: UseEditOptions,
  ) => Promise<Stored<T>>;
  /** The number of edits of this hook that the server has not answered. */
  readonly pending: number;
  /** The error of the last edit that has failed, until the next edit begins or {@link dismiss} is called. */
  readonly error: Error | undefined;
  readonly dismiss: () => void;
}

const TIMEOUT_MS = 30_000;

/** Sends one edit. */
export type SendEdit<T extends KubernetesObject> = (
  target: ObjectTarget,
  recipe: (draft: Draft<T>) => void,
  options: EditOptions & { readonly timeoutMs: number },
) => Promise<Stored<T>>;

/** The edits of one hook. */
class Edits<T extends KubernetesObject> {
  readonly #send: SendEdit<T>;
  readonly #listeners = new Hub<() => void>();
  #result: EditResult<T>;

  constructor(send: SendEdit<T>) {
    this.#send = send;
    this.#result = this.#made(0, undefined);
  }

  readonly getSnapshot = (): EditResult<T> => this.#result;

  readonly subscribe = (listener: () => void): (() => void) => this.#listeners.add(listener);

  readonly dismiss = (): void => this.#show(this.#result.pending, undefined);

  readonly edit: EditResult<T>['edit'] = (target, recipe, options = {}) => {
    const done = this.#begin(target, recipe, options);
    // The error is in the result, too, so nobody has to await the promise.
    done.catch(() => undefined);
    return done;
  };

  async #begin(
    target: ObjectTarget,
    recipe: (draft: Draft<T>) => void,
    { timeoutMs = TIMEOUT_MS, ...options }: UseEditOptions,
  ): Promise<Stored<T>> {
    this.#show(this.#result.pending + 1, undefined);
    try {
      checkedTimeout(timeoutMs, 'useEdit: timeoutMs');
      const written = await this.#send(target, recipe, { ...options, timeoutMs });
      this.#show(this.#result.pending - 1, this.#result.error);
      return written;
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause));
      this.#show(this.#result.pending - 1, error);
      throw cause;
    }
  }

  #made(pending: number, error: Error | undefined): EditResult<T> {
    return Object.freeze({ edit: this.edit, pending, error, dismiss: this.dismiss });
  }

  #show(pending: number, error: Error | undefined): void {
    this.#result = this.#made(pending, error);
    this.#listeners.tell((listener) => listener());
  }
}

/**
 * Edits objects of a resource. The draft is shown immediately in every query of the provider. It is an overlay: the
 * informers keep the state of the server, and `useInformer` returns that state. The overlay ends when the watch has
 * delivered the written version, when the server refuses the edit (then the former state is shown again, and `error` has
 * the words of the server), when the object is deleted, or after `timeoutMs`. Events that are older than the written
 * version do not bring the former values back. Edits of one object are sent one after another.
 *
 * An object that a draft moves into a query by its labels or by an index appears there with the echo, not before.
 * Unmounting the component does not cancel an edit. Throws an `Error` without an {@link InformerProvider}.
 *
 * @example
 * ```ts no-run
 * import { createElement } from 'react';
 * import { useEdit, useList } from 'rx-informer/react';
 * import { deployments } from 'rx-informer/resources';
 *
 * function Scale() {
 *   const { rows } = useList(deployments, { namespace: 'shop' });
 *   const { edit, error } = useEdit(deployments);
 *   const scale = (deployment: (typeof rows)[number]) =>
 *     edit(deployment, (draft) => {
 *       if (draft.spec) draft.spec.replicas = (draft.spec.replicas ?? 1) + 1;
 *     });
 *   const buttons = rows.map((each) =>
 *     createElement('button', { key: each.metadata.uid, onClick: () => scale(each) }, each.spec?.replicas),
 *   );
 *   return createElement('div', {}, buttons, error?.message);
 * }
 * createElement(Scale);
 * ```
 */
export function useEdit<T extends KubernetesObject>(resource: Resource<T>): EditResult<T> {
  const provided = useProvided('useEdit');
  return useEditsOf<T>(provided, resource, (target, recipe, { timeoutMs, ...options }) =>
    provided.part(editorOf).edit({ resource, target, recipe, options, timeoutMs }),
  );
}

/** The edits of a resource, sent by the first function that is given for the provider and the resource. */
export function useEditsOf<T extends KubernetesObject>(
  provided: ProviderState,
  { group, version, plural }: Resource<T>,
  send: SendEdit<T>,
): EditResult<T> {
  const identity = `${group}/${version}/${plural}`;
  const begin = () => ({ provided, identity, edits: new Edits<T>(send) });
  const [held, setHeld] = useState(begin);
  let now = held;
  if (held.provided !== provided || held.identity !== identity) {
    now = begin();
    setHeld(now);
  }
  const { subscribe, getSnapshot } = now.edits;
  return useSyncExternalStore(subscribe, getSnapshot, getSnapshot);
}
