/**
 * The part of IndexedDB, of its buckets and of Web Locks that stores of snapshots use, in memory: transactions with scopes that
 * begin in order, run beside each other in a random order of requests, commit when nothing is asked any more, and roll back. A
 * client is a tab or a worker, which can be killed at any moment.
 */
import type { BrowserScope } from '../../lib/persist/indexed-db/database.ts';

type Key = string | readonly Key[];
type Entries = [Key, unknown][];
type Handler = (() => void) | null;

interface Range {
  readonly from: Key;
  readonly to: Key;
}

function compare(one: Key, other: Key): number {
  if (typeof one === 'string' && typeof other === 'string')
    return one < other ? -1 : one > other ? 1 : 0;
  if (typeof one === 'string') return -1;
  if (typeof other === 'string') return 1;
  for (const [at, each] of one.entries()) {
    const against = other[at];
    const order = against === undefined ? 1 : compare(each, against);
    if (order !== 0) return order;
  }
  return one.length - other.length;
}

const isIn = (key: Key, range: Key | Range | undefined): boolean => {
  if (range === undefined) return true;
  if (typeof range === 'string' || Array.isArray(range)) return compare(key, range as Key) === 0;
  const { from, to } = range as Range;
  return compare(from, key) <= 0 && compare(key, to) <= 0;
};

class Request {
  result: unknown;
  error: unknown = null;
  onsuccess: Handler = null;
  onerror: Handler = null;
  onblocked: Handler = null;
  onupgradeneeded: Handler = null;
}

class Transaction {
  readonly asked: [Request, () => unknown][] = [];
  readonly before = new Map<string, Entries>();
  readonly #connection: Connection;
  readonly scope: readonly string[];
  readonly mode: string;
  error: unknown = null;
  oncomplete: Handler = null;
  onabort: Handler = null;
  isOver = false;

  constructor(connection: Connection, scope: readonly string[], mode: string) {
    this.#connection = connection;
    this.scope = scope;
    this.mode = mode;
  }

  get connection(): Connection {
    return this.#connection;
  }

  objectStore(name: string) {
    const { stores } = this.#connection.data;
    if (!this.scope.includes(name)) throw new Error(`NotFoundError: ${name}`);
    const all = () => stores.get(name) as Entries;
    const change = (entries: Entries) => {
      if (!this.before.has(name)) this.before.set(name, all());
      stores.set(name, entries);
    };
    const found = (range?: Key | Range) => all().filter(([key]) => isIn(key, range));
    const ask = (run: () => unknown, writes = false) => {
      if (this.isOver) throw new Error('TransactionInactiveError');
      if (writes && this.mode === 'readonly') throw new Error('ReadOnlyError');
      const request = new Request();
      this.asked.push([request, run]);
      return request;
    };
    const remove = (range?: Key | Range) => change(all().filter(([key]) => !isIn(key, range)));
    return {
      get: (key: Key) => ask(() => structuredClone(found(key)[0]?.[1])),
      getAll: (range?: Range) => ask(() => structuredClone(found(range).map(([, value]) => value))),
      getAllKeys: (range?: Range) => ask(() => structuredClone(found(range).map(([key]) => key))),
      put: (value: unknown, key: Key) => {
        const copy = structuredClone(value);
        return ask(() => {
          if (this.#connection.browser.isFull) throw new DOMException('', 'QuotaExceededError');
          const others = all().filter(([each]) => !isIn(each, key));
          change([...others, [key, copy] as [Key, unknown]].sort(([a], [b]) => compare(a, b)));
        }, true);
      },
      delete: (range: Key | Range) => ask(() => remove(range), true),
      clear: () => ask(() => remove(), true),
    };
  }

  abort(error: unknown = null): void {
    if (this.isOver) throw new Error('InvalidStateError');
    this.undo();
    this.error = error;
    for (const [request] of this.asked.splice(0)) {
      request.error = new DOMException('', 'AbortError');
      request.onerror?.();
    }
    this.onabort?.();
  }

  undo(): void {
    this.isOver = true;
    for (const [name, entries] of this.before) this.#connection.data.stores.set(name, entries);
  }

  /** Runs the next request, or commits. */
  step(): void {
    const next = this.asked.shift();
    if (next === undefined) {
      this.isOver = true;
      return this.oncomplete?.();
    }
    const [request, run] = next;
    try {
      request.result = run();
    } catch (error) {
      request.error = error;
      request.onerror?.();
      return this.abort(error);
    }
    request.onsuccess?.();
  }
}

interface Data {
  version: number;
  readonly stores: Map<string, Entries>;
  readonly connections: Set<Connection>;
  transactions: Transaction[];
}

class Connection {
  readonly browser: FakeBrowser;
  readonly data: Data;
  onversionchange: Handler = null;
  onclose: Handler = null;

  constructor(browser: FakeBrowser, data: Data) {
    this.browser = browser;
    this.data = data;
    data.connections.add(this);
  }

  readonly objectStoreNames = { contains: (name: string) => this.data.stores.has(name) };
  readonly createObjectStore = (name: string) => this.data.stores.set(name, []);
  readonly close = () => this.data.connections.delete(this);

  transaction(scope: readonly string[], mode: string): Transaction {
    if (!this.data.connections.has(this)) throw new DOMException('', 'InvalidStateError');
    const transaction = new Transaction(this, scope, mode);
    this.data.transactions.push(transaction);
    this.browser.wake();
    return transaction;
  }
}

/** A tab or a worker. */
export interface Client {
  readonly scope: BrowserScope;
  /** Ends it without a message: what is not committed is gone. */
  kill(): void;
}

export class FakeBrowser {
  /** By name; the name of a bucket and a colon stand before it. */
  readonly databases = new Map<string, Data>();
  /** Whether the disk is full. */
  isFull = false;
  readonly #random: () => number;
  readonly #held = new Map<string, object>();
  #isAwake = false;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Begins a macrotask for each step, until nothing is left to do. */
  wake(): void {
    if (this.#isAwake) return;
    this.#isAwake = true;
    setImmediate(() => {
      this.#isAwake = false;
      for (const data of this.databases.values()) this.#step(data);
    });
  }

  #step(data: Data): void {
    data.transactions = data.transactions.filter(({ isOver }) => !isOver);
    const able = data.transactions.filter((each, at) => {
      const former = data.transactions.slice(0, at);
      return !former.some(
        ({ scope, mode }) =>
          (mode !== 'readonly' || each.mode !== 'readonly') &&
          scope.some((name) => each.scope.includes(name)),
      );
    });
    able[Math.floor(this.#random() * able.length)]?.step();
    if (data.transactions.length > 0) this.wake();
  }

  /** Waits until the other connections are closed. */
  #whenAlone(data: Data, request: Request, done: () => void): void {
    for (const each of [...data.connections]) each.onversionchange?.();
    if (data.connections.size > 0) request.onblocked?.();
    const wait = () => (data.connections.size > 0 ? setImmediate(wait) : done());
    wait();
  }

  #open(name: string, version: number, opened: Set<Connection>): Request {
    const request = new Request();
    setImmediate(() => {
      const data = this.databases.get(name) ?? newData();
      this.databases.set(name, data);
      if (data.version > version) {
        request.error = new DOMException('a newer version', 'VersionError');
        return request.onerror?.();
      }
      const open = () => {
        const connection = new Connection(this, data);
        opened.add(connection);
        request.result = connection;
        if (data.version < version) request.onupgradeneeded?.();
        data.version = version;
        request.onsuccess?.();
      };
      if (data.version > 0 && data.version < version) return this.#whenAlone(data, request, open);
      open();
      return undefined;
    });
    return request;
  }

  /** `isSecure`: whether the page has Web Locks and buckets, which plain HTTP does not have. */
  client(isSecure = true): Client {
    const opened = new Set<Connection>();
    const own = {};
    let isDead = false;
    const factoryOf = (bucket = '') => ({
      open: (name: string, version: number) =>
        isDead ? new Request() : this.#open(bucket + name, version, opened),
      deleteDatabase: (name: string) => {
        const request = new Request();
        const data = this.databases.get(bucket + name);
        if (data === undefined) return request;
        this.#whenAlone(data, request, () => {
          this.databases.delete(bucket + name);
          request.onsuccess?.();
        });
        return request;
      },
    });
    const storageBuckets = {
      open: async (bucket: string) => ({ indexedDB: factoryOf(`${bucket}:`) }),
    };
    const request = async (name: string, ...[given, last]: unknown[]) => {
      const call = (last ?? given) as (lock: object | null) => unknown;
      await null;
      if (this.#held.has(name)) {
        if (last === undefined) throw new Error('the lock is held');
        return call(null);
      }
      if (isDead) return undefined;
      this.#held.set(name, own);
      return await (async () => call({}))().finally(() => {
        if (this.#held.get(name) === own) this.#held.delete(name);
      });
    };
    const bound = (from: Key, to: Key): Range => ({ from, to });
    const scope = {
      indexedDB: factoryOf(),
      IDBKeyRange: { bound },
      navigator: isSecure ? { locks: { request }, storageBuckets } : {},
    };
    const kill = () => {
      isDead = true;
      for (const connection of opened) {
        connection.close();
        for (const each of connection.data.transactions) {
          if (each.connection !== connection || each.isOver) continue;
          each.undo();
        }
      }
      for (const [name, holder] of this.#held) if (holder === own) this.#held.delete(name);
    };
    return { scope: scope as unknown as BrowserScope, kill };
  }
}

function newData(): Data {
  return { version: 0, stores: new Map(), connections: new Set(), transactions: [] };
}
