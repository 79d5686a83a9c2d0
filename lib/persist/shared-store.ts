/** The store of one `persist`, which its keepers share: one method at a time, and one keeper per collection. */
import type { SchedulerLike, Subscription } from 'rxjs';
import { looseTimer } from '../rx/long-timer.ts';
import { appIn, hasKnownFormat, identityIn } from './snapshot-head.ts';
import type { CheckedSnapshotOptions } from './snapshot-options.ts';
import type { SnapshotStore, StoredSnapshot } from './snapshot-store.ts';

/** How long a store may take to find a collection, in milliseconds. */
const READ_MS = 10_000;
/** How long after a claim the store is swept, in milliseconds, so that no start waits for it; and after how many more claims. */
const SWEEP_MS = 10_000;
const SWEEP_EVERY = 50;
/** How many collections are kept, with those that informers have. */
const MOST_COLLECTIONS = 100;

/** The keeper of an id. */
export interface CollectionKeeper {
  /** Set when the keeper has been stopped; resolves when its last write has ended. */
  readonly ending: Promise<void> | undefined;
  /** The keeper before this one has ended, so the collection is this one's. */
  granted(): void;
  /** Writes what is due, and nothing more. Resolves when it is written, or cannot be. */
  stop(): Promise<void>;
  /** Deletes what is stored, and stores nothing more. */
  forget(): void;
}

/** The store of one maker, whose methods are called one at a time. */
export class SharedStore {
  readonly options: CheckedSnapshotOptions;
  readonly keepers: Set<CollectionKeeper> = new Set();
  readonly #store: SnapshotStore;
  readonly #claims = new Map<string, CollectionKeeper>();
  readonly #waiting = new Map<string, CollectionKeeper[]>();
  /** How many ids were claimed since the last sweep, and its timer. */
  #claimed = 0;
  #sweep: Subscription | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;
  #closing: Promise<void> | undefined;
  #forgotten = 0;

  constructor(store: SnapshotStore, options: CheckedSnapshotOptions) {
    this.#store = store;
    this.options = options;
  }

  /** How often everything was forgotten. Informers that were there before store nothing more. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Runs a task when all earlier ones have ended. */
  run<R>(task: (store: SnapshotStore) => Promise<R>): Promise<R> {
    if (this.#closed) return Promise.reject(new Error('the store was closed'));
    const done = this.#last.then(() => task(this.#store));
    this.#last = done.catch(() => undefined);
    return done;
  }

  /**
   * Takes the id for one keeper. Returns a promise that resolves when the keeper before it has ended; `undefined` if that
   * one still runs. Then `granted` is called later.
   */
  claim(id: string, keeper: CollectionKeeper, scheduler: SchedulerLike): Promise<void> | undefined {
    if (this.#claimed++ % SWEEP_EVERY === 0) {
      this.#sweep ??= looseTimer(SWEEP_MS, scheduler, () => {
        this.#sweep = undefined;
        this.run((store) => this.#swept(store, scheduler.now())).catch(() => undefined);
      });
    }
    const former = this.#claims.get(id);
    if (former !== undefined && former.ending === undefined) {
      this.#waiting.set(id, [...(this.#waiting.get(id) ?? []), keeper]);
      return undefined;
    }
    this.#claims.set(id, keeper);
    return former?.ending ?? Promise.resolve();
  }

  release(id: string, keeper: CollectionKeeper): void {
    const waiting = this.#waiting.get(id)?.filter((each) => each !== keeper) ?? [];
    const [next, ...others] = waiting;
    const isOwner = this.#claims.get(id) === keeper;
    if (isOwner) this.#claims.delete(id);
    const left = isOwner ? others : waiting;
    if (left.length > 0) this.#waiting.set(id, left);
    else this.#waiting.delete(id);
    if (!isOwner || next === undefined) return;
    this.#claims.set(id, next);
    next.granted();
  }

  /** Deletes what no informer has and no later one would use: what is too old or of another program, and the oldest of many. */
  async #swept(store: SnapshotStore, nowMs: number): Promise<void> {
    const { appVersion, maxAgeMs } = this.options;
    const heads = await store.heads();
    const times = await store.times?.();
    const kept: { readonly id: string; readonly savedAtMs: number }[] = [];
    const drop = async (id: string) => {
      if (!this.#claims.has(id)) await store.delete(id);
    };
    for (const [id, head] of heads) {
      if (this.#claims.has(id)) continue;
      const savedAtMs = times === undefined ? (await store.read(id))?.savedAtMs : times.get(id);
      const isOld = savedAtMs === undefined || !(Math.abs(nowMs - savedAtMs) <= maxAgeMs);
      if (isOld || !hasKnownFormat(head) || appIn(head) !== appVersion) await drop(id);
      else kept.push({ id, savedAtMs });
    }
    kept.sort((a, b) => b.savedAtMs - a.savedAtMs);
    for (const { id } of kept.slice(Math.max(0, MOST_COLLECTIONS - this.#claims.size))) {
      await drop(id);
    }
  }

  /** Reads a collection after `before`. Rejects if that takes too long, because an informer must not wait for ever. */
  read(
    id: string,
    before: Promise<void>,
    scheduler: SchedulerLike,
  ): Promise<StoredSnapshot | undefined> {
    return new Promise((resolve, reject) => {
      const timer = looseTimer(READ_MS, scheduler, () =>
        reject(new Error(`it has not answered within ${READ_MS} ms`)),
      );
      before
        .then(() => this.run((store) => store.read(id)))
        .then(resolve, reject)
        .finally(() => timer.unsubscribe());
    });
  }

  async forget(identity: string): Promise<void> {
    if (this.#closed) {
      throw new Error(
        'the store was closed, and the objects are still in it; call forget() before close()',
      );
    }
    if (identity === this.options.identity) {
      this.#forgotten++;
      for (const keeper of this.keepers) keeper.forget();
    }
    await this.run(async (store) => {
      if (store.forget !== undefined) return await store.forget(identity);
      for (const [id, head] of await store.heads()) {
        if (identityIn(head) === identity) await store.delete(id);
      }
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([...this.keepers].map((keeper) => keeper.stop()));
    this.#sweep?.unsubscribe();
    const closed = this.run((store) => store.close());
    this.#closed = true;
    await closed;
  }
}
