/** The store of one `persist`, which its keepers share: one method at a time, and one keeper per collection. */
import { identityIn } from './snapshot-head.ts';
import type { CheckedSnapshotOptions } from './snapshot-options.ts';
import type { SnapshotStore } from './snapshot-store.ts';

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

  constructor(store: SnapshotStore, options: CheckedSnapshotOptions) {
    this.#store = store;
    this.options = options;
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

  async forget(identity: string): Promise<void> {
    if (identity === this.options.identity) for (const keeper of this.keepers) keeper.forget();
    await this.run(async (store) => {
      for (const [id, head] of await store.heads()) {
        if (identityIn(head) === identity) await store.delete(id);
      }
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.keepers].map((keeper) => keeper.stop()));
    if (this.#closed) return;
    const closed = this.run((store) => store.close());
    this.#closed = true;
    await closed;
  }
}
