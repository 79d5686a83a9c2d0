/** Tests the store of snapshots over IndexedDB, with a database in memory. spec/browser has tests with a real one. */
import type { SnapshotChange } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import type { BrowserScope } from '../../lib/persist/indexed-db/database.ts';
import { IndexedDbStore } from '../../lib/persist/indexed-db/indexed-db-store.ts';
import { Ownership } from '../../lib/persist/indexed-db/ownership.ts';
import { Windows } from '../../lib/persist/indexed-db/windows.ts';
import { campaign } from '../support/campaign.ts';
import { eventually } from '../support/patience.ts';
import { FakeBrowser } from './fake-browser.ts';
import { live } from './indexed-db-lives.ts';

const LIVES = { name: 'INDEXED_DB', seeds: 300, command: 'spec/persist/indexed-db.spec.ts' };

const change = (resourceVersion: string, head = 'h'): SnapshotChange => ({
  ...{ head, resourceVersion, savedAtMs: 1, replaces: true, deleted: [] },
  objects: [['shop/a', new TextEncoder().encode('{}')]],
});
const browser = () => new FakeBrowser(() => 0.5);
const storeOf = (scope: BrowserScope, { user = 'ann', app = '1' } = {}) =>
  new IndexedDbStore(new Ownership('db', user, scope), app);
const dataOf = (of: FakeBrowser, store: string) => of.databases.get('db')?.stores.get(store) ?? [];
const windowsOf = (of: FakeBrowser, bucket = 'rx-informer:') =>
  of.databases.get(`${bucket}db/windows`)?.stores.get('windows') ?? [];
const PAINT = { appVersion: '', maxAgeMs: 1_000, env: 'left-out' } as const;
const rowsOf = (scope: BrowserScope, user = 'ann') =>
  new Windows(new Ownership('db', user, scope).beside, PAINT);
const window = { rows: [['u', { name: 'a' }]], total: 1, savedAtMs: 0 } as const;

describe('random lives', () => {
  it('P27, P28, P29: whatever happens, what is read was stored as a whole, by the same user, in the present era', async () => {
    const { wrong, seen, isReplay } = await campaign(LIVES, live);
    expect(wrong).toEqual([]);
    if (isReplay) return;
    // Otherwise the test would show nothing about them.
    const outcomes = ['warm', 'cold', 'written', 'rewrite', 'full', 'forgotten', 'killed'];
    for (const what of [...outcomes, 'taken over', 'damaged', 'objects are missing']) {
      expect([what, (seen.get(what) ?? 0) > 10]).toEqual([what, true]);
    }
  });
});

describe('writers', () => {
  it('P28: one of several tabs writes, and another one when that has ended', async () => {
    const all = browser();
    const clients = [all.client(), all.client()] as const;
    const [first, second] = clients.map(({ scope }) => storeOf(scope)) as [
      IndexedDbStore,
      IndexedDbStore,
    ];
    expect(await first.write('pods', change('1'))).toBeUndefined();
    expect(await second.write('pods', change('2'))).toBe('rewrite');
    expect((await second.read('pods'))?.resourceVersion).toBe('1');
    clients[0].kill();
    expect(await second.write('pods', change('3'))).toBeUndefined();
    expect((await second.read('pods'))?.resourceVersion).toBe('3');
  });

  it('P28: a tab writes no change over a collection that another one has written meanwhile', async () => {
    const all = browser();
    const clients = [all.client(), all.client()] as const;
    const [first, second] = clients.map(({ scope }) => storeOf(scope)) as [
      IndexedDbStore,
      IndexedDbStore,
    ];
    await first.write('pods', change('1'));
    const read = await second.read('pods');
    for await (const _part of read?.parts ?? []);
    await first.write('pods', change('2'));
    clients[0].kill();
    expect(await second.write('pods', { ...change('3'), replaces: false })).toBe('rewrite');
    expect((await second.read('pods'))?.resourceVersion).toBe('2');
    expect(await second.write('pods', change('4'))).toBeUndefined();
  });

  it('P28: a newer program takes the place of an older one, which can neither write nor delete beside it', async () => {
    const all = browser();
    const older = storeOf(all.client().scope);
    expect(await older.write('pods', change('1'))).toBeUndefined();
    const newer = storeOf(all.client().scope, { app: '2' });
    expect(await newer.write('pods', change('2', 'of 2'))).toBeUndefined();
    expect(await older.write('pods', change('3'))).toBe('rewrite');
    await older.delete('pods');
    const late = storeOf(all.client().scope);
    expect(await late.write('pods', change('4'))).toBe('rewrite');
    await late.delete('pods');
    expect(await newer.read('pods')).toMatchObject({ resourceVersion: '2', head: 'of 2' });
  });

  it('P28: without Web Locks the newest tab writes', async () => {
    const all = browser();
    const [first, second] = [1, 2].map(() => storeOf(all.client(false).scope)) as [
      IndexedDbStore,
      IndexedDbStore,
    ];
    await first.write('pods', change('1'));
    expect(await second.write('pods', change('2'))).toBeUndefined();
    expect(await first.write('pods', change('3'))).toBe('rewrite');
  });
});

describe('what is forgotten', () => {
  it('P29: is deleted for all tabs, and whoever has begun before can no longer write', async () => {
    const all = browser();
    const [writer, reader, other] = [1, 2, 3].map(() => storeOf(all.client().scope)) as [
      IndexedDbStore,
      IndexedDbStore,
      IndexedDbStore,
    ];
    await writer.write('pods', change('1'));
    await reader.read('pods');
    await rowsOf(all.client().scope).write('q', window);
    expect(windowsOf(all)).toHaveLength(2);
    await other.forget('ann');
    for (const store of ['state', 'collections', 'objects']) {
      expect(dataOf(all, store)).toEqual([]);
    }
    expect(windowsOf(all)).toEqual([]);
    expect(await reader.write('pods', change('2'))).toBe('rewrite');
    expect(await writer.write('pods', change('3'))).toBe('rewrite');
    expect(dataOf(all, 'objects')).toEqual([]);
    // The user signs in again.
    expect(await other.write('pods', change('4'))).toBeUndefined();
    expect(await writer.write('pods', change('5'))).toBe('rewrite');
    expect(await writer.read('pods')).toBeUndefined();
  });

  it.each([
    ['a worker', (scope: BrowserScope) => storeOf(scope, { user: 'bob' }).read('pods')],
    ['a page', (scope: BrowserScope) => rowsOf(scope, 'bob').write('q', window)],
  ])(
    'P29, B16: includes objects and windows of another user, if %s of the next one is first',
    async (_who, begin) => {
      for (const isSecure of [true, false]) {
        const all = browser();
        const { scope } = all.client(isSecure);
        const hers = rowsOf(scope);
        await storeOf(scope).write('pods', change('1'));
        await hers.write('q', window);
        await begin(all.client(isSecure).scope);
        expect(dataOf(all, 'objects')).toEqual([]);
        const windows = windowsOf(all, isSecure ? 'rx-informer:' : '');
        expect(JSON.stringify([windows, dataOf(all, 'state')])).not.toContain('"ann"');
        const shown = (await rowsOf(scope, 'ann').read(0)).size + (await hers.read(0)).size;
        expect(shown).toBe(0);
      }
    },
  );

  it('P29: is deleted also if the windows cannot be opened, and then the call rejects', async () => {
    const all = browser();
    const { scope } = all.client();
    const store = storeOf(scope);
    await store.write('pods', change('1'));
    const navigator = {
      locks: scope.navigator?.locks,
      storageBuckets: { open: () => Promise.reject(new Error('no bucket')) },
    };
    const other = storeOf({ ...all.client().scope, navigator });
    await expect(other.forget('ann')).rejects.toThrow('no bucket');
    await eventually(() => expect(dataOf(all, 'objects')).toEqual([]));
    // Objects of another user are not read before the windows of this one are deleted.
    const his = storeOf({ ...all.client().scope, navigator }, { user: 'bob' });
    await expect(his.read('pods')).rejects.toThrow('no bucket');
  });

  it('B15: windows are read without the database of the objects', async () => {
    const all = browser();
    await rowsOf(all.client().scope).write('q', window);
    all.databases.delete('db');
    const next = rowsOf(all.client().scope);
    expect((await next.read(0)).get('q')).toEqual(window);
    await next.write('q', window);
    expect([...all.databases.keys()]).toEqual(['rx-informer:db/windows']);
  });

  it('P29: includes what another user has stored, as soon as a user opens the database', async () => {
    const all = browser();
    const hers = storeOf(all.client().scope);
    await hers.write('pods', change('1'));
    const his = storeOf(all.client().scope, { user: 'bob' });
    expect(await his.read('pods')).toBeUndefined();
    expect(dataOf(all, 'objects')).toEqual([]);
    expect(await hers.write('pods', change('2'))).toBe('rewrite');
    // A sign-out of hers that is late takes nothing of his.
    await his.write('pods', change('3'));
    await hers.forget('ann');
    expect((await his.read('pods'))?.resourceVersion).toBe('3');
    expect(JSON.stringify(dataOf(all, 'state'))).not.toContain('"ann"');
  });
});

describe('a database that cannot be used', () => {
  it('P30: is an error of the call, with the reason', async () => {
    await expect(storeOf({}).read('pods')).rejects.toThrow(/no IndexedDB/);
    await expect(storeOf({}).forget('ann')).resolves.toBeUndefined();
    const denied = {
      indexedDB: {
        open: () => {
          throw new DOMException('denied', 'SecurityError');
        },
      },
    };
    await expect(storeOf(denied as never).read('pods')).rejects.toThrow('denied');
    const all = browser();
    const store = storeOf(all.client().scope);
    await store.write('pods', change('1'));
    all.isFull = true;
    await expect(store.write('pods', change('2'))).rejects.toThrow(
      expect.objectContaining({ name: 'QuotaExceededError' }),
    );
    all.isFull = false;
    expect((await store.read('pods'))?.resourceVersion).toBe('1');
    expect(await store.write('pods', { ...change('3'), replaces: false })).toBe('rewrite');
  });

  it('P30: of a newer version is left alone, and one with other contents is deleted', async () => {
    const all = browser();
    const store = storeOf(all.client().scope);
    await store.write('pods', change('1'));
    const { scope, kill } = all.client();
    // The open store lets another tab upgrade.
    await new Promise<void>((resolve) => {
      const request = scope.indexedDB?.open('db', 2) as IDBOpenDBRequest;
      request.onsuccess = () => resolve();
    });
    await expect(store.read('pods')).rejects.toThrow('a newer version');
    kill();
    expect(dataOf(all, 'objects')).toHaveLength(1);
    const data = all.databases.get('db');
    if (data !== undefined) data.version = 1;
    data?.stores.delete('objects');
    await expect(store.read('pods')).rejects.toThrow(/other contents/);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await store.read('pods')).toBeUndefined();
  }, 5_000);

  it('P30: is not waited for, if an older tab does not close it', async () => {
    const all = browser();
    const blocking = all.client().scope.indexedDB?.open('db', 0.5) as IDBOpenDBRequest;
    await new Promise<void>((resolve) => {
      blocking.onsuccess = () => resolve();
    });
    await expect(storeOf(all.client().scope).read('pods')).rejects.toThrow(/another tab/);
    blocking.result.close();
  });

  it('P30: a database that opens after it was given up is closed, so that another tab can delete it', async () => {
    const all = browser();
    const blocking = all.client().scope.indexedDB?.open('db', 0.5) as IDBOpenDBRequest;
    await new Promise<void>((resolve) => {
      blocking.onsuccess = () => resolve();
    });
    const store = storeOf(all.client().scope);
    await expect(store.read('pods')).rejects.toThrow(/another tab/);
    blocking.result.close();
    await eventually(() => expect(all.databases.get('db')?.version).toBe(1));
    expect(all.databases.get('db')?.connections.size).toBe(0);
    expect(await store.read('pods')).toBeUndefined();
    expect(all.databases.get('db')?.connections.size).toBe(1);
  });

  it.each<[string, unknown]>([
    ['text', 'x'],
    ['a number', 7],
    ['fields of other types', { head: 1, resourceVersion: {}, savedAtMs: 'x', count: -0.5 }],
    [
      'names of prototypes',
      JSON.parse('{"__proto__":{"head":"h"},"constructor":{},"head":"h","count":"1"}'),
    ],
    ['a count that is none', { head: 'h', resourceVersion: '1', savedAtMs: 1, count: Number.NaN }],
  ])('P30: a record that is %s is of no known format', async (_what, record) => {
    const all = browser();
    const store = storeOf(all.client().scope);
    await store.write('pods', change('1'));
    const [entry] = dataOf(all, 'collections');
    if (entry !== undefined) entry[1] = record;
    expect((await store.read('pods'))?.head).toBe('');
    expect([...(await store.heads()).values()]).toEqual(['']);
    await store.delete('pods');
    expect(dataOf(all, 'objects')).toEqual([]);
  });

  it('P36: says when each collection was right', async () => {
    const all = browser();
    const store = storeOf(all.client().scope);
    await store.write('pods', change('1'));
    await store.write('services', { ...change('2'), savedAtMs: 7 });
    const [entry] = dataOf(all, 'collections');
    if (entry !== undefined) entry[1] = 'damaged';
    expect(await store.times()).toEqual(
      new Map([
        ['pods', 0],
        ['services', 7],
      ]),
    );
  });

  it('P30: with a damaged state belongs to nobody, and is deleted', async () => {
    const all = browser();
    await storeOf(all.client().scope).write('pods', change('1'));
    const [entry] = dataOf(all, 'state');
    if (entry !== undefined) entry[1] = { identity: 'ann', era: { toString: 1 } };
    expect(await storeOf(all.client().scope).read('pods')).toBeUndefined();
    expect(dataOf(all, 'objects')).toEqual([]);
  });
});
