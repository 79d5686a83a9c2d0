/**
 * Controllers in shards on a real kube-apiserver, four replicas as processes: kills, replicas that come and go under changes, and
 * processes that are stopped for two leases. The long form: `RING_FOOS=5000 RING_STOPS=100`.
 */
import { createResourceClient, type KubeClient, shardSlot } from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import { leases } from 'rx-informer/resources';
import type { Subscription } from 'rxjs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { installFoo } from '../../examples/sample-controller/crd.ts';
import { foos } from '../../examples/sample-controller/foo.ts';
import { eventually } from '../support/patience.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { figures } from './figures.ts';
import { follow } from './follow.ts';
import { freshNamespace, removeNamespaces } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';
import { Judge, type ShardReplica, startReplica } from './shard-replicas.ts';

const FOOS = Number(process.env['RING_FOOS'] ?? 1_000);
const STOPS = Number(process.env['RING_STOPS'] ?? 6);
const LEASE_MS = 4_000;
/** After a kill. A slot that waits for a second lease comes 8 s later than the law's lease and 2 s, so a pause tells nothing. */
const KILL_LEASE_MS = 10_000;
/** How many keys are written again and again while processes are stopped. */
const BUSY_FOOS = 200;

describe('a controller in shards', () => {
  let cluster: Cluster;
  let api: RawApi;
  let client: KubeClient;
  let namespace: string;
  let following: readonly Subscription[];
  let judge: Judge;
  let replicas: ShardReplica[];
  let started = 0;

  const start = (leaseMs: number, again = 0) => {
    const flags = { kubeconfig: cluster.kubeconfig, namespace, lease: String(leaseMs) };
    replicas.push(startReplica(`r${++started}`, { ...flags, again: String(again) }));
  };
  const living = () => replicas.filter(({ isAlive }) => isAlive);
  const owned = () => living().flatMap(({ slots }) => slots);
  const reports = () => [...replicas.map(({ report }) => report), judge.shownRing].join('\n');
  const allOwned = () =>
    eventually(() => {
      const slots = owned().toSorted((a, b) => a - b);
      expect(slots, reports()).toEqual([...Array(64).keys()]);
    });
  const name = (at: number) => `foo-${at}`;
  async function each(count: number, call: (at: number) => Promise<unknown>) {
    let next = 0;
    const work = async () => {
      while (next < count) await call(next++);
    };
    await Promise.all(Array.from({ length: 16 }, work));
  }
  const createFoos = (count: number) => {
    const calls = createResourceClient(client, foos).namespace(namespace);
    return each(count, (at) =>
      calls.create({
        metadata: { name: name(at) },
        spec: { deploymentName: name(at), replicas: 1 },
      }),
    );
  };
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  /** The Foos that no replica has written in their present generation. */
  const unwritten = async () => {
    const { items } = await api.listAll(foos, {});
    const mine = items.filter(({ metadata }) => metadata.namespace === namespace);
    return mine.filter(
      ({ metadata }) =>
        metadata.annotations?.['shards/writer']?.split(' ')[1] !== String(metadata.generation),
    ).length;
  };
  const allWritten = () => eventually(async () => expect(await unwritten()).toBe(0));

  beforeAll(async () => {
    cluster = await openCluster();
    api = await openRawApi(cluster.kubeconfig);
    client = await clientFromKubeConfig({ file: cluster.kubeconfig, qps: 0 });
    await installFoo(client);
  });
  beforeEach(async () => {
    namespace = await freshNamespace(api);
    judge = new Judge();
    replicas = [];
    following = [
      await follow(client, foos, namespace, (object) =>
        judge.write(object, shardSlot(object, 'uid')),
      ),
      await follow(client, leases, namespace, (object) => judge.ring(object)),
    ];
  });
  afterEach(async () => {
    await Promise.all(living().map((replica) => replica.kill()));
    for (const each of following) each.unsubscribe();
    await removeNamespaces(api, [namespace]);
  });
  afterAll(async () => {
    await client?.close();
    api?.close();
    await cluster?.close();
  });

  it(
    `H20: of 4 replicas with ${FOOS} Foos one is killed: within a lease and 2 s every slot is owned again; replicas come and go; no write is made by a member that does not own the slot`,
    async () => {
      const made = createFoos(FOOS);
      for (let at = 0; at < 4; at++) start(KILL_LEASE_MS);
      await allOwned();
      await made;
      await allWritten();
      await pause(1_000);

      const [victim] = replicas;
      const killedMs = performance.now();
      await victim?.kill();
      await allOwned();
      const afterKillMs = performance.now() - killedMs;
      expect(afterKillMs).toBeLessThan(2 * KILL_LEASE_MS - 500);

      // Every Foo changes while replicas come and go.
      const calls = createResourceClient(client, foos).namespace(namespace);
      const changeAll = (replicas: number) =>
        each(FOOS, (at) => calls.patch(name(at), { merge: { spec: { replicas } } }));
      const changed = changeAll(2);
      start(KILL_LEASE_MS);
      await pause(2_500);
      expect(await replicas[1]?.end()).toBe(0);
      start(KILL_LEASE_MS);
      await pause(1_500);
      await replicas[2]?.kill();
      await changed;
      await allOwned();
      await allWritten();
      // The first changes may be over before the last replica has joined. Now all of them have a part.
      const { length } = judge.writes;
      await changeAll(3);
      await allWritten();
      expect(judge.foreign).toEqual([]);
      expect(judge.writes.length).toBeGreaterThanOrEqual(3 * FOOS);
      // On a busy machine a replica may renew late, and write under another id from then on.
      const members = new Set(judge.writes.slice(length).map(({ by }) => by));
      expect(members.size).toBeGreaterThanOrEqual(living().length);
      figures('four replicas, one killed', {
        'leases until all slots were owned again': afterKillMs / KILL_LEASE_MS,
        seconds: afterKillMs / 1000,
        writes: judge.writes.length,
        'changes of the ring': judge.changes,
      });
    },
    900_000 + FOOS * 100,
  );

  it(
    `H13: ${STOPS} times a process is stopped for two leases: no write is accepted after the first write of the new owner`,
    async () => {
      started = 0;
      await createFoos(BUSY_FOOS);
      for (let at = 0; at < 4; at++) start(LEASE_MS, 150);
      await allOwned();
      const stopped = new Set<ShardReplica>();
      let left = STOPS;
      // Three at a time, at different moments, so that one replica always runs.
      const stopper = async () => {
        while (left-- > 0) {
          await pause(Math.random() * LEASE_MS);
          const running = living().filter((replica) => !stopped.has(replica));
          const victim = running[Math.floor(Math.random() * running.length)];
          if (victim === undefined) throw new Error('no replica runs');
          stopped.add(victim);
          victim.freeze();
          await pause(2 * LEASE_MS);
          victim.thaw();
          stopped.delete(victim);
        }
      };
      await Promise.all([stopper(), stopper(), stopper()]);
      expect(judge.late).toEqual([]);
      await allOwned();
      expect(judge.late).toEqual([]);
      expect(new Set(judge.writes.map(({ by }) => by)).size).toBeGreaterThan(4);
      figures('processes that were stopped for two leases', {
        stops: STOPS,
        writes: judge.writes.length,
        'writes before the first one of the new owner': judge.foreign.length,
        'changes of the ring': judge.changes,
      });
    },
    600_000 + STOPS * 6_000,
  );
});
