/** Sends the edits of a provider, one after another for each object, and shows their drafts until the watch has them. */

import { firstValueFrom, from, type Subscription } from 'rxjs';
import { createResourceClient } from '../../client/create-resource-client.ts';
import { type Draft, drafted, type EditOptions } from '../../client/edit.ts';
import { eitherSignal } from '../../client/either-signal.ts';
import { addressOf, isComplete, isObject, type ObjectTarget } from '../../client/object-target.ts';
import { untilAborted } from '../../client/until-aborted.ts';
import type { Overlay } from '../../factory/edits/overlay.ts';
import { Turns } from '../../factory/edits/turns.ts';
import type { InformerPool } from '../../factory/shared-informers.ts';
import { ApiError } from '../../meta/api-error.ts';
import { metaNamespaceKeyFunc } from '../../meta/key.ts';
import {
  type KubernetesObject,
  type Stored,
  uidOf,
  versionOf,
} from '../../meta/kubernetes-object.ts';
import { type Resource, resourceName } from '../../meta/resource.ts';
import { isOlder } from '../../meta/resource-version.ts';
import { longTimer } from '../../rx/long-timer.ts';
import type { KubeClient } from '../../transport/kube-client.ts';
import type { Provided } from '../provided.ts';
import { overlayOf } from './provided-edits.ts';

type AnyObject = Stored<KubernetesObject>;

/** The parts of a provider that an editor uses. */
export interface EditorParts {
  readonly client: KubeClient;
  readonly informers: InformerPool;
  readonly overlay: Overlay;
}

/** One edit. */
export interface EditRequest<T extends KubernetesObject> {
  readonly resource: Resource<T>;
  readonly target: ObjectTarget;
  readonly recipe: (draft: Draft<T>) => void;
  readonly options: EditOptions;
  readonly timeoutMs: number;
}

/** The draft of an edit, while it is shown. */
interface ShownDraft {
  readonly uid: string;
  readonly key: string;
  readonly id: number;
}

export class Editor {
  readonly #parts: EditorParts;
  readonly #turns = new Turns();

  constructor(parts: EditorParts) {
    this.#parts = parts;
  }

  /** Shows the draft immediately, sends the edit, and returns the server's answer. */
  async edit<T extends KubernetesObject>(request: EditRequest<T>): Promise<Stored<T>> {
    const { resource, target, recipe, options } = request;
    const known = options.dryRun === true ? undefined : this.#known(resource, target);
    const shown = known === undefined ? undefined : this.#show(known, recipe);
    // By the name, because the UID is known only of an object that a hook lists.
    const { namespace, name } = addressOf(resource, target, undefined);
    const of = [resourceName(resource), namespace, name].join('/');
    return await this.#turns.take(of, (before) => this.#after(before, shown, request));
  }

  #show(known: AnyObject, recipe: unknown): ShownDraft {
    const { overlay } = this.#parts;
    const base = overlay.shown(known);
    const draft = drafted(base, recipe as (draft: Draft<AnyObject>) => void) as AnyObject;
    const key = metaNamespaceKeyFunc(known);
    return { uid: uidOf(known), key, id: overlay.begin(key, base, draft) };
  }

  async #after<T extends KubernetesObject>(
    before: Promise<void> | undefined,
    shown: ShownDraft | undefined,
    request: EditRequest<T>,
  ): Promise<Stored<T>> {
    const { overlay, informers } = this.#parts;
    const { resource, target, timeoutMs } = request;
    const turn = () => this.#turn(before, request);
    if (shown === undefined) {
      await turn();
      return await this.#send(request, target);
    }
    const { uid, key, id } = shown;
    try {
      await turn();
      // The newest state that is known, so that the server does not refuse the edit for an older one.
      const known = this.#known(resource, target);
      const newest = known !== undefined && uidOf(known) === uid ? overlay.newest(known) : target;
      const written = await this.#send(request, newest);
      overlay.written(uid, key, id, written);
      // Without an echo the state of the informer is shown again.
      const isAwaited = overlay.editsOf(uid).some((edit) => edit.id === id);
      if (isAwaited)
        longTimer(timeoutMs, informers.scheduler).subscribe(() => overlay.end(uid, key, id));
      return written;
    } catch (error) {
      overlay.end(uid, key, id);
      throw error;
    }
  }

  /** Waits for the edits before, until the caller aborts. */
  async #turn<T extends KubernetesObject>(
    before: Promise<void> | undefined,
    { resource, options }: EditRequest<T>,
  ): Promise<void> {
    if (before === undefined) return;
    const where = `edit of ${resourceName(resource)}`;
    await firstValueFrom(from(before).pipe(untilAborted(options.signal, where)));
  }

  async #send<T extends KubernetesObject>(
    { resource, recipe, options, timeoutMs }: EditRequest<T>,
    target: ObjectTarget,
  ): Promise<Stored<T>> {
    const { client, informers } = this.#parts;
    const late = new AbortController();
    const timer: Subscription = longTimer(timeoutMs, informers.scheduler).subscribe(() =>
      late.abort(),
    );
    const { signal: given } = options;
    const either = eitherSignal(given ?? late.signal, late.signal);
    try {
      const own = createResourceClient(client, resource) as {
        edit(target: ObjectTarget, recipe: unknown, options: EditOptions): Promise<Stored<T>>;
      };
      return await own.edit(target, recipe, { ...options, signal: either.signal });
    } catch (error) {
      if (!late.signal.aborted || given?.aborted === true) throw error;
      const name = addressOf(resource, target, undefined).name;
      const message = `edit ${resourceName(resource)} ${name}: the server has not answered for ${timeoutMs} ms; the change may still take effect`;
      throw ApiError.local('Silent', message, { cause: error });
    } finally {
      timer.unsubscribe();
      either.release();
    }
  }

  /** The newest state of the target: that of an informer, or the target itself. */
  #known<T extends KubernetesObject>(
    resource: Resource<T>,
    target: ObjectTarget,
  ): AnyObject | undefined {
    const any = resource as Resource<KubernetesObject>;
    const { namespace, name } = addressOf(any, target, undefined);
    const key = namespace === undefined ? name : `${namespace}/${name}`;
    const wanted = isObject(target) ? uidOf(target) : '';
    let newest = isComplete(target) && wanted !== '' ? (target as AnyObject) : undefined;
    for (const { scope, informer } of this.#parts.informers.entriesOf(any)) {
      const object = scope.as === 'object' ? informer.indexer.getByKey(key) : undefined;
      if (object === undefined || uidOf(object) === '') continue;
      if (wanted !== '' && uidOf(object) !== wanted) continue;
      const isNewer = newest === undefined || !isOlder(versionOf(object), versionOf(newest));
      if (isNewer) newest = object;
    }
    return newest;
  }
}

/** The editor of a provider, as a part of it. */
export function editorOf(provided: Provided): Editor {
  const { client, informers } = provided;
  return new Editor({ client, informers, overlay: provided.part(overlayOf) });
}
