/** The edits of tabs, which make the drafts, for the rows of all tabs. */

import { checkedTimeout } from '../../checks/checked-option.ts';
import { createResourceClient } from '../../client/create-resource-client.ts';
import { type EditCalls, type EditOptions, editBy } from '../../client/edit.ts';
import type { EditableLayer } from '../../factory/edits/editable-layer.ts';
import { Overlay } from '../../factory/edits/overlay.ts';
import { type SentEdit, SentEdits, within } from '../../factory/edits/sent-edits.ts';
import type { InformerPool } from '../../factory/shared-informers.ts';
import { ApiError } from '../../meta/api-error.ts';
import { isFields } from '../../meta/json-fields.ts';
import { type KubernetesObject, type Stored, uidOf } from '../../meta/kubernetes-object.ts';
import { defineResource, type Resource } from '../../meta/resource.ts';
import type { CarriedEdit } from '../messages.ts';

type AnyObject = Stored<KubernetesObject>;

/** The most that an edit may wait for its tab, in milliseconds. */
const MOST_MS = 2_147_483_647;

/** The side of the tab. */
export interface EditingTab {
  /** Makes a draft of a state. Rejects with the error of the page's function, and if the tab leaves. */
  draftOf(base: unknown): Promise<unknown>;
  readonly signal: AbortSignal;
}

/** The resource of an edit. Its kind does not cross the port, so that of the responses is not checked. */
function resourceOf({ resource, namespace }: CarriedEdit): Resource<KubernetesObject> {
  const { group, version, plural } = resource;
  const namespaced = namespace !== undefined;
  return { ...defineResource({ group, version, plural, kind: 'Any', namespaced }), kind: '' };
}

export class Edits {
  readonly #informers: Pick<InformerPool, 'client' | 'scheduler'>;
  readonly #overlay = new Overlay();
  readonly #edits: SentEdits;

  constructor(informers: Pick<InformerPool, 'client' | 'scheduler'>, layer: EditableLayer) {
    this.#informers = informers;
    this.#edits = new SentEdits(informers.scheduler);
    layer.cover(this.#overlay);
  }

  /** Returns the server's answer. */
  async edit(edit: CarriedEdit, tab: EditingTab): Promise<AnyObject> {
    const { name, namespace, uid, timeoutMs } = edit;
    const { client, scheduler } = this.#informers;
    if (client === undefined) {
      throw new TypeError(
        'edit: the worker reads several clusters; write with a client of one of them',
      );
    }
    const resource = resourceOf(edit);
    const calls = createResourceClient(client, resource) as EditCalls<KubernetesObject>;
    const target = { name, ...(namespace !== undefined && { namespace }) };
    // A tab may send anything.
    const limitMs = Math.min(checkedTimeout(timeoutMs, 'edit: timeoutMs'), MOST_MS);
    const sent: SentEdit<AnyObject> = {
      ...{ resource, target, signal: tab.signal, timeoutMs: limitMs, draft: undefined },
      send: (signal, where) => {
        const options = { ...(edit.options as EditOptions), signal, scheduler };
        const draftOf = async (base: AnyObject): Promise<KubernetesObject> => {
          sent.draft?.end();
          if (uid !== undefined && uidOf(base) !== uid) {
            const message = `${where}: the object with uid ${uid} is gone, and another one has its name`;
            throw new ApiError({ code: 404, reason: 'NotFound', message });
          }
          // A tab that is frozen must not hold up the edits of others.
          const copy = (await within(signal, where, tab.draftOf(base))) as AnyObject;
          if (!isFields(copy) || !isFields(copy.metadata)) {
            throw new TypeError(`${where}: the draft of the tab is not an object with metadata`);
          }
          if (options.dryRun !== true) sent.draft = this.#overlay.begin(base, copy);
          return copy;
        };
        return editBy<KubernetesObject>(calls, where, target, draftOf, options);
      },
    };
    return await this.#edits.add(sent);
  }
}
