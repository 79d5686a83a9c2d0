/** The windows of rows that pages showed last, in a small database of IndexedDB. A page shows them before a worker has answered. */
import type { CheckedSnapshotOptions } from '../snapshot-options.ts';
import { keptOf } from '../stored-json.ts';
import { resultOf } from './database.ts';
import { isStateOf, type Ownership, STATE } from './ownership.ts';

/** Changes with every change of the stored form. */
const FORMAT = 1;
const MOST_WINDOWS = 24;
const MOST_ROWS = 500;
/** The most characters of a window. */
const MOST_TEXT = 524_288;

/** The rows of a query, with their ids. */
export interface StoredWindow {
  readonly rows: readonly (readonly [id: string, row: unknown])[];
  /** The number of rows without a window. */
  readonly total: number;
  readonly savedAtMs: number;
}

/** What is stored of a window. The rows are text, because a damaged text is not parsed at all. */
interface WindowRecord extends Omit<StoredWindow, 'rows'> {
  readonly format: typeof FORMAT;
  readonly app: string;
  readonly text: string;
}

type WindowOptions = Pick<CheckedSnapshotOptions, 'appVersion' | 'maxAgeMs' | 'env'>;

/** The rows as JSON, without what is never stored. */
function textOf(rows: StoredWindow['rows'], env: WindowOptions['env']): string {
  return JSON.stringify(keptOf('', rows, env));
}

/** The rows of a text that anybody in the origin may have written; `undefined` if they are not rows. */
function rowsIn(text: string): StoredWindow['rows'] | undefined {
  let rows: unknown;
  try {
    rows = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(rows) || rows.length > MOST_ROWS) return undefined;
  const pairs: readonly unknown[] = rows;
  if (!pairs.every(isRow) || new Set(pairs.map(([id]) => id)).size < pairs.length) return undefined;
  return pairs;
}

function isRow(pair: unknown): pair is readonly [id: string, row: unknown] {
  const isPair = Array.isArray(pair) && pair.length === 2 && typeof pair[0] === 'string';
  return isPair && typeof pair[1] === 'object' && pair[1] !== null;
}

export class Windows {
  readonly #owner: Ownership;
  readonly #options: WindowOptions;

  constructor(owner: Ownership, options: WindowOptions) {
    this.#owner = owner;
    this.#options = options;
  }

  /** The windows by query. Those of another user, program or format, and those that are too old, are deleted. */
  async read(nowMs: number): Promise<ReadonlyMap<string, StoredWindow>> {
    const windows = new Map<string, StoredWindow>();
    const { database, identity } = this.#owner;
    const [keys, values] = await database.transact(['windows'], 'readonly', (of) =>
      Promise.all([
        resultOf(of('windows').getAllKeys()),
        resultOf(of('windows').getAll()) as Promise<unknown[]>,
      ]),
    );
    // The state is the first one.
    if (keys[0] === STATE && isStateOf(values[0], identity)) {
      for (const [at, key] of keys.entries()) {
        if (at === 0) continue;
        const window = this.#window(values[at], nowMs);
        if (window !== undefined) windows.set(String(key), window);
        else void this.delete(String(key)).catch(() => undefined);
      }
    } else if (keys.length > 0) void this.#owner.enter().catch(() => undefined);
    return windows;
  }

  /** Stores a window, or its beginning. */
  async write(key: string, { rows, total, savedAtMs }: StoredWindow): Promise<void> {
    const { appVersion: app, env } = this.#options;
    const text = textOf(rows.slice(0, MOST_ROWS), env);
    if (text.length > MOST_TEXT) return await this.delete(key);
    const record: WindowRecord = { format: FORMAT, app, total, savedAtMs, text };
    await this.#change(async (windows) => {
      await resultOf(windows.put(record, key));
      const keys = await resultOf(windows.getAllKeys());
      if (keys.length <= MOST_WINDOWS + 1) return;
      const values = (await resultOf(windows.getAll())) as (Partial<WindowRecord> | null)[];
      // The first one is the state.
      const times = values.slice(1).map((value) => Number(value?.savedAtMs) || 0);
      windows.delete(keys[times.indexOf(Math.min(...times)) + 1] as IDBValidKey);
    });
  }

  async delete(key: string): Promise<void> {
    await this.#change(async (windows) => {
      await resultOf(windows.delete(key));
    });
  }

  /** Deletes everything of the user, also what the worker has stored. */
  forget(): Promise<void> {
    return this.#owner.forget();
  }

  close(): void {
    this.#owner.close();
  }

  /** Does nothing if everything was forgotten since this page has begun. */
  async #change(work: (windows: IDBObjectStore) => Promise<void>): Promise<void> {
    await this.#owner.enter();
    await this.#owner.database.transact(['windows'], 'readwrite', async (of) => {
      const windows = of('windows');
      if (await this.#owner.owns(await resultOf(windows.get(STATE)))) await work(windows);
    });
  }

  #window(value: unknown, nowMs: number): StoredWindow | undefined {
    const { appVersion, maxAgeMs } = this.#options;
    const { format, app, total, savedAtMs, text } = (value ?? {}) as Partial<WindowRecord>;
    if (format !== FORMAT || app !== appVersion) return undefined;
    if (typeof savedAtMs !== 'number' || !(Math.abs(nowMs - savedAtMs) <= maxAgeMs))
      return undefined;
    if (typeof text !== 'string' || text.length > MOST_TEXT) return undefined;
    if (!Number.isInteger(total) || (total as number) < 0) return undefined;
    const rows = rowsIn(text);
    return rows && { rows, total: total as number, savedAtMs };
  }
}
