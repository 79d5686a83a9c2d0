/** Sends the edits of tabs, one after another for each object, and shows their drafts in the rows of all tabs. */
import { firstValueFrom, from } from 'rxjs';
import { createResourceClient } from '../../client/create-resource-client.ts';
import { type EditCalls, type EditOptions, editBy } from '../../client/edit.ts';
import { eitherSignal } from '../../client/either-signal.ts';
import { untilAborted } from '../../client/until-aborted.ts';
import type { EditableLayer } from '../../factory/edits/editable-layer.ts';
import { Overlay } from '../../factory/edits/overlay.ts';
import { Turns } from '../../factory/edits/turns.ts';
import type { InformerPool } from '../../factory/shared-informers.ts';
import { ApiError } from '../../meta/api-error.ts';
import { isFields } from '../../meta/json-fields.ts';
import { metaNamespaceKeyFunc } from '../../meta/key.ts';
import { type KubernetesObject, type Stored, uidOf } from '../../meta/kubernetes-object.ts';
import { defineResource, type Resource, resourceName } from '../../meta/resource.ts';
import { reuseUnchanged } from '../../meta/reuse-unchanged.ts';
import { checkedTimeout } from '../../rx/checked-option.ts';
import { looseTimer } from '../../rx/long-timer.ts';
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

/** A draft, while it is shown. */
interface ShownDraft {
  readonly uid: string;
  readonly key: string;
  readonly id: number;
}

/** The resource of an edit. Its kind does not cross the port, so that of the responses is not checked. */
function resourceOf({ resource, namespace }: CarriedEdit): Resource<KubernetesObject> {
  const { group, version, plural } = resource;
  const namespaced = namespace !== undefined;
  return { ...defineResource({ group, version, plural, kind: 'Any', namespaced }), kind: '' };
}

/** The answer, or an error as soon as the signal aborts: a tab that is frozen must not hold up the edits of others. */
function within<V>(signal: AbortSignal, answer: Promise<V>): Promise<V> {
  return firstValueFrom(from(answer).pipe(untilAborted(signal, 'edit')));
}

export class Edits {
  readonly #informers: InformerPool;
  readonly #overlay = new Overlay();
  readonly #turns = new Turns();

  constructor(informers: InformerPool, layer: EditableLayer) {
    this.#informers = informers;
    layer.cover(this.#overlay);
  }

  /** Returns the server's answer. */
  async edit(edit: CarriedEdit, tab: EditingTab): Promise<AnyObject> {
    const { namespace = '', name } = edit;
    const of = [resourceName(resourceOf(edit)), namespace, name].join('/');
    return await this.#turns.take(of, async (before) => {
      if (before !== undefined) await within(tab.signal, before);
      return await this.#send(edit, tab);
    });
  }

  async #send(edit: CarriedEdit, tab: EditingTab): Promise<AnyObject> {
    const { client, scheduler } = this.#informers;
    if (client === undefined) {
      throw new TypeError(
        'edit: the worker reads several clusters; write with a client of one of them',
      );
    }
    const { name, namespace, uid, options, timeoutMs } = edit;
    const late = new AbortController();
    // A tab may send anything.
    const limitMs = Math.min(checkedTimeout(timeoutMs, 'edit: timeoutMs'), MOST_MS);
    const timer = looseTimer(limitMs, scheduler, () => late.abort());
    const { signal, release } = eitherSignal(tab.signal, late.signal);
    const resource = resourceOf(edit);
    const calls = createResourceClient(client, resource) as EditCalls<KubernetesObject>;
    const target = { name, ...(namespace !== undefined && { namespace }) };
    const where = `edit of ${resourceName(resource)} ${[namespace, name].filter(Boolean).join('/')}`;
    let shown: ShownDraft | undefined;
    const draftOf = async (base: AnyObject): Promise<KubernetesObject> => {
      this.#end(shown);
      shown = undefined;
      if (uid !== undefined && uidOf(base) !== uid) {
        const message = `${where}: the object with uid ${uid} is gone, and another one has its name`;
        throw new ApiError({ code: 404, reason: 'NotFound', message });
      }
      // A copy, whose unchanged parts must be those of the base: only what differs is shown over newer states.
      const copy = (await within(signal, tab.draftOf(base))) as AnyObject;
      if (!isFields(copy) || !isFields(copy.metadata)) {
        throw new TypeError(`${where}: the draft of the tab is not an object with metadata`);
      }
      const draft = reuseUnchanged(base, copy);
      if (options['dryRun'] !== true) shown = this.#show(base, draft);
      return draft;
    };
    try {
      const given = { ...(options as EditOptions), signal, scheduler };
      const written = await editBy<KubernetesObject>(calls, where, target, draftOf, given);
      this.#written(written, shown, limitMs);
      return written;
    } catch (error) {
      this.#end(shown);
      if (!late.signal.aborted) throw error;
      const message = `${where}: the server has not answered for ${timeoutMs} ms; the change may still take effect`;
      throw ApiError.local('Silent', message, { cause: error });
    } finally {
      timer.unsubscribe();
      release();
    }
  }

  #show(base: AnyObject, draft: AnyObject): ShownDraft {
    const key = metaNamespaceKeyFunc(base);
    return { uid: uidOf(base), key, id: this.#overlay.begin(key, base, draft) };
  }

  #end(shown: ShownDraft | undefined): void {
    if (shown !== undefined) this.#overlay.end(shown.uid, shown.key, shown.id);
  }

  /** Shows what was written until the watch has it. */
  #written(object: AnyObject, shown: ShownDraft | undefined, timeoutMs: number): void {
    if (shown === undefined) return;
    const { uid, key, id } = shown;
    this.#overlay.written(uid, key, id, object);
    // Without an echo the state of the informer is shown again.
    const isAwaited = this.#overlay.editsOf(uid).some((each) => each.id === id);
    if (isAwaited) looseTimer(timeoutMs, this.#informers.scheduler, () => this.#end(shown));
  }
}
