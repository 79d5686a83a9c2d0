/**
 * A controller in shards on a real kube-apiserver: one of its processes is killed, others come and go. etcd orders the writes of all
 * kinds, so the owner of each slot at each write is known.
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
import { follow } from './follow.ts';
import { freshNamespace, removeNamespaces } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';
import { Judge, type ShardReplica, startReplica } from './shard-replicas.ts';

const FOOS = 150;
const LEASE_MS = 10_000;

describe('a controller in shards', () => {
  let cluster: Cluster;
  let api: RawApi;
  let client: KubeClient;
  let namespace: string;
  let following: readonly Subscription[];
  let judge: Judge;
  let replicas: ShardReplica[];
  let started = 0;

  const start = () => {
    const flags = { kubeconfig: cluster.kubeconfig, namespace, lease: String(LEASE_MS) };
    replicas.push(startReplica(`r${++started}`, flags));
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

  it('H20: of 4 replicas one is killed: every slot is owned again; replicas come and go; no write is made by a member that does not own the slot', async () => {
    const made = createFoos(FOOS);
    for (let at = 0; at < 4; at++) start();
    await allOwned();
    await made;
    await allWritten();
    await replicas[0]?.kill();
    await allOwned();

    // Every Foo changes while replicas come and go.
    const calls = createResourceClient(client, foos).namespace(namespace);
    const changeAll = (replicas: number) =>
      each(FOOS, (at) => calls.patch(name(at), { merge: { spec: { replicas } } }));
    const changed = changeAll(2);
    start();
    await eventually(() => (replicas[4]?.slots.length ?? 0) > 0, 'the fifth replica has slots');
    expect(await replicas[1]?.end()).toBe(0);
    start();
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
  });
});
