/** Controllers in shards on a real kube-apiserver: replicas as processes, the Foos that they write, and a judge of all writes. */
import { createResourceClient, type KubeClient, shardSlot } from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import { leases } from 'rx-informer/resources';
import type { Subscription } from 'rxjs';
import { expect } from 'vitest';
import { installFoo } from '../../examples/sample-controller/crd.ts';
import { foos } from '../../examples/sample-controller/foo.ts';
import { eventually } from '../support/patience.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { follow, versionOf } from './follow.ts';
import { freshNamespace, removeNamespaces } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';
import { Judge, type ShardReplica, startReplica } from './shard-replicas.ts';

const nameOf = (at: number) => `foo-${at}`;

async function each(count: number, call: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < count) await call(next++);
  };
  await Promise.all(Array.from({ length: 16 }, work));
}

/** One server, with a namespace, a judge and replicas for each test. */
export class ShardRing {
  judge = new Judge();
  replicas: ShardReplica[] = [];
  readonly #cluster: Cluster;
  readonly #api: RawApi;
  readonly #client: KubeClient;
  #namespace = '';
  #following: readonly Subscription[] = [];
  #started = 0;

  private constructor(cluster: Cluster, api: RawApi, client: KubeClient) {
    this.#cluster = cluster;
    this.#api = api;
    this.#client = client;
  }

  static async open(): Promise<ShardRing> {
    const cluster = await openCluster();
    const api = await openRawApi(cluster.kubeconfig);
    const client = await clientFromKubeConfig({ file: cluster.kubeconfig, qps: 0 });
    await installFoo(client);
    return new ShardRing(cluster, api, client);
  }

  async close(): Promise<void> {
    await this.#client.close();
    this.#api.close();
    await this.#cluster.close();
  }

  async begin(): Promise<void> {
    this.#namespace = await freshNamespace(this.#api);
    this.judge = new Judge();
    this.replicas = [];
    this.#started = 0;
    const [client, namespace] = [this.#client, this.#namespace];
    this.#following = [
      await follow(client, foos, namespace, (object) =>
        this.judge.write(object, shardSlot(object, 'uid')),
      ),
      await follow(client, leases, namespace, (object) => this.judge.ring(object)),
    ];
  }

  async end(): Promise<void> {
    await Promise.all(this.living.map((replica) => replica.kill()));
    for (const each of this.#following) each.unsubscribe();
    await removeNamespaces(this.#api, [this.#namespace]);
  }

  get living(): readonly ShardReplica[] {
    return this.replicas.filter(({ isAlive }) => isAlive);
  }

  /** Starts a replica. `again`: how many milliseconds pass until it writes a Foo again. */
  start(leaseMs: number, again = 0): void {
    const { kubeconfig } = this.#cluster;
    const flags = { kubeconfig, namespace: this.#namespace, lease: String(leaseMs) };
    this.replicas.push(startReplica(`r${++this.#started}`, { ...flags, again: String(again) }));
  }

  async allOwned(): Promise<void> {
    await eventually(() => {
      const slots = this.living.flatMap((replica) => replica.slots).sort((a, b) => a - b);
      const reports = [...this.replicas.map(({ report }) => report), this.judge.shownRing];
      expect(slots, reports.join('\n')).toEqual([...Array(64).keys()]);
    });
  }

  async createFoos(count: number): Promise<void> {
    const calls = createResourceClient(this.#client, foos).namespace(this.#namespace);
    const spec = (at: number) => ({ deploymentName: nameOf(at), replicas: 1 });
    await each(count, (at) => calls.create({ metadata: { name: nameOf(at) }, spec: spec(at) }));
  }

  async changeFoos(count: number, replicas: number): Promise<void> {
    const calls = createResourceClient(this.#client, foos).namespace(this.#namespace);
    await each(count, (at) => calls.patch(nameOf(at), { merge: { spec: { replicas } } }));
  }

  /** Each Foo was written by a replica in its present generation, and the judge, which learns of it by a watch, has seen that. */
  async allWritten(): Promise<void> {
    await eventually(async () => {
      const { items } = await this.#api.listAll(foos, {});
      const own = items.filter(({ metadata }) => metadata.namespace === this.#namespace);
      const unwritten = own.filter(
        ({ metadata: { annotations, generation } }) =>
          annotations?.['shards/writer']?.split(' ')[1] !== String(generation),
      );
      expect(unwritten).toHaveLength(0);
      expect(this.judge.seen).toBeGreaterThanOrEqual(Math.max(...own.map(versionOf)));
    });
  }

  /** Every Foo changes twice while replicas come and go, as `meanwhile` says. No write is made by a member that does not own the slot. */
  async change(count: number, meanwhile: () => Promise<void>): Promise<void> {
    const changed = this.changeFoos(count, 2);
    await meanwhile();
    await changed;
    await this.allOwned();
    await this.allWritten();
    // The first changes may be over before the last replica has joined, and on a busy machine one loses its slots for a while.
    let replicas = 2;
    await eventually(async () => {
      const { length } = this.judge.writes;
      await this.changeFoos(count, ++replicas);
      await this.allWritten();
      // A replica that renewed late writes under another id from then on.
      const members = new Set(this.judge.writes.slice(length).map(({ by }) => by));
      expect(members.size).toBeGreaterThanOrEqual(this.living.length);
    });
    expect(this.judge.foreign).toEqual([]);
    expect(this.judge.writes.length).toBeGreaterThanOrEqual(3 * count);
  }
}
