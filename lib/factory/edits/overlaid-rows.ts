/** One source of objects beneath the overlay of edits. It keeps only the objects that are edited. */

import type { Change } from '../../delta/net-change.ts';
import {
  type KubernetesObject,
  type Stored,
  uidOf,
  versionOf,
} from '../../meta/kubernetes-object.ts';
import { sameContent } from '../../meta/same-content.ts';
import { type ChangeSet, createChangeSet, headOf } from '../../store/change-set.ts';
import { defaultMutationGuard, guardObject } from '../../store/mutation-guard.ts';
import type { EditableSource } from './editable-layer.ts';
import { type PendingEdit, shownObject } from './pending-edits.ts';

type AnyObject = Stored<KubernetesObject>;

/** The edits of all objects. */
export interface EditsByUid {
  readonly isEmpty: boolean;
  editsOf(uid: string): readonly PendingEdit[];
}

interface Edited {
  /** The state of the source. */
  readonly object: AnyObject;
  /** The state that was emitted. */
  readonly shown: AnyObject;
  /** The source does not have the object: only its edits give it the value of the source's index. */
  readonly isBeyond?: true;
}

type AnyChange = Change<KubernetesObject>;

export class OverlaidRows {
  readonly #edits: EditsByUid;
  readonly #source: EditableSource;
  readonly #edited = new Map<string, Edited>();
  readonly #guard = defaultMutationGuard();

  constructor(edits: EditsByUid, source: EditableSource) {
    this.#edits = edits;
    this.#source = source;
  }

  get uids(): readonly string[] {
    return [...this.#edited.keys()];
  }

  /** The version at which the source has an edited object. */
  versionOf(uid: string): string | undefined {
    const edited = this.#edited.get(uid);
    return edited === undefined ? undefined : versionOf(edited.object);
  }

  /** Emits a set with the edits, and returns the UIDs of the edited objects that it may have changed. */
  apply(set: ChangeSet<KubernetesObject>): readonly string[] {
    if (this.#edits.isEmpty && this.#edited.size === 0) {
      this.#source.emit(set);
      return [];
    }
    const touched: string[] = [];
    const former = new Map(this.#edited);
    if (set.reset) this.#edited.clear();
    const changes = set.changes.flatMap((change) => {
      const { id } = change;
      const edits = this.#edits.editsOf(id);
      const edited = set.reset ? undefined : former.get(id);
      if (edits.length === 0 && edited === undefined) return change;
      touched.push(id);
      return this.#change(change, edits, edited);
    });
    const head = { ...headOf(set), reset: set.reset };
    this.#source.emit(createChangeSet<KubernetesObject>(head, changes));
    return [...touched, ...former.keys()];
  }

  /** Emits the object again, if its edits have changed what is shown of it. */
  refresh(uid: string, key: string): void {
    if (this.#source.head === undefined) return;
    const edited = this.#edited.get(uid);
    const edits = this.#edits.editsOf(uid);
    const found = edited?.isBeyond ? undefined : (edited?.object ?? this.#source.find(key));
    if (found === undefined) return this.#refreshBeyond(uid, key, edits, edited);
    if (uidOf(found) !== uid) return;
    const before = edited?.shown ?? found;
    const shown = this.#shown(edits, found, before);
    if (edits.length === 0) this.#edited.delete(uid);
    else this.#edited.set(uid, { object: found, shown });
    if (shown !== before) this.#emit({ id: uid, key, previous: before, object: shown });
  }

  #refreshBeyond(
    uid: string,
    key: string,
    edits: readonly PendingEdit[],
    edited: Edited | undefined,
  ): void {
    const { beyond } = this.#source;
    if (beyond === undefined) return;
    const before = edited?.shown;
    const known = before && { previous: before };
    const object = edits.length === 0 ? undefined : beyond.find(key);
    const isHere = object !== undefined && uidOf(object) === uid;
    const shown = isHere ? this.#shown(edits, object, before) : undefined;
    if (isHere && shown !== undefined && this.#holds(shown)) {
      this.#edited.set(uid, { object, shown, isBeyond: true });
      if (shown !== before) this.#emit({ id: uid, key, ...known, object: shown });
    } else if (before !== undefined) {
      this.#edited.delete(uid);
      this.#emit({ id: uid, key, ...known, last: shown ?? before });
    }
  }

  #holds(shown: AnyObject): boolean {
    try {
      return this.#source.beyond?.holds(shown) === true;
    } catch {
      // The index function refuses the draft, as it would refuse the object.
      return false;
    }
  }

  #emit(change: AnyChange): void {
    const { head } = this.#source;
    if (head === undefined) return;
    const last = { ...head, reset: false, cause: 'query', initial: false } as const;
    this.#source.emit(createChangeSet<KubernetesObject>(last, [change]));
  }

  /** Drops an object that has no more edits, and is shown as the source has it. */
  forget(uid: string): void {
    if (this.#edits.editsOf(uid).length > 0) return;
    const edited = this.#edited.get(uid);
    if (edited?.shown === edited?.object) this.#edited.delete(uid);
  }

  /** The former row if it is equal: an answer, another edit and a repeated state make another draft, and need not change it. */
  #shown(edits: readonly PendingEdit[], object: AnyObject, former?: AnyObject): AnyObject {
    const shown = shownObject(edits, object);
    if (former && shown !== object && sameContent(former, shown)) return former;
    return guardObject(shown, this.#guard);
  }

  #change(
    change: AnyChange,
    edits: readonly PendingEdit[],
    edited: Edited | undefined,
  ): readonly AnyChange[] {
    const { id, object, previous } = change;
    const before = edited?.shown ?? previous;
    const known = before && { previous: before };
    if (object === undefined) {
      this.#edited.delete(id);
      return [{ ...change, ...known }];
    }
    const shown = this.#shown(edits, object, edited?.shown);
    if (edits.length === 0) this.#edited.delete(id);
    else this.#edited.set(id, { object, shown });
    // The echo of an edit brings nothing new.
    return shown === edited?.shown ? [] : [{ ...change, ...known, object: shown }];
  }
}
