/** The store of one `persist`, which its keepers share: one method at a time, and one keeper per collection. */
import type { SchedulerLike } from 'rxjs';
import { looseTimer } from '../rx/long-timer.ts';
import { identityIn } from './snapshot-head.ts';
import type { CheckedSnapshotOptions } from './snapshot-options.ts';
import type { SnapshotStore, StoredSnapshot } from './snapshot-store.ts';

/** How long a store may take to find a collection, in milliseconds. */
const READ_MS = 10_000;

/** The keeper of an id. */
export interface Claimant {
  /** Set when the keeper has been stopped; resolves when its last write has ended. */
  readonly ending: Promise<void> | undefined;
  /** Writes what is due, and nothing more. Resolves when it is written, or cannot be. */
  stop(): Promise<void>;
  /** Deletes what is stored, and stores nothing more. */
  forget(): void;
}

/** The store of one maker, whose methods are called one at a time. */
export class SharedStore {
  readonly options: CheckedSnapshotOptions;
  readonly keepers: Set<Claimant> = new Set();
  readonly #store: SnapshotStore;
  readonly #claims = new Map<string, Claimant>();
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
   * one still runs.
   */
  claim(id: string, keeper: Claimant): Promise<void> | undefined {
    const former = this.#claims.get(id);
    if (former !== undefined && former.ending === undefined) return undefined;
    this.#claims.set(id, keeper);
    return former?.ending ?? Promise.resolve();
  }

  release(id: string, keeper: Claimant): void {
    if (this.#claims.get(id) === keeper) this.#claims.delete(id);
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
    const closed = this.run((store) => store.close());
    this.#closed = true;
    await closed;
  }
}
