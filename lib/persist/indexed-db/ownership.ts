/**
 * Whose objects a database has: those of one identity in one era. An era ends when everything is deleted, so whoever has
 * begun in an earlier one can no longer write.
 */
import type { BrowserScope } from './database.ts';
import { Database, resultOf } from './database.ts';

/** The only record of the store `state`, and the first one of `windows`. */
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

/** The key of the state in both stores. */
export const STATE = '';
const ALL = ['state', 'collections', 'objects', 'windows'] as const;

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
  #era: Promise<string> | undefined;

  constructor(name: string, identity: string, scope: BrowserScope) {
    this.database = new Database(name, scope);
    this.identity = identity;
  }

  /** The era in which this owner may write. What the database has of another identity is deleted first. */
  enter(): Promise<string> {
    if (this.#era !== undefined) return this.#era;
    const { database, identity } = this;
    const entered = database.transact(ALL, 'readwrite', async (of) => {
      const [state, copy] = await Promise.all([
        resultOf(of('state').get(STATE)) as Promise<unknown>,
        resultOf(of('windows').get(STATE)) as Promise<unknown>,
      ]);
      const isOwn = isStateOf(state, identity) && isStateOf(copy, identity);
      if (isOwn && state.era === copy.era) return state.era;
      for (const store of ALL) of(store).clear();
      const fresh: State = { identity, era: newToken() };
      of('state').put(fresh, STATE);
      await resultOf(of('windows').put(fresh, STATE));
      return fresh.era;
    });
    this.#era = entered;
    entered.catch(() => this.leave());
    return entered;
  }

  /** The next `enter` begins again. */
  leave(): void {
    this.#era = undefined;
  }

  /** Whether a stored value is the state in which this owner has entered. */
  async owns(state: unknown): Promise<State | undefined> {
    const era = await this.#era;
    return isStateOf(state, this.identity) && state.era === era ? state : undefined;
  }

  /** Deletes everything of an identity, and ends the era. */
  async forget(identity: string): Promise<void> {
    const { database } = this;
    if (identity === this.identity) this.leave();
    if (!database.exists) return;
    await database.transact(ALL, 'readwrite', async (of) => {
      const state = (await resultOf(of('state').get(STATE))) as unknown;
      const copy = (await resultOf(of('windows').get(STATE))) as unknown;
      if (!isStateOf(state, identity) && !isStateOf(copy, identity)) return;
      for (const store of ALL) of(store).clear();
    });
  }
}
