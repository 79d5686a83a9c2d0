/** One source of objects beneath the overlay of edits. It keeps only the objects that are edited. */
import type { Change } from '../../delta/net-change.ts';
import {
  type KubernetesObject,
  type Stored,
  uidOf,
  versionOf,
} from '../../meta/kubernetes-object.ts';
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
    const { head: last } = this.#source;
    if (last === undefined) return;
    const edits = this.#edits.editsOf(uid);
    const found = this.#edited.get(uid)?.object ?? this.#source.find(key);
    if (found === undefined || uidOf(found) !== uid) return;
    const before = this.#edited.get(uid)?.shown ?? found;
    const shown = this.#shown(edits, found);
    if (edits.length === 0) this.#edited.delete(uid);
    else this.#edited.set(uid, { object: found, shown });
    if (shown === before) return;
    const head = { ...last, reset: false, cause: 'query', initial: false } as const;
    const change: AnyChange = { id: uid, key, previous: before, object: shown };
    this.#source.emit(createChangeSet<KubernetesObject>(head, [change]));
  }

  /** Drops an object that has no more edits, and is shown as the source has it. */
  forget(uid: string): void {
    if (this.#edits.editsOf(uid).length > 0) return;
    const edited = this.#edited.get(uid);
    if (edited?.shown === edited?.object) this.#edited.delete(uid);
  }

  #shown(edits: readonly PendingEdit[], object: AnyObject): AnyObject {
    return guardObject(shownObject(edits, object), this.#guard);
  }

  #change(
    change: AnyChange,
    edits: readonly PendingEdit[],
    edited: Edited | undefined,
  ): readonly AnyChange[] {
    const { id, object, previous } = change;
    const before = edited?.shown ?? previous;
    const known = before === undefined ? {} : { previous: before };
    if (object === undefined) {
      this.#edited.delete(id);
      return [{ ...change, ...known }];
    }
    const shown = this.#shown(edits, object);
    if (edits.length === 0) this.#edited.delete(id);
    else this.#edited.set(id, { object, shown });
    // The echo of an edit brings nothing new.
    return shown === edited?.shown ? [] : [{ ...change, ...known, object: shown }];
  }
}
