/**
 * Tests the mutation cache with the cases of client-go's tools/cache/mutation_cache_test.go, and against a model of a
 * server whose events and responses arrive late.
 */

import {
  applyDeltas,
  type Change,
  type ChangeSet,
  createIndexer,
  createMutationCache,
  type Delta,
  type KubernetesObject,
  type MutationCacheOptions,
} from 'rx-informer';
import { changeSet } from 'rx-informer/testing';
import { Subject, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';

interface Pod {
  metadata: { name: string; uid: string; resourceVersion: string; labels?: { app: string } };
}

function pod(name: string, uid: string, resourceVersion: string, app?: string): Pod {
  return { metadata: { name, uid, resourceVersion, ...(app ? { labels: { app } } : {}) } };
}

const byApp = (object: Pod) => {
  const app = object.metadata.labels?.app;
  if (app === 'bad') throw new Error('refused');
  return app === undefined ? [] : [app];
};

function rig(options: MutationCacheOptions = {}) {
  const scheduler = new VirtualTimeScheduler();
  const store = createIndexer<Pod>({ indexers: { app: byApp } });
  const cache = createMutationCache(store, { scheduler, ...options });
  const version = (key = 'pod') => cache.getByKey(key)?.metadata.resourceVersion;
  return { scheduler, store, cache, version };
}

describe('a mutation cache', () => {
  it.each([
    { stored: '2', dropped: true },
    { stored: '3', dropped: true },
    { stored: '1', dropped: false },
  ])(
    'S20: onAddOrUpdate() with version $stored drops a write at version 2: $dropped (TestMutationCacheOnAddOrUpdate)',
    ({ stored, dropped }) => {
      const { cache, store, version } = rig();
      cache.mutation(pod('pod', 'uid-1', '2'));
      cache.onAddOrUpdate(pod('pod', 'uid-1', stored));
      store.add(pod('pod', 'uid-1', '1'));
      expect(version()).toBe(dropped ? '1' : '2');
    },
  );

  it('S20: a write is still shown if the store has reached its version but refused the object', () => {
    const { cache, store, version } = rig({ includeAdds: true });
    const source = new Subject<readonly Delta<Pod>[]>();
    source.pipe(applyDeltas(store)).subscribe();
    const end = { resourceVersion: '9', trustVersions: true } as const;
    source.next([{ type: 'replaced', objects: [pod('pod', 'uid-1', '5', 'bad')], ...end }]);
    cache.mutation(pod('pod', 'uid-1', '5'));
    cache.mutation(pod('gone', 'uid-2', '6'));
    expect([version(), version('gone')]).toEqual(['5', undefined]);
  });

  it('S20: a write that the server has lost, because it was restored, is dropped', () => {
    const { cache, store, version } = rig({ includeAdds: true });
    const source = new Subject<readonly Delta<Pod>[]>();
    source.pipe(applyDeltas(store)).subscribe();
    const list = (resourceVersion: string, ...objects: Pod[]) =>
      source.next([{ type: 'replaced', objects, resourceVersion, trustVersions: false }]);
    list('5', pod('pod', 'uid-1', '3'), pod('other', 'uid-2', '5'));
    cache.mutation(pod('pod', 'uid-1', '8'));
    cache.mutation(pod('other', 'uid-2', '6'));
    expect([version(), version('other')]).toEqual(['8', '6']);
    // The versions of the restored server are still older than the write.
    list('4', pod('pod', 'uid-1', '3'), pod('other', 'uid-2', '4'));
    expect([version(), version('other')]).toEqual(['3', '4']);
    // Without a list that shows the step back, the store has a newer version than the write, and not the write.
    cache.mutation(pod('pod', 'uid-1', '8'));
    expect(version()).toBe('8');
    list('9', pod('pod', 'uid-1', '3'));
    expect(version()).toBe('3');
  });

  it.each([
    { uid: 'uid-1', at: '1', shown: false },
    { uid: 'uid-2', at: '3', shown: false },
    { uid: 'uid-other', at: '1', shown: true },
  ])(
    'S20: after a deletion of $uid at version $at, a write of uid-1 at version 3 is shown: $shown (TestMutationCacheOnDelete)',
    ({ uid, at, shown }) => {
      const { cache, store, version } = rig({ includeAdds: true });
      store.add(pod('pod', 'uid-1', '2'));
      cache.mutation(pod('pod', 'uid-1', '3'));
      const deleted = pod('pod', uid, at);
      store.delete(deleted);
      cache.onDelete(deleted);
      expect(version()).toBe(shown ? '3' : undefined);
    },
  );

  it('S20: a deletion also removes a write from the indices (TestMutationCacheOnDeleteClearsStaleMutation)', () => {
    const { cache } = rig({ includeAdds: true });
    const written = pod('pod', 'uid-1', '2', 'web');
    cache.mutation(written);
    expect(cache.byIndex('app', 'web')).toEqual([written]);
    cache.onDelete(pod('pod', 'uid-1', '1'));
    expect(cache.byIndex('app', 'web')).toEqual([]);
  });

  it('S20: of several deletions of a name, the newest is kept', () => {
    const { cache, version } = rig({ includeAdds: true });
    cache.onDelete(pod('pod', 'uid-2', '9'));
    for (const uid of ['uid-1', 'uid-2']) cache.onDelete(pod('pod', uid, '3'));
    for (const uid of ['uid-2', 'uid-3']) cache.mutation(pod('pod', uid, '8'));
    expect(version()).toBeUndefined();
  });

  it('S20: a write whose version cannot be compared is not shown', () => {
    const { cache, store, version } = rig();
    store.add(pod('pod', 'u', '5'));
    for (const text of ['', '0', 'abc']) cache.mutation(pod('pod', 'u', text));
    expect(version()).toBe('5');
  });

  it('S20: if objects have no metadata, the stored object takes precedence over the write', () => {
    interface Bare extends KubernetesObject {
      readonly id: string;
    }
    const store = createIndexer<Bare>({ keyOf: ({ id }) => id });
    const cache = createMutationCache(store);
    const stored = { id: 'a' };
    store.add(stored);
    cache.mutation({ id: 'a' });
    expect(cache.getByKey('a')).toBe(stored);
    cache.onAddOrUpdate(stored);
    cache.onDelete(stored);
    expect(cache.getByKey('a')).toBe(stored);
  });

  it('S20: an object that is not in the store is shown only with `includeAdds`', () => {
    for (const includeAdds of [true, false]) {
      const { cache, version } = rig({ includeAdds });
      cache.mutation(pod('pod', 'u', '2', 'web'));
      expect(version()).toBe(includeAdds ? '2' : undefined);
      expect(cache.byIndex('app', 'web')).toHaveLength(includeAdds ? 1 : 0);
    }
  });

  it('S20: an index shows a write only under its current values', () => {
    const { cache, store } = rig();
    const [a, b] = [pod('a', 'a', '1', 'web'), pod('b', 'b', '1', 'web')];
    store.add(a);
    store.add(b);
    expect(cache.byIndex('app', 'web')).toBe(store.byIndex('app', 'web'));
    const moved = pod('a', 'a', '2', 'db');
    cache.mutation(moved);
    expect(cache.byIndex('app', 'web')).toEqual([b]);
    expect(cache.byIndex('app', 'db')).toEqual([moved]);
    cache.mutation(pod('b', 'b', '2', 'bad'));
    expect(cache.byIndex('app', 'web')).toEqual([b]);
    expect(() => cache.byIndex('other', 'web')).toThrow('does not exist');
  });

  it('S20: writes and deletions are kept for `ttlMs`', () => {
    const { cache, scheduler, version } = rig({ includeAdds: true, ttlMs: 100 });
    cache.mutation(pod('pod', 'u', '2'));
    scheduler.frame = 100;
    expect(version()).toBe('2');
    scheduler.frame = 101;
    expect(version()).toBeUndefined();
    cache.onDelete(pod('pod', 'u', '3'));
    scheduler.frame = 202;
    cache.mutation(pod('pod', 'u', '4'));
    expect(version()).toBe('4');
  });

  it('S20: the least recently used write is evicted first, and deletions evict no writes', () => {
    const { cache, version } = rig({ includeAdds: true, size: 2 });
    cache.mutation(pod('a', 'a', '1', 'web'));
    cache.mutation(pod('b', 'b', '2'));
    expect(version('a')).toBe('1');
    cache.mutation(pod('c', 'c', '3'));
    expect(['a', 'b', 'c'].map(version)).toEqual(['1', undefined, '3']);
    cache.byIndex('app', 'web');
    cache.mutation(pod('d', 'd', '4'));
    expect(['a', 'c', 'd'].map(version)).toEqual(['1', undefined, '4']);
    for (const name of ['x', 'y', 'z']) cache.onDelete(pod(name, name, '5'));
    expect(['a', 'd'].map(version)).toEqual(['1', '4']);
  });

  it('S20: connect() follows a stream of changes until it is unsubscribed', () => {
    const { cache, store, version } = rig({ includeAdds: true });
    const changes$ = new Subject<ChangeSet<Pod>>();
    const connection = cache.connect(changes$);
    cache.mutation(pod('a', 'a', '2'));
    cache.mutation(pod('b', 'b', '3'));
    changes$.next(changeSet({ added: [pod('a', 'a', '2')], deleted: [pod('b', 'b', '4')] }));
    expect(['a', 'b'].map(version)).toEqual([undefined, undefined]);
    // The last state, not the state that this consumer had, decides which responses are outdated.
    const [previous, last] = [pod('c', 'c', '5'), pod('c', 'c', '9')];
    const ended: Change<Pod> = { id: 'c', key: 'c', previous, last };
    changes$.next({ ...changeSet<Pod>(), changes: [ended] });
    cache.mutation(pod('c', 'other', '8'));
    expect(version('c')).toBeUndefined();
    connection.unsubscribe();
    expect(changes$.observed).toBe(false);
    expect(store.size).toBe(0);
  });

  it('S16, S20: changing a returned object throws with the guard `freeze`', () => {
    const { cache } = rig({ includeAdds: true, mutationGuard: 'freeze' });
    cache.mutation(pod('pod', 'u', '2'));
    const got = cache.getByKey('pod');
    expect(() => Object.assign(got?.metadata ?? {}, { name: 'other' })).toThrow(TypeError);
  });

  it.each([{ ttlMs: 0 }, { ttlMs: -1 }, { ttlMs: Number.NaN }, { size: 0 }])(
    'S20: createMutationCache() refuses %j',
    (options) => {
      expect(() => rig(options)).toThrow(TypeError);
    },
  );

  it('S20: the cache is never behind the store or its own writes, shows only states that the server had, and ends in the state of the server (TestMutationCacheUpdateConcurrentDelete, TestMutationCacheUpdateConcurrentRecreate)', () => {
    const name = fc.constantFrom('a', 'b');
    const app = fc.constantFrom('web', 'db');
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ do: fc.constant('write' as const), name, app }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('respond' as const) }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), name }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('watch' as const) }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('notify' as const) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('relist' as const) }) },
    );
    const steps = fc.array(step, { maxLength: 40 });
    fc.assert(
      fc.property(fc.boolean(), fc.boolean(), steps, (includeAdds, connected, all) => {
        const { store, cache } = rig({ includeAdds });
        const deltas$ = new Subject<readonly Delta<Pod>[]>();
        const changes$ = new Subject<ChangeSet<Pod>>();
        if (connected) cache.connect(changes$);
        const server = new Map<string, Pod>();
        const had = new Map<string, Pod>();
        const events: Delta<Pod>[] = [];
        const responses: Pod[] = [];
        const pendingSets: ChangeSet<Pod>[] = [];
        const responded = new Map<string, number>();
        let rev = 0;
        deltas$.pipe(applyDeltas(store)).subscribe((set) => pendingSets.push(set));
        const at = (object: Pod | undefined) => Number(object?.metadata.resourceVersion ?? 0);
        const act = {
          write: (key: string, label: string) => {
            const uid = server.get(key)?.metadata.uid ?? `uid-${++rev}`;
            const object = pod(key, uid, String(++rev), label);
            const type = server.has(key) ? 'updated' : 'added';
            server.set(key, object);
            had.set(object.metadata.resourceVersion, object);
            responses.push(object);
            events.push({ type, key, object });
          },
          respond: () => {
            const object = responses.shift();
            if (object === undefined) return;
            cache.mutation(object);
            responded.set(object.metadata.name, at(object));
          },
          delete: (key: string) => {
            const object = server.get(key);
            if (object === undefined) return;
            server.delete(key);
            const ended = pod(key, object.metadata.uid, String(++rev));
            events.push({ type: 'deleted', key, object: ended, finalStateUnknown: false });
          },
          watch: () => {
            const event = events.shift();
            if (event !== undefined) deltas$.next([event]);
          },
          notify: () => {
            const set = pendingSets.shift();
            if (set !== undefined) changes$.next(set);
          },
          relist: () => {
            events.length = 0;
            const objects = [...server.values()];
            const resourceVersion = String(rev);
            deltas$.next([{ type: 'replaced', objects, resourceVersion, trustVersions: true }]);
          },
        };
        const check = () => {
          const shown = ['a', 'b'].flatMap((key) => cache.getByKey(key) ?? []);
          for (const object of shown) {
            expect(object).toEqual(had.get(object.metadata.resourceVersion));
          }
          for (const key of ['a', 'b']) {
            const [stored, got] = [store.getByKey(key), cache.getByKey(key)];
            expect(at(got)).toBeGreaterThanOrEqual(at(stored));
            // Only a deletion hides an own write.
            const alive = server.get(key)?.metadata.uid;
            if (got !== undefined && got.metadata.uid === alive) {
              expect(at(got)).toBeGreaterThanOrEqual(responded.get(key) ?? 0);
            }
          }
          for (const label of ['web', 'db']) {
            const expected = shown.filter((object) => object.metadata.labels?.app === label);
            expect(new Set(cache.byIndex('app', label))).toEqual(new Set(expected));
          }
        };
        act.relist();
        for (const each of all) {
          if (each.do === 'write') act.write(each.name, each.app);
          else if (each.do === 'delete') act.delete(each.name);
          else act[each.do]();
          check();
        }
        while (events.length > 0) act.watch();
        while (pendingSets.length > 0) act.notify();
        while (responses.length > 0) act.respond();
        check();
        for (const key of ['a', 'b']) expect(cache.getByKey(key)).toEqual(server.get(key));
      }),
      { numRuns: 500 },
    );
  });
});
