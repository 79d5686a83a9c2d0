/**
 * Whose contents a database has: those of one identity in one era. An era ends when everything is deleted, so whoever has
 * begun in an earlier one can no longer write. The objects have one database, and the windows that pages paint another one,
 * which a page opens in less time.
 */
import { type BrowserScope, Database, resultOf, type StoreName } from './database.ts';

/** The first record of the first store of a database. */
export interface State {
  readonly identity: string;
  /** Differs from that of every other era. */
  readonly era: string;
  /** The store that writes the collections. It holds the Web Lock of this name while it lives. */
  readonly writer?: string | undefined;
  /** The program of the writer. */
  readonly app?: string | undefined;
  /** The programs that have written, in the order in which they were first seen. */
  readonly apps?: readonly string[] | undefined;
}

/** The key of the state. */
export const STATE = '';

/** Text that nobody else has. Not `randomUUID`, which pages of plain HTTP do not have. */
export function newToken(): string {
  return Array.from({ length: 3 }, () => Math.random().toString(36).slice(2)).join('');
}

/** Whether a stored value is the state of an identity. Anybody who can run a script in the origin may have written it. */
export function isStateOf(value: unknown, identity: string): value is State {
  const state = value as Partial<State> | null | undefined;
  return state?.identity === identity && typeof state.era === 'string';
}

export class Ownership {
  readonly database: Database;
  readonly identity: string;
  /** The owner of the windows or, for that one, of the objects. What is deleted here is deleted there. */
  readonly beside: Ownership;
  #era: Promise<string> | undefined;

  /** The owner of the objects or, beside their owner, of the windows. */
  constructor(name: string, identity: string, scope: BrowserScope, objects?: Ownership) {
    this.identity = identity;
    this.database =
      objects === undefined
        ? new Database(name, ['state', 'collections', 'objects'], scope)
        : new Database(`${name}/windows`, ['windows'], scope, true);
    this.beside = objects ?? new Ownership(name, identity, scope, this);
  }

  /** The era in which this owner may write. What is stored of another identity is deleted first. */
  enter(): Promise<string> {
    this.#era ??= this.#enter().catch((error: unknown) => {
      // The next call begins again.
      this.#era = undefined;
      throw error;
    });
    return this.#era;
  }

  async #enter(): Promise<string> {
    const { identity } = this;
    const isOthers = (state: unknown) => !isStateOf(state, identity);
    const found = await this.#emptyIf(() => false);
    if (isStateOf(found, identity)) return found.era;
    // First, because who finds the state below does not look beside.
    await this.beside.#emptyIf(isOthers);
    const fresh: State = { identity, era: newToken() };
    return ((await this.#emptyIf(isOthers, fresh)) as State).era;
  }

  /** Whether a stored value is the state in which this owner has entered. */
  async owns(state: unknown): Promise<State | undefined> {
    const era = await this.#era;
    return isStateOf(state, this.identity) && state.era === era ? state : undefined;
  }

  /** Deletes everything of an identity, here and beside, and ends the eras. */
  async forget(identity: string = this.identity): Promise<void> {
    const both = [this, this.beside];
    if (identity === this.identity) for (const each of both) each.#era = undefined;
    // Some private windows have no databases.
    if (this.database.scope.indexedDB === undefined) return;
    // Both at once, because the page may be closed soon.
    await Promise.all(both.map((each) => each.#emptyIf((state) => isStateOf(state, identity))));
  }

  close(): void {
    this.database.close();
    this.beside.database.close();
  }

  /** Deletes everything if the state is such a one. Returns the state after it. */
  async #emptyIf(isSuch: (state: unknown) => boolean, fresh?: State): Promise<unknown> {
    const { stores } = this.database;
    const first = stores[0] as StoreName;
    return await this.database.transact(stores, 'readwrite', async (of) => {
      const state = (await resultOf(of(first).get(STATE))) as unknown;
      if (!isSuch(state)) return state;
      for (const store of stores) of(store).clear();
      if (fresh !== undefined) of(first).put(fresh, STATE);
      return fresh;
    });
  }
}
