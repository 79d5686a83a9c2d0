/** A source of change sets whose state a test knows, with relists, recreated objects and resyncs. */
import { type Cause, type Change, type ChangeSet, createChangeSet } from 'rx-informer';
import { inTurn } from 'rx-informer/testing';
import { Observable, Subject } from 'rxjs';

/** An object of the source. Its id is its UID, its key its name. */
export interface Item {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly n: number;
  readonly group: string;
}

export function item(name: string, uid: string, n: number, group = 'a'): Item {
  return { metadata: { name, uid }, n, group };
}

/** Another state of an object, with the same metadata object, so that rows of equal fields are the same row. */
function itemAgain({ metadata }: Item, n: number, group = 'a'): Item {
  return { metadata, n, group };
}

/** One change that a test asks for. `recreated` replaces the object by another one of the same name. */
export interface Step {
  readonly name: string;
  readonly what: 'set' | 'delete' | 'recreate' | 'again';
  readonly n: number;
  readonly group: string;
}

/** An object of a list. `isNew`: under its name there is another object than before. */
export interface ListedItem {
  readonly name: string;
  readonly n: number;
  readonly isNew?: boolean;
}

export class World {
  /** The objects by name. */
  readonly items = new Map<string, Item>();
  readonly #sets = new Subject<ChangeSet<Item>>();
  #rev = 0;
  #uids = 0;
  #synced = true;
  readonly #isInTurns: boolean;
  readonly #uidOf: (count: number) => string;
  /** Writes that a subscriber made while a set was delivered. They wait until all subscribers have it. */
  readonly #waiting: (() => void)[] = [];
  #isWriting = false;

  /** `isInTurns`: whether all subscribers receive a set in one turn, as those of an informer do. */
  constructor(isInTurns = false, uidOf = (count: number) => `u${count}`) {
    this.#isInTurns = isInTurns;
    this.#uidOf = uidOf;
  }

  get synced(): boolean {
    return this.#synced;
  }

  readonly changes$: Observable<ChangeSet<Item>> = new Observable((subscriber) => {
    this.#exclusively(() => {
      subscriber.next(this.#set('snapshot', true, this.#all()));
      subscriber.add(this.#sets.subscribe(subscriber));
    });
  });

  /** Commits the steps as one set. Steps of an absent object that need one do nothing. */
  commit(steps: readonly Step[], cause: Cause = 'watch'): void {
    this.#write(() => this.#commit(steps, cause));
  }

  #commit(steps: readonly Step[], cause: Cause): ChangeSet<Item> {
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
      const now =
        kept === undefined
          ? item(name, this.#uidOf(this.#uids++), n, group)
          : itemAgain(kept, n, group);
      this.items.set(name, now);
      others.push(this.#change(now, kept));
    }
    return this.#set(cause, false, [...deletions, ...others]);
  }

  /** Replaces everything, with a set that is a `reset`. Objects of the same name and content are kept. */
  reset(items: readonly ListedItem[]): void {
    this.#write(() => this.#reset(items));
  }

  #reset(items: readonly ListedItem[]): ChangeSet<Item> {
    this.#rev++;
    const before = new Map(this.items);
    this.items.clear();
    for (const { name, n, isNew = false } of items) {
      const former = isNew ? undefined : before.get(name);
      if (former === undefined) this.items.set(name, item(name, this.#uidOf(this.#uids++), n));
      else this.items.set(name, former.n === n ? former : itemAgain(former, n));
    }
    return this.#set('snapshot', true, this.#all());
  }

  setSynced(synced: boolean): void {
    this.#write(() => {
      this.#synced = synced;
      this.#rev++;
      return this.#set('watch', false, []);
    });
  }

  complete(): void {
    this.#sets.complete();
  }

  #write(write: () => ChangeSet<Item>): void {
    this.#waiting.push(() => this.#sets.next(write()));
    if (!this.#isWriting) this.#exclusively(() => undefined);
  }

  /** Runs the task, then the writes that wait, and those that the task and they cause. */
  #exclusively(task: () => void): void {
    if (this.#isWriting) return task();
    this.#isWriting = true;
    task();
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (this.#isInTurns) inTurn(next);
      else next();
    }
    this.#isWriting = false;
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
