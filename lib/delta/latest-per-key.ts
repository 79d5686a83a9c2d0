/** `latestPerKey`, which folds the waiting deltas of a key to one net delta. */
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { isOlder } from '../meta/resource-version.ts';
import type { Deletion as Deleted } from '../reflector/delta.ts';
import { isOutdatedDeletion, stateOf } from './outdated-deletions.ts';
import {
  betterInformed,
  type Entry,
  type Folding,
  isSameDeletion,
  type Keyed,
  type NetDelta,
  type Present,
  type RefusedDelta,
  uid,
} from './pending-deltas.ts';

class LatestPerKey<T> implements Folding<T> {
  /** The net of each key since the last relist, across which deltas are not folded. */
  #nets = new Map<string, NetDelta<T>>();

  push(delta: Keyed<T>, entries: Entry<T>[]): boolean {
    const last = this.#nets.get(delta.key);
    if (last === undefined) {
      const entry: NetDelta<T> = {
        type: 'net',
        deleted: delta.type === 'deleted' ? delta : undefined,
        deletedLater: undefined,
        present: delta.type === 'deleted' || delta.type === 'refused' ? undefined : delta,
        refused: delta.type === 'refused' ? delta : undefined,
        fleeting: false,
      };
      entries.push(entry);
      this.#nets.set(delta.key, entry);
      return true;
    }
    if (delta.type === 'refused') this.#foldRefusal(delta, last);
    // A `sync` of a key with a pending delta is dropped, because the pending delta is newer.
    else if (delta.type === 'deleted') this.#foldDeletion(delta, last);
    else if (delta.type !== 'sync') this.#foldState(delta, last);
    return false;
  }

  forget(): void {
    if (this.#nets.size > 0) this.#nets = new Map();
  }

  #foldRefusal(delta: RefusedDelta<T>, last: NetDelta<T>): void {
    const newest = last.refused?.refused.resourceVersion ?? '';
    if (!isOlder(delta.refused.resourceVersion, newest)) last.refused = delta;
  }

  #foldDeletion(delta: Deleted<T>, last: NetDelta<T>): void {
    const { present, refused } = last;
    if (
      present !== undefined &&
      isOutdatedDeletion(delta, stateOf(present.object as KubernetesObject))
    ) {
      return;
    }
    if (refused !== undefined && !isOutdatedDeletion(delta, refused.refused))
      last.refused = undefined;
    if (last.deleted === undefined) last.fleeting = true;
    // A deletion without a state carries the newest waiting state.
    const state = delta.object ?? present?.object;
    const ended = state === undefined ? delta : { ...delta, object: state };
    this.#addDeletion(last, ended, present === undefined);
    last.present = undefined;
  }

  #foldState(delta: Present<T>, last: NetDelta<T>): void {
    const { present, refused } = last;
    const { resourceVersion } = stateOf(delta.object as KubernetesObject);
    if (refused !== undefined && !isOlder(resourceVersion, refused.refused.resourceVersion)) {
      last.refused = undefined;
    }
    if (present !== undefined && uid(present.object) !== uid(delta.object)) {
      // Another object has the same name now, so the deletion of the one before was missed.
      const { key } = delta;
      const { object } = present;
      this.#addDeletion(last, { type: 'deleted', key, object, finalStateUnknown: true }, false);
      last.present = { ...delta, type: 'added' };
      return;
    }
    const type = present?.type === 'added' || last.deleted !== undefined ? 'added' : delta.type;
    last.present = { ...delta, type };
  }

  /** `adjacent` says that no other delta of the key arrived between the last deletion and this one. */
  #addDeletion(net: NetDelta<T>, delta: Deleted<T>, adjacent: boolean): void {
    const last = net.deletedLater ?? net.deleted;
    if (last === undefined) net.deleted = delta;
    else if (!adjacent || !isSameDeletion(last, delta)) net.deletedLater = delta;
    else if (net.deletedLater === undefined) net.deleted = betterInformed(last, delta);
    else net.deletedLater = betterInformed(last, delta);
  }
}

/**
 * Folds the deltas of one key that wait in a queue to their net change, for the option `compression` of an informer or of
 * `deltaFifo`. A delete and a recreate are never folded into an update.
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { deltaFifo, latestPerKey, rememberedObjects } from 'rx-informer';
 *
 * const at = (resourceVersion: string) => {
 *   const object = { metadata: { name: 'web', uid: 'u1', resourceVersion } };
 *   return { type: 'updated', key: 'web', object } as const;
 * };
 * const sizes: number[] = [];
 * of([at('5'), at('6')])
 *   .pipe(deltaFifo({ known: rememberedObjects(), compression: latestPerKey }))
 *   .subscribe((deltas) => sizes.push(deltas.length));
 * sizes; // => [1]
 * ```
 */
export function latestPerKey<T>(): Folding<T> {
  return new LatestPerKey<T>();
}
