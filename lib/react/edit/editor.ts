/** The edits of a provider, whose drafts are shown as soon as an edit begins. */

import { createResourceClient } from '../../client/create-resource-client.ts';
import { type Draft, drafted, type EditOptions } from '../../client/edit.ts';
import { addressOf, isComplete, isObject, type ObjectTarget } from '../../client/object-target.ts';
import type { Overlay } from '../../factory/edits/overlay.ts';
import { SentEdits } from '../../factory/edits/sent-edits.ts';
import type { InformerPool } from '../../factory/shared-informers.ts';
import {
  type KubernetesObject,
  type Stored,
  uidOf,
  versionOf,
} from '../../meta/kubernetes-object.ts';
import type { Resource } from '../../meta/resource.ts';
import { isOlder } from '../../meta/resource-version.ts';
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

export class Editor {
  readonly #parts: EditorParts;
  readonly #edits: SentEdits;

  constructor(parts: EditorParts) {
    this.#parts = parts;
    this.#edits = new SentEdits(parts.informers.scheduler);
  }

  /** Shows the draft immediately, sends the edit, and returns the server's answer. */
  async edit<T extends KubernetesObject>(request: EditRequest<T>): Promise<Stored<T>> {
    const { resource, target, recipe, options, timeoutMs } = request;
    const { client, overlay } = this.#parts;
    const known = options.dryRun === true ? undefined : this.#known(resource, target);
    const base = known && overlay.shown(known);
    const make = recipe as (draft: Draft<AnyObject>) => void;
    return await this.#edits.add<Stored<T>>({
      ...{ resource: resource as Resource<KubernetesObject>, target, timeoutMs },
      signal: options.signal,
      draft: base && overlay.begin(base, drafted(base, make)),
      send: (signal) => {
        // The newest state that is known, so that the server does not refuse the edit for an older one.
        const now = known && this.#known(resource, target);
        const isSame = now !== undefined && uidOf(now) === uidOf(known);
        const own = createResourceClient(client, resource) as {
          edit(target: ObjectTarget, recipe: unknown, options: EditOptions): Promise<Stored<T>>;
        };
        return own.edit(isSame ? overlay.newest(now) : target, recipe, { ...options, signal });
      },
    });
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
