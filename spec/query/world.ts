/** A source of change sets whose state a test knows, with relists, recreated objects and resyncs. */
import { type Cause, type Change, type ChangeSet, createChangeSet } from 'rx-informer';
import { Observable, Subject } from 'rxjs';
import { inTurn } from '../../lib/rx/outermost-drain.ts';

/** An object of the source. Its id is its UID, its key its name. */
export interface Item {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly n: number;
  readonly group: string;
}

export function item(name: string, uid: string, n: number, group = 'a'): Item {
  return { metadata: { name, uid }, n, group };
}

/** One change that a test asks for. `recreated` replaces the object by another one of the same name. */
export interface Step {
  readonly name: string;
  readonly what: 'set' | 'delete' | 'recreate' | 'again';
  readonly n: number;
  readonly group: string;
}

export class World {
  /** The objects by name. */
  readonly items = new Map<string, Item>();
  readonly #sets = new Subject<ChangeSet<Item>>();
  #rev = 0;
  #uids = 0;
  #synced = true;
  readonly #isInTurns: boolean;

  /** `isInTurns`: whether all subscribers receive a set in one turn, as those of an informer do. */
  constructor(isInTurns = false) {
    this.#isInTurns = isInTurns;
  }

  readonly changes$: Observable<ChangeSet<Item>> = new Observable((subscriber) => {
    subscriber.next(this.#set('snapshot', true, this.#all()));
    return this.#sets.subscribe(subscriber);
  });

  /** Commits the steps as one set. Steps of an absent object that need one do nothing. */
  commit(steps: readonly Step[], cause: Cause = 'watch'): void {
    this.#rev++;
    const deletions: Change<Item>[] = [];
    const others: Change<Item>[] = [];
    const seen = new Set<string>();
    for (const { name, what, n, group } of steps) {
      if (seen.has(name)) continue;
      seen.add(name);
      const previous = this.items.get(name);
      if (what === 'again') {
        if (previous !== undefined) others.push(this.#change(previous, previous));
        continue;
      }
      if (what !== 'set' && previous !== undefined) {
        this.items.delete(name);
        const { uid } = previous.metadata;
        deletions.push({ id: uid, key: name, previous, last: previous });
      }
      if (what === 'delete') continue;
      const kept = what === 'set' ? previous : undefined;
      const now = item(name, kept?.metadata.uid ?? `u${this.#uids++}`, n, group);
      this.items.set(name, now);
      others.push(this.#change(now, kept));
    }
    this.#emit(this.#set(cause, false, [...deletions, ...others]));
  }

  /** Replaces everything, with a set that is a `reset`. Objects of the same name and content are kept. */
  reset(items: readonly { readonly name: string; readonly n: number }[]): void {
    this.#rev++;
    const before = new Map(this.items);
    this.items.clear();
    for (const { name, n } of items) {
      const former = before.get(name);
      const same = former?.n === n ? former : undefined;
      this.items.set(name, same ?? item(name, former?.metadata.uid ?? `u${this.#uids++}`, n));
    }
    this.#emit(this.#set('snapshot', true, this.#all()));
  }

  setSynced(synced: boolean): void {
    this.#synced = synced;
    this.#rev++;
    this.#emit(this.#set('watch', false, []));
  }

  complete(): void {
    this.#sets.complete();
  }

  #emit(set: ChangeSet<Item>): void {
    if (this.#isInTurns) inTurn(() => this.#sets.next(set));
    else this.#sets.next(set);
  }

  #all(): Change<Item>[] {
    return [...this.items.values()].map((object) => this.#change(object, undefined));
  }

  #change(object: Item, previous: Item | undefined): Change<Item> {
    const { name, uid } = object.metadata;
    return { id: uid, key: name, object, ...(previous === undefined ? {} : { previous }) };
  }

  #set(cause: ChangeSet<Item>['cause'], reset: boolean, changes: Change<Item>[]): ChangeSet<Item> {
    const rev = this.#rev;
    const head = { rev, cause, reset, synced: this.#synced, initial: reset, resourceVersion: '' };
    return createChangeSet<Item>(head as never, changes);
  }
}
