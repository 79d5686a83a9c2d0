/**
 * A store of snapshots over one database of IndexedDB. Version and objects of a collection change in one transaction. Of all
 * tabs and workers one writes; the others read, and write as soon as that one has ended.
 */
import type { SnapshotChange, SnapshotStore, StoredSnapshot } from '../snapshot-store.ts';
import { resultOf } from './database.ts';
import { newToken, type Ownership, STATE, type State } from './ownership.ts';

/** How many objects are read or written before the event loop turns. */
const SLICE = 200;
/** How many programs are remembered. */
const MOST_APPS = 10;
const WRITTEN = ['state', 'collections', 'objects'] as const;

/** What is stored of a collection besides its objects. */
interface Collection extends Omit<StoredSnapshot, 'parts'> {
  readonly count: number;
  /** Differs after each write. */
  readonly stamp: string;
}

/** A collection as this store has read or written it. */
interface Known {
  stamp: string;
  readonly keys: Set<string>;
}

function isCollection(value: unknown): value is Collection {
  const { head, resourceVersion, savedAtMs, count, stamp } = (value ?? {}) as Partial<Collection>;
  const texts = [head, resourceVersion, stamp].every((each) => typeof each === 'string');
  return texts && Number.isFinite(savedAtMs) && Number.isInteger(count);
}

export class IndexedDbStore implements SnapshotStore {
  readonly #owner: Ownership;
  readonly #app: string;
  readonly #known = new Map<string, Known>();
  /** Set while this store is the writer. */
  #token: string | undefined;
  #release: () => void = () => undefined;
  /** Whether another writer, or another era, has taken the place of this store for good. */
  #isOut = false;

  constructor(owner: Ownership, app: string) {
    this.#owner = owner;
    this.#app = app;
  }

  async read(id: string): Promise<StoredSnapshot | undefined> {
    const { database } = this.#owner;
    await this.#owner.enter();
    const value = await database.transact(WRITTEN, 'readonly', async (of) => {
      const state = (await resultOf(of('state').get(STATE))) as unknown;
      if ((await this.#owner.owns(state)) === undefined) return undefined;
      return (await resultOf(of('collections').get(id))) as unknown;
    });
    if (value === undefined) return undefined;
    if (isCollection(value)) return { ...value, parts: this.#parts(id, value) };
    return { head: '', resourceVersion: '', savedAtMs: 0, parts: this.#parts(id, undefined) };
  }

  /** The objects, read in one transaction that runs ahead of the reader. */
  async *#parts(
    id: string,
    collection: Collection | undefined,
  ): AsyncGenerator<readonly Uint8Array[]> {
    const { database } = this.#owner;
    const waiting: (readonly Uint8Array[])[] = [];
    const state = { isEnded: false, isLeft: false, wake() {} };
    const reading = database.transact(['collections', 'objects'], 'readonly', async (of) => {
      const now = (await resultOf(of('collections').get(id))) as Collection | undefined;
      if (now?.stamp !== collection?.stamp) throw new Error('another tab has changed it');
      const keys = (await resultOf(of('objects').getAllKeys(this.#keys(id)))) as [string, string][];
      if (keys.length !== collection?.count) throw new Error('objects are missing');
      for (let at = 0; at < keys.length && !state.isLeft; at += SLICE) {
        const slice = keys.slice(at, at + SLICE);
        const range = this.#keys(id, slice[0]?.[1] ?? '', slice.at(-1)?.[1] ?? '');
        const objects = await resultOf(of('objects').getAll(range));
        const isWhole = objects.length === slice.length;
        if (!isWhole || !objects.every((each) => each instanceof Uint8Array)) {
          throw new Error('an object is missing, or is not one');
        }
        waiting.push(objects);
        state.wake();
      }
      const texts = keys.map(([, key]) => key);
      this.#known.set(id, { stamp: now?.stamp ?? '', keys: new Set(texts) });
    });
    const ended = () => {
      state.isEnded = true;
      state.wake();
    };
    reading.then(ended, ended);
    try {
      while (!state.isEnded || waiting.length > 0) {
        const objects = waiting.shift();
        if (objects !== undefined) yield objects;
        else {
          await new Promise<void>((resolve) => {
            state.wake = resolve;
          });
        }
      }
      await reading;
    } finally {
      state.isLeft = true;
    }
  }

  async write(id: string, change: SnapshotChange): Promise<'rewrite' | undefined> {
    if (!(await this.#isWriter())) return 'rewrite';
    const { database } = this.#owner;
    const { head, resourceVersion, savedAtMs, replaces, objects, deleted } = change;
    const known = replaces ? { stamp: '', keys: new Set<string>() } : this.#known.get(id);
    // Until it is stored, nothing is known.
    this.#known.delete(id);
    const stamp = newToken();
    const isStored = await database.transact(WRITTEN, 'readwrite', async (of) => {
      const state = await this.#owner.owns(await resultOf(of('state').get(STATE)));
      if (state?.writer !== this.#token) {
        this.#leave();
        return false;
      }
      const before = (await resultOf(of('collections').get(id))) as Collection | undefined;
      if (known === undefined || (!replaces && before?.stamp !== known.stamp)) return false;
      if (replaces) of('objects').delete(this.#keys(id));
      let written = 0;
      for (const [key, json] of objects) {
        known.keys.add(key);
        const request = of('objects').put(json, [id, key]);
        if (++written % SLICE === 0) await resultOf(request);
      }
      for (const key of deleted) {
        known.keys.delete(key);
        of('objects').delete([id, key]);
      }
      const count = known.keys.size;
      const collection: Collection = { head, resourceVersion, savedAtMs, count, stamp };
      await resultOf(of('collections').put(collection, id));
      return true;
    });
    if (!isStored || known === undefined) return 'rewrite';
    known.stamp = stamp;
    this.#known.set(id, known);
    return undefined;
  }

  async delete(id: string): Promise<void> {
    const { database } = this.#owner;
    this.#known.delete(id);
    if (this.#isOut) return;
    await this.#owner.enter();
    const state = await this.#state();
    if (state === undefined) return;
    // A newer program writes it, and this one may only not understand it.
    if (this.#place(state) < this.#placeOfWriter(state) && (await this.#lives(state.writer)))
      return;
    await database.transact(WRITTEN, 'readwrite', async (of) => {
      const now = await this.#owner.owns(await resultOf(of('state').get(STATE)));
      if (now === undefined || now.writer !== state.writer) return;
      of('objects').delete(this.#keys(id));
      await resultOf(of('collections').delete(id));
    });
  }

  async heads(): Promise<ReadonlyMap<string, string>> {
    const found = await this.#collections();
    return new Map([...found].map(([id, value]) => [id, value?.head ?? '']));
  }

  async times(): Promise<ReadonlyMap<string, number>> {
    const found = await this.#collections();
    return new Map([...found].map(([id, value]) => [id, value?.savedAtMs ?? 0]));
  }

  /** The collections by id; `undefined` for what is none. */
  async #collections(): Promise<ReadonlyMap<string, Collection | undefined>> {
    const { database } = this.#owner;
    await this.#owner.enter();
    return await database.transact(['collections'], 'readonly', async (of) => {
      const [ids, values] = await Promise.all([
        resultOf(of('collections').getAllKeys()),
        resultOf(of('collections').getAll()) as Promise<unknown[]>,
      ]);
      const found = values.map((value) => (isCollection(value) ? value : undefined));
      return new Map(ids.map((id, at) => [String(id), found[at]]));
    });
  }

  async forget(identity: string): Promise<void> {
    await this.#owner.forget(identity);
    if (identity !== this.#owner.identity) return;
    this.#leave();
    this.#isOut = false;
  }

  async close(): Promise<void> {
    this.#leave();
    this.#owner.close();
  }

  /** Whether this store is the writer, or has become it now. */
  async #isWriter(): Promise<boolean> {
    if (this.#isOut) return false;
    if (this.#token !== undefined) return true;
    const { database } = this.#owner;
    await this.#owner.enter();
    const state = await this.#state();
    if (state === undefined) {
      this.#leave();
      return false;
    }
    const isNewer = this.#place(state) > this.#placeOfWriter(state);
    if (!isNewer && (await this.#lives(state.writer))) return false;
    const writer = newToken();
    await this.#hold(writer);
    const { apps = [] } = state;
    const all = apps.includes(this.#app) ? apps : [...apps, this.#app].slice(-MOST_APPS);
    const isDone = await database.transact(['state'], 'readwrite', async (of) => {
      const now = await this.#owner.owns(await resultOf(of('state').get(STATE)));
      // Another one may have been faster.
      if (now === undefined || now.writer !== state.writer) return false;
      await resultOf(of('state').put({ ...now, writer, app: this.#app, apps: all }, STATE));
      return true;
    });
    if (isDone) this.#token = writer;
    else this.#release();
    return isDone;
  }

  /** All keys of a collection, or those from one to another. */
  #keys(id: string, from?: string, to?: string): IDBKeyRange {
    const ranges = this.#owner.database.scope.IDBKeyRange as typeof IDBKeyRange;
    // An array is greater than every text.
    return ranges.bound(from === undefined ? [id] : [id, from], [id, to ?? []]);
  }

  /** The state of the database; `undefined` if another era has begun. */
  async #state(): Promise<State | undefined> {
    return await this.#owner.database.transact(['state'], 'readonly', async (of) => {
      return await this.#owner.owns(await resultOf(of('state').get(STATE)));
    });
  }

  /** A later place is that of a newer program. */
  #place({ apps = [] }: State): number {
    const place = apps.indexOf(this.#app);
    return place < 0 ? apps.length : place;
  }

  #placeOfWriter({ app, apps = [] }: State): number {
    return app === undefined ? -1 : apps.indexOf(app);
  }

  #leave(): void {
    this.#isOut = true;
    this.#token = undefined;
    this.#release();
  }

  get #locks(): LockManager | undefined {
    return this.#owner.database.scope.navigator?.locks;
  }

  #lock(writer: string): string {
    return `rx-informer/${this.#owner.database.name}/${writer}`;
  }

  /** Holds a lock until this store ends, which shows others that it lives. */
  async #hold(writer: string): Promise<void> {
    const locks = this.#locks;
    if (locks === undefined) return;
    await new Promise<void>((held) => {
      const released = new Promise<void>((resolve) => {
        this.#release = resolve;
      });
      const holding = locks.request(this.#lock(writer), () => {
        held();
        return released;
      });
      // A worker that is being ended.
      holding.catch(() => held());
    });
  }

  /** Whether a writer lives. Without locks that is not known, so the newest store writes. */
  async #lives(writer: string | undefined): Promise<boolean> {
    if (writer === undefined || this.#locks === undefined) return false;
    return await this.#locks.request(
      this.#lock(writer),
      { ifAvailable: true },
      (lock) => lock === null,
    );
  }
}
