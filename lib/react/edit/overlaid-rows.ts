/** One source of objects beneath the overlay of edits. It keeps only the objects that are edited. */
import type { Change } from '../../delta/net-change.ts';
import { type KubernetesObject, uidOf, versionOf } from '../../meta/kubernetes-object.ts';
import type { Stored } from '../../meta/stored.ts';
import { type ChangeSet, createChangeSet } from '../../store/change-set.ts';
import { defaultMutationGuard, guardObject } from '../../store/mutation-guard.ts';
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
  readonly #find: (key: string) => AnyObject | undefined;
  readonly #emit: (set: ChangeSet<KubernetesObject>, touched: readonly string[]) => void;
  readonly #edited = new Map<string, Edited>();
  readonly #guard = defaultMutationGuard();
  #last: ChangeSet<KubernetesObject> | undefined;

  constructor(
    edits: EditsByUid,
    find: (key: string) => AnyObject | undefined,
    emit: (set: ChangeSet<KubernetesObject>, touched: readonly string[]) => void,
  ) {
    this.#edits = edits;
    this.#find = find;
    this.#emit = emit;
  }

  get uids(): readonly string[] {
    return [...this.#edited.keys()];
  }

  /** The version at which the source has an edited object. */
  versionOf(uid: string): string | undefined {
    const edited = this.#edited.get(uid);
    return edited === undefined ? undefined : versionOf(edited.object);
  }

  apply(set: ChangeSet<KubernetesObject>): void {
    this.#last = set;
    if (this.#edits.isEmpty && this.#edited.size === 0) return this.#emit(set, []);
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
    this.#emit(createChangeSet<KubernetesObject>(head, changes), [...touched, ...former.keys()]);
  }

  /** Emits the object again, if its edits have changed what is shown of it. */
  refresh(uid: string, key: string): void {
    if (this.#last === undefined) return;
    const edits = this.#edits.editsOf(uid);
    const found = this.#edited.get(uid)?.object ?? this.#find(key);
    if (found === undefined || uidOf(found) !== uid) return;
    const before = this.#edited.get(uid)?.shown ?? found;
    const shown = this.#shown(edits, found);
    if (edits.length === 0) this.#edited.delete(uid);
    else this.#edited.set(uid, { object: found, shown });
    if (shown === before) return;
    const head = { ...headOf(this.#last), reset: false, cause: 'query', initial: false } as const;
    const change: AnyChange = { id: uid, key, previous: before, object: shown };
    this.#emit(createChangeSet<KubernetesObject>(head, [change]), [uid]);
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

function headOf({ rev, cause, synced, initial, resourceVersion }: ChangeSet<KubernetesObject>) {
  return { rev, cause, synced, initial, resourceVersion };
}
