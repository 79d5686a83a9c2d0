/**
 * The edits that are shown in all queries of a provider or of a worker, as an overlay between the informers and the queries. The stores
 * of the informers keep the state of the server.
 */

import { Subscription } from 'rxjs';
import { metaNamespaceKeyFunc } from '../../meta/key.ts';
import {
  type KubernetesObject,
  type Stored,
  uidOf,
  versionOf,
} from '../../meta/kubernetes-object.ts';
import { isOlder } from '../../meta/resource-version.ts';
import { atEndOfTurn, inTurn } from '../../rx/drain.ts';
import type { ChangeSet } from '../../store/change-set.ts';
import type { Beyond } from '../queries/pipeline.ts';
import type { EditableSource, SourceOverlay } from './editable-layer.ts';
import { OverlaidRows } from './overlaid-rows.ts';
import { type EditInput, nextEdits, type PendingEdit, shownObject } from './pending-edits.ts';

type AnyObject = Stored<KubernetesObject>;

const NONE: readonly PendingEdit[] = [];

/** A draft over the rows. Its methods work without it. */
export interface ShownDraft {
  isShown(): boolean;
  /** The server's answer, which is shown until each source has it. */
  written(object: AnyObject): void;
  /** Shows the state of the sources again. */
  end(): void;
}

export class Overlay implements SourceOverlay {
  readonly #edits = new Map<string, readonly PendingEdit[]>();
  readonly #rows = new Map<EditableSource, OverlaidRows>();
  readonly #followed = new Map<Beyond['changes$'], Subscription>();
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

  begin(base: AnyObject, draft: AnyObject): ShownDraft {
    const id = ++this.#lastId;
    const uid = uidOf(base);
    const input = (what: EditInput) => this.#input(uid, metaNamespaceKeyFunc(base), what);
    const isShown = () => this.editsOf(uid).some((edit) => edit.id === id);
    input({ type: 'begun', edit: { id, base, draft } });
    return {
      isShown,
      written: (object) => input({ type: 'written', id, object }),
      end: () => {
        if (isShown()) input({ type: 'ended', id });
      },
    };
  }

  joined(source: EditableSource): void {
    this.#rows.set(source, new OverlaidRows(this, source));
    this.#follow();
  }

  applied(source: EditableSource, set: ChangeSet<KubernetesObject>): void {
    const rows = this.#rows.get(source);
    for (const uid of rows?.apply(set) ?? []) this.#observe(uid);
    // What has the value of the index only by its edits is not in the set.
    if (rows !== undefined && source.beyond && set.reset) this.#refreshLater([rows]);
  }

  left(source: EditableSource): void {
    const rows = this.#rows.get(source);
    this.#rows.delete(source);
    this.#follow();
    for (const uid of rows?.uids ?? []) this.#observe(uid);
  }

  /** Follows the informers of sources of index values while there are edits, by which other objects may have a value. */
  #follow(): void {
    const sources = this.isEmpty ? [] : [...this.#rows.keys()];
    const wanted = new Set(sources.flatMap(({ beyond }) => beyond?.changes$ ?? []));
    for (const [changes$, following] of this.#followed) {
      if (wanted.has(changes$)) continue;
      this.#followed.delete(changes$);
      following.unsubscribe();
    }
    for (const changes$ of wanted) {
      if (this.#followed.has(changes$)) continue;
      const following = new Subscription();
      this.#followed.set(changes$, following);
      following.add(changes$.subscribe((set) => inTurn(() => this.#moved(changes$, set))));
    }
  }

  #moved(changes$: Beyond['changes$'], set: ChangeSet<KubernetesObject>): void {
    if (set.reset) return;
    const uids = set.changes.map(({ id }) => id).filter((uid) => this.#edits.has(uid));
    const of = [...this.#rows].filter(([{ beyond }]) => beyond?.changes$ === changes$);
    this.#refreshLater(
      of.map((each) => each[1]),
      uids,
    );
  }

  /** When all sources have seen the turn. */
  #refreshLater(rows: readonly OverlaidRows[], uids = [...this.#edits.keys()]): void {
    for (const uid of uids) {
      const [edit] = this.editsOf(uid);
      if (edit === undefined) continue;
      const key = metaNamespaceKeyFunc(edit.base);
      atEndOfTurn(0, () => {
        for (const each of rows) each.refresh(uid, key);
        this.#observe(uid);
      });
    }
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
    this.#follow();
  }
}
