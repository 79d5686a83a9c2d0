/**
 * The edits that are shown in all queries of a provider or of a worker, as an overlay between the informers and the queries. The stores
 * of the informers keep the state of the server.
 */

import {
  type KubernetesObject,
  type Stored,
  uidOf,
  versionOf,
} from '../../meta/kubernetes-object.ts';
import { isOlder } from '../../meta/resource-version.ts';
import { atEndOfTurn } from '../../rx/drain.ts';
import type { ChangeSet } from '../../store/change-set.ts';
import type { EditableSource, SourceOverlay } from './editable-layer.ts';
import { OverlaidRows } from './overlaid-rows.ts';
import { type EditInput, nextEdits, type PendingEdit, shownObject } from './pending-edits.ts';

type AnyObject = Stored<KubernetesObject>;

const NONE: readonly PendingEdit[] = [];

export class Overlay implements SourceOverlay {
  readonly #edits = new Map<string, readonly PendingEdit[]>();
  readonly #rows = new Map<EditableSource, OverlaidRows>();
  #lastId = 0;

  get isEmpty(): boolean {
    return this.#edits.size === 0;
  }

  editsOf(uid: string): readonly PendingEdit[] {
    return this.#edits.get(uid) ?? NONE;
  }

  /** The object as the queries show it. */
  shown<T extends AnyObject>(object: T): T {
    return shownObject(this.editsOf(uidOf(object)), object);
  }

  /** The newer of this state and of what the server has answered to edits of the object. */
  newest<T extends AnyObject>(object: T): T {
    let newest: AnyObject = object;
    for (const { written } of this.editsOf(uidOf(object))) {
      if (written !== undefined && isOlder(versionOf(newest), versionOf(written))) newest = written;
    }
    return newest as T;
  }

  /** Shows a draft until {@link end}, or until each source has the state that {@link written} was given. */
  begin(key: string, base: AnyObject, draft: AnyObject): number {
    const id = ++this.#lastId;
    this.#input(uidOf(base), key, { type: 'begun', edit: { id, base, draft } });
    return id;
  }

  written(uid: string, key: string, id: number, object: AnyObject): void {
    this.#input(uid, key, { type: 'written', id, object });
  }

  end(uid: string, key: string, id: number): void {
    if (this.editsOf(uid).some((edit) => edit.id === id))
      this.#input(uid, key, { type: 'ended', id });
  }

  joined(source: EditableSource): void {
    this.#rows.set(source, new OverlaidRows(this, source));
  }

  applied(source: EditableSource, set: ChangeSet<KubernetesObject>): void {
    for (const uid of this.#rows.get(source)?.apply(set) ?? []) this.#observe(uid);
  }

  left(source: EditableSource): void {
    const rows = this.#rows.get(source);
    this.#rows.delete(source);
    for (const uid of rows?.uids ?? []) this.#observe(uid);
  }

  #input(uid: string, key: string, input: EditInput): void {
    this.#store(uid, nextEdits(this.editsOf(uid), input));
    // After all sources have seen the turn, because the stores may be ahead of them until then.
    atEndOfTurn(0, () => {
      for (const rows of [...this.#rows.values()]) rows.refresh(uid, key);
      this.#observe(uid);
    });
  }

  #observe(uid: string): void {
    const before = this.editsOf(uid);
    if (before.length === 0) return;
    const versions = [...this.#rows.values()].flatMap((rows) => rows.versionOf(uid) ?? []);
    const edits = nextEdits(before, { type: 'observed', versions });
    if (edits.length === before.length) return;
    this.#store(uid, edits);
    for (const rows of this.#rows.values()) rows.forget(uid);
  }

  #store(uid: string, edits: readonly PendingEdit[]): void {
    if (edits.length === 0) this.#edits.delete(uid);
    else this.#edits.set(uid, edits);
  }
}
