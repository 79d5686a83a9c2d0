/** Controllers in shards: several replicas over one fake API server, in virtual time. */
import {
  type Controller,
  type ControllerOptions,
  createClient,
  createController,
  createLeaderElector,
  createListWatch,
  createResourceClient,
  createShardMember,
  createSharedInformer,
  guardedClient,
  shardSlot,
  shardSlotOf,
} from 'rx-informer';
import { type ConfigMap, configMaps, leases } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';

const LEASE_MS = 3_000;
const OBJECTS = 60;
/** Not `n0`, `n1` …: names that differ in their last character only are in one slot. */
const NAMESPACES = ['shop', 'till', 'bank', 'docs', 'mail', 'news', 'jobs', 'shipping', 'web'];

interface Replica {
  readonly controller: Controller;
  /** The keys of the reconciles, in order. */
  readonly keys: string[];
  /** Whether its requests fail. */
  isCut: boolean;
}

function rig(settings: { readonly historyLimit?: number } = {}) {
  const time = new VirtualTime();
  const resources = [leases, configMaps];
  const server = createFakeApiServer({ resources, scheduler: time, ...settings });
  const create = (at: number) =>
    server.objects.create(configMaps, {
      metadata: { namespace: NAMESPACES[at % 9] ?? '', name: `c${at}` },
    });
  for (let at = 0; at < OBJECTS; at++) create(at);
  const replicas: Replica[] = [];
  const replica = (
    options: Partial<ControllerOptions<ConfigMap>> & { readonly by?: 'uid' | 'namespace' } = {},
  ): Replica => {
    const { by = 'uid', reconcile, ...rest } = options;
    const self = { keys: [] as string[], isCut: false };
    const identity = `r${replicas.length}`;
    const client = createClient({
      baseUrl: 'http://fake',
      scheduler: time,
      fetch: async (...args) => {
        if (self.isCut) throw new TypeError('the cable is cut');
        return await server.fetch(...args);
      },
    });
    const informer = createSharedInformer(createListWatch(client, configMaps), { scheduler: time });
    const controller = createController<ConfigMap>({
      name: identity,
      for: informer,
      scheduler: time,
      shards: createShardMember({
        ...{ client, by, namespace: 'shop', name: 'maps', identity, scheduler: time },
        ...{ leaseDurationMs: LEASE_MS, drainMs: 5_000 },
      }),
      reconcile: (key, request) => {
        self.keys.push(key);
        return reconcile?.(key, request);
      },
      ...rest,
    });
    controller.start();
    replicas.push(Object.assign(self, { controller }));
    return self as Replica;
  };
  const settle = () => time.advance(3 * LEASE_MS);
  const stop = () =>
    Promise.all([...replicas.map(({ controller }) => controller.stop()), time.advance(30_000)]);
  const all = server.objects.list(configMaps);
  const keyOf = ({ metadata }: ConfigMap) => `${metadata?.namespace}/${metadata?.name}`;
  return { time, server, replica, replicas, settle, stop, all, keyOf, create };
}

describe('a controller in shards', () => {
  it.each(['uid', 'namespace'] as const)(
    'H10: each key is reconciled by one replica, by %s',
    async (by) => {
      const { replica, replicas, settle, stop, all, keyOf } = rig();
      for (let at = 0; at < 3; at++) replica({ by });
      await settle();
      const keys = replicas.flatMap((each) => each.keys);
      expect(keys.toSorted()).toEqual(all.map(keyOf).toSorted());
      for (const each of replicas) expect(each.keys.length).toBeGreaterThan(0);
      expect(replicas[0]?.controller.status).toMatchObject({ phase: 'running', leading: true });
      expect(replicas[0]?.controller.status.shards).toMatch(/^owns \d+ of 64 slots; 3 members$/);
      await stop();
      expect(replicas[0]?.controller.status.shards).toBe('has left the ring');
    },
  );

  it('H10: changes, deletions and retries are processed by the owner only', async () => {
    const { time, server, replica, replicas, settle, stop, all, keyOf } = rig();
    let failures = 0;
    const reconcile = (key: string) => {
      if (
        !server.objects.list(configMaps).some((each) => keyOf(each) === key) &&
        failures++ === 0
      ) {
        throw new Error('the cleanup failed');
      }
    };
    for (let at = 0; at < 3; at++) replica({ reconcile });
    await settle();
    for (const each of replicas) each.keys.length = 0;
    const [changed, deleted] = all as unknown as [ConfigMap, ConfigMap];
    server.objects.update(configMaps, { ...changed, data: { a: '1' } });
    const { namespace = '', name = '' } = deleted.metadata ?? {};
    server.objects.delete(configMaps, { namespace, name });
    await time.advance(5_000);
    const keys = replicas.map((each) => each.keys);
    expect(keys.flat().toSorted()).toEqual(
      [keyOf(changed), keyOf(deleted), keyOf(deleted)].toSorted(),
    );
    expect(keys.filter((each) => each.includes(keyOf(deleted)))).toHaveLength(1);
    await stop();
  });

  it.each(['uid', 'namespace'] as const)(
    'H10: of 3,000 deletions in one set each is reconciled by one replica, by %s',
    async (by) => {
      const { time, server, replica, replicas, settle, stop, keyOf, create } = rig({
        historyLimit: 10,
      });
      for (let at = OBJECTS; at < 3_000; at++) create(at);
      const sets: number[] = [];
      const gone: string[] = [];
      const reconcile: ControllerOptions<ConfigMap>['reconcile'] = (key, { object }) => {
        if (object === undefined) gone.push(key);
      };
      for (let at = 0; at < 2; at++) replica({ by, reconcile });
      await settle();
      const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler: time });
      const witness = createSharedInformer(createListWatch(client, configMaps), {
        scheduler: time,
      });
      witness.changes$.subscribe(({ changes, cause }) => {
        if (cause === 'relist') sets.push(changes.length);
      });
      await time.advance(1_000);
      const outage = server.faults.refuse({ resource: configMaps });
      server.faults.closeWatches({ resource: configMaps });
      const objects = server.objects.list(configMaps);
      for (const { metadata } of objects) {
        const { namespace = '', name = '' } = metadata ?? {};
        server.objects.delete(configMaps, { namespace, name });
      }
      outage.heal();
      await time.advance(60_000);
      expect(sets).toEqual([3_000]);
      expect(gone).toHaveLength(3_000);
      expect(gone.toSorted()).toEqual(objects.map(keyOf).toSorted());
      for (const each of replicas) expect(each.keys.length).toBeGreaterThan(0);
      await witness.stop();
      await stop();
    },
  );

  it('H11: a replica that joins gets its share after the running reconciles of these slots have ended', async () => {
    const { time, replica, settle, stop, all, keyOf } = rig();
    const running = new Map<string, () => void>();
    const twice: string[] = [];
    const reconcile = (key: string) =>
      new Promise<void>((resolve) => {
        if (running.has(key)) twice.push(key);
        running.set(key, () => {
          running.delete(key);
          resolve();
        });
      });
    const first = replica({ reconcile, concurrency: 5 });
    await settle();
    expect(running.size).toBe(5);
    const held = [...running.keys()];
    const second = replica({ reconcile, concurrency: OBJECTS });
    await time.advance(4_000);
    const slots = (keys: readonly string[]) =>
      new Set(
        all.filter((each) => keys.includes(keyOf(each))).map((each) => shardSlot(each, 'uid')),
      );
    expect(second.keys.length).toBeGreaterThan(5);
    for (const slot of slots(held)) expect(slots(second.keys).has(slot)).toBe(false);
    for (let round = 0; round < 20; round++) {
      for (const finish of [...running.values()]) finish();
      await time.advance(600);
    }
    expect(twice).toEqual([]);
    expect(new Set([...first.keys, ...second.keys]).size).toBe(OBJECTS);
    await stop();
  });

  it('H11: a reconcile that is still running after drainMs is aborted before its slot is released', async () => {
    const { time, replica, settle, stop } = rig();
    const aborted: string[] = [];
    replica({
      concurrency: OBJECTS,
      reconcile: (key, { signal }) =>
        new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => aborted.push(`${key} ${signal.reason.message}`));
          signal.addEventListener('abort', () => resolve());
        }),
    });
    await settle();
    const second = replica();
    await time.advance(3_000);
    expect([aborted, second.keys.length > 0]).toEqual([[], false]);
    await time.advance(3_500);
    expect(aborted.length).toBeGreaterThan(10);
    expect(aborted.length).toBeLessThan(50);
    expect(aborted[0]).toMatch(/this replica does not own [a-z]+\/c\d+ any more \(slot \d+\)/);
    expect(second.keys.length).toBe(aborted.length);
    await stop();
  });

  it('H11: a slot is not released while a controller that is stopping still reconciles one of its keys', async () => {
    const { time, replica, settle, stop } = rig();
    const running = new Set<string>();
    const twice: string[] = [];
    const reconcile = (key: string) =>
      new Promise<void>((resolve) => {
        if (running.has(key)) twice.push(key);
        running.add(key);
        const end = () => {
          running.delete(key);
          resolve();
        };
        time.schedule(end, 4_000);
      });
    const first = replica({ reconcile, concurrency: OBJECTS });
    await time.advance(2 * LEASE_MS - 1_500);
    expect(running.size).toBe(OBJECTS);
    void first.controller.stop();
    const second = replica({ reconcile, concurrency: OBJECTS });
    await time.advance(1_500);
    expect(second.controller.status.shards).toMatch(/; 2 members$/);
    await settle();
    expect(second.keys).toHaveLength(OBJECTS);
    expect(twice).toEqual([]);
    await stop();
  });

  it('H11: when a replica is lost, its keys are reconciled by the others, and it stops first', async () => {
    const { time, replica, replicas, settle, stop } = rig();
    for (let at = 0; at < 3; at++) replica();
    await settle();
    const [lost, ...others] = replicas as [Replica, Replica, Replica];
    const mine = [...lost.keys];
    for (const each of others) each.keys.length = 0;
    lost.isCut = true;
    await time.advance(LEASE_MS - 200);
    expect(lost.controller.status).toMatchObject({ phase: 'standby', leading: false });
    expect(others.flatMap(({ keys }) => keys)).toEqual([]);
    await time.advance(2_000);
    expect(others.flatMap(({ keys }) => keys).toSorted()).toEqual(mine.toSorted());
    await stop();
  });

  it.each(['uid', 'namespace'] as const)(
    'H18: objects that are deleted while their slots have no owner are reconciled by the next one, by %s',
    async (by) => {
      const { time, server, replica, replicas, settle, stop } = rig();
      const gone: string[] = [];
      const reconcile: ControllerOptions<ConfigMap>['reconcile'] = (key, { object }) => {
        if (object === undefined) gone.push(key);
      };
      for (let at = 0; at < 3; at++) replica({ by, reconcile });
      await settle();
      const [lost] = replicas as [Replica, Replica, Replica];
      const mine = [...lost.keys];
      expect(mine.length).toBeGreaterThan(1);
      lost.isCut = true;
      server.faults.closeWatches({ resource: configMaps });
      await time.advance(500);
      const [again = '', ...others] = mine;
      const named = (key: string) => ({
        namespace: key.slice(0, key.indexOf('/')),
        name: key.slice(key.indexOf('/') + 1),
      });
      for (const key of mine) server.objects.delete(configMaps, named(key));
      await time.advance(1_000);
      expect(gone).toEqual([]);
      server.objects.create(configMaps, { metadata: named(again) });
      await time.advance(6 * LEASE_MS);
      expect(gone.toSorted()).toEqual(others.toSorted());
      await stop();
    },
  );

  it('H13: a write of a process that was stopped is not sent, although no timer has run yet', async () => {
    const { time, server, replica, settle, stop } = rig();
    let write = () => Promise.resolve<unknown>(undefined);
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler: time });
    const one = replica({
      reconcile: async (key, { object, signal }) => {
        if (key !== 'shop/c0' || object === undefined) return;
        const maps = createResourceClient(guardedClient(client, signal), configMaps);
        write = () => maps.update({ ...object, data: { by: 'one' } });
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      },
    });
    await settle();
    expect(one.keys).toContain('shop/c0');
    time.jump(2 * LEASE_MS);
    await expect(write()).rejects.toThrow(/aborted/);
    expect(server.objects.get(configMaps, { namespace: 'shop', name: 'c0' })?.data).toBeUndefined();
    await stop();
  });

  it('H10: controllers share a member: it joins with the first and leaves with the last, unless its owner has started it', async () => {
    const { time, server } = rig();
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler: time });
    const member = createShardMember({
      ...{ client, namespace: 'shop', name: 'maps', scheduler: time, leaseDurationMs: LEASE_MS },
    });
    const informer = createSharedInformer(createListWatch(client, configMaps), { scheduler: time });
    const seen = [0, 0];
    const controllers = seen.map((_, at) =>
      createController<ConfigMap>({
        ...{ for: informer, scheduler: time, shards: member },
        reconcile: () => {
          seen[at] = (seen[at] ?? 0) + 1;
        },
      }),
    );
    const [first, second] = controllers;
    first?.start();
    await time.advance(500);
    await expect(
      Promise.all([first?.whenReady({ timeoutMs: 100 }), time.advance(200)]),
    ).rejects.toThrow(/joining the ring; the slots of a new ring are given out after a full lease/);
    second?.start();
    await time.advance(3 * LEASE_MS);
    expect(seen).toEqual([OBJECTS, OBJECTS]);
    await Promise.all([first?.stop(), time.advance(1_000)]);
    expect(member.status.owned).toHaveLength(64);
    await Promise.all([second?.stop(), time.advance(1_000)]);
    expect(member.status.phase).toBe('stopped');
    member.start();
    first?.start();
    await time.advance(2 * LEASE_MS);
    expect(seen).toEqual([2 * OBJECTS, OBJECTS]);
    await Promise.all([first?.stop(), time.advance(1_000)]);
    expect(member.status.phase).toBe('member');
    await Promise.all([member.stop(), time.advance(1_000)]);
  });

  it('H10: the status says what is owned also after the owner of the member has stopped and started it', async () => {
    const { time, server } = rig();
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler: time });
    const [a, b] = ['a', 'b'].map((identity) =>
      createShardMember({
        ...{ client, identity, namespace: 'shop', name: 'maps', scheduler: time },
        leaseDurationMs: LEASE_MS,
      }),
    );
    const controller = createController<ConfigMap>({
      for: createSharedInformer(createListWatch(client, configMaps), { scheduler: time }),
      ...{ scheduler: time, shards: a, reconcile: () => undefined },
    });
    controller.start();
    await time.advance(3 * LEASE_MS);
    await Promise.all([a?.stop(), time.advance(1_000)]);
    a?.start();
    await time.advance(3 * LEASE_MS);
    b?.start();
    await time.advance(3 * LEASE_MS);
    expect(controller.status.shards).toBe(a?.status.text);
    expect(controller.status.shards).toMatch(/; 2 members$/);
    await Promise.all([controller.stop(), a?.stop(), b?.stop(), time.advance(10_000)]);
  });

  it('H10: by namespace, a key with the prefix of a cluster is in the slot of its namespace', () => {
    const member = createShardMember({
      ...{ client: createClient({ baseUrl: 'http://fake' }), by: 'namespace' },
      ...{ namespace: 'shop', name: 'maps' },
    });
    const admitted: number[] = [];
    Object.assign(member, {
      admitsSlot: (slot: number) => {
        admitted.push(slot);
        return true;
      },
    });
    const objects = { changes$: NEVER, indexer: { getByKey: () => undefined } };
    const plain = member.divide('a', objects);
    const clusters = member.divide('b', { ...objects, prefixOf: () => 'east/' });
    for (const key of ['shop/web', 'node-1', 'shop/web/0']) plain.admits(key);
    for (const key of ['east/shop/web', 'east/node-1']) clusters.admits(key);
    const [shop, none] = [shardSlotOf('shop'), shardSlotOf('')];
    expect(admitted).toEqual([shop, none, shop, shop, none]);
  });

  it('H10: leader election and shards exclude each other', () => {
    const { replica } = rig();
    const client = createClient({ baseUrl: 'http://fake' });
    const leaderElection = () =>
      createLeaderElector({ client, namespace: 'a', name: 'b', identity: 'c' });
    expect(() => replica({ leaderElection })).toThrow(/either leaderElection or shards/);
  });
});
