/**
 * Tests the sample controller on a real kube-apiserver: 500 Foos are created, changed and deleted, while the
 * controller's processes are killed and replaced. etcd orders all writes of all kinds, so the holder of the Lease at
 * each write is known.
 */
import {
  createListWatch,
  createResourceClient,
  createSharedInformer,
  type KubeClient,
  type KubernetesObject,
  type Resource,
  resourcePath,
  type SharedInformer,
} from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import { type Deployment, deployments, type Lease, leases } from 'rx-informer/resources';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { installFoo } from '../../examples/sample-controller/crd.ts';
import { standInForDeployments } from '../../examples/sample-controller/deployment-stand-in.ts';
import { type Foo, foos } from '../../examples/sample-controller/foo.ts';
import { WRITTEN_BY } from '../../examples/sample-controller/reconcile.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { freshNamespace, removeNamespaces } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';
import { type Reign, type SampleProcess, startSample } from './sample-process.ts';

const FOOS = 500;
const WRITERS = 16;

/** One write of a Deployment by a sample process. */
interface Write {
  readonly version: number;
  readonly name: string;
  readonly uid: string;
  readonly by: string;
  readonly created: boolean;
}

describe('the sample controller', () => {
  let cluster: Cluster;
  let api: RawApi;
  let client: KubeClient;
  let namespace: string;
  let stopStandIn: () => Promise<void>;
  let wanted: SharedInformer<Foo>;
  let owned: SharedInformer<Deployment>;
  let lease: SharedInformer<Lease>;
  const reigns: Reign[] = [];
  const processes: SampleProcess[] = [];
  const writes: Write[] = [];
  /** The holders of the Lease, each with its first version. */
  const holders: { readonly version: number; readonly holder: string }[] = [];

  const start = (identity: string) => {
    const sample = startSample(identity, { kubeconfig: cluster.kubeconfig, namespace, reigns });
    processes.push(sample);
    return sample;
  };
  const leader = () => processes.find(({ leads }) => leads);
  const versionOf = ({ metadata }: KubernetesObject) => Number(metadata?.resourceVersion);
  const converged = (check: () => void) => vi.waitFor(check, { timeout: 45_000, interval: 50 });
  const name = (at: number) => `foo-${at}`;
  const all = Array.from({ length: FOOS }, (_, at) => at);

  /** Makes a call for each number, several concurrently. */
  async function each(ats: readonly number[], call: (at: number) => Promise<unknown>) {
    let next = 0;
    const work = async () => {
      while (next < ats.length) await call(ats[next++] as number);
    };
    await Promise.all(Array.from({ length: WRITERS }, work));
  }
  const watched = <T extends KubernetesObject>(resource: Resource<T>) => {
    const informer = createSharedInformer(createListWatch(client, resource, { namespace }));
    informer.start();
    return informer;
  };
  const replicasOf = (at: number) =>
    owned.indexer.getByKey(`${namespace}/${name(at)}`)?.spec?.replicas;
  const expectAll = (replicas: (at: number) => number) => {
    expect(owned.indexer.size).toBe(FOOS);
    const wrong = all.filter((at) => {
      const { status } = wanted.indexer.getByKey(`${namespace}/${name(at)}`) ?? {};
      return replicasOf(at) !== replicas(at) || status?.availableReplicas !== replicas(at);
    });
    expect(wrong).toEqual([]);
  };

  beforeAll(async () => {
    cluster = await openCluster();
    api = await openRawApi(cluster.kubeconfig);
    client = await clientFromKubeConfig({ file: cluster.kubeconfig, qps: 0 });
    namespace = await freshNamespace(api);
    await installFoo(client);
    stopStandIn = standInForDeployments(client, namespace);
    [wanted, owned, lease] = [watched(foos), watched(deployments), watched(leases)];
    await Promise.all([wanted.whenSynced(), owned.whenSynced(), lease.whenSynced()]);
    const before = new Map<string, string>();
    owned.changes$.subscribe(({ changes }) => {
      for (const { previous, object } of changes) {
        if (object === undefined) continue;
        const { name = '', uid = '', annotations = {}, generation } = object.metadata;
        // Our own changes and the status either change neither of the two or keep the writer.
        const state = `${annotations[WRITTEN_BY]} ${generation}`;
        const isWrite = annotations['drifted'] !== String(generation) && before.get(uid) !== state;
        before.set(uid, state);
        const by = annotations[WRITTEN_BY] ?? '';
        const created = previous === undefined;
        if (isWrite) writes.push({ version: versionOf(object), name, uid, by, created });
      }
    });
    lease.changes$.subscribe(({ changes }) => {
      for (const { object } of changes) {
        const holder = object?.spec?.holderIdentity ?? '';
        if (object && holders.at(-1)?.holder !== holder) {
          holders.push({ version: versionOf(object), holder });
        }
      }
    });
  });
  afterAll(async () => {
    await Promise.all(processes.map((process) => process.kill()));
    await stopStandIn?.();
    await Promise.all([wanted, owned, lease].map((informer) => informer?.stop()));
    if (namespace) await removeNamespaces(api, [namespace]);
    await client?.close();
    api?.close();
    await cluster?.close();
  });

  it('N10, N19: 500 Foos are created; a kill of the leader in the middle loses no Deployment and creates none twice', async () => {
    start('a');
    start('b');
    await converged(() => expect(leader()).toBeDefined());
    const calls = createResourceClient(client, foos).namespace(namespace);
    const made = each(all, (at) =>
      calls.create({
        metadata: { name: name(at) },
        spec: { deploymentName: name(at), replicas: 1 + (at % 3) },
      }),
    );
    await converged(() => expect(owned.indexer.size).toBeGreaterThan(FOOS / 4));
    await converged(() => expect(leader()).toBeDefined());
    const killed = leader();
    expect(owned.indexer.size).toBeLessThan(FOOS);
    await killed?.kill();
    await made;
    await converged(() => expectAll((at) => 1 + (at % 3)));
    expect(new Set(reigns.map(({ identity }) => identity))).toEqual(new Set(['a', 'b']));
    // The leaders created one Deployment for each Foo.
    expect(writes.filter(({ created }) => created)).toHaveLength(FOOS);
    const byWhom = new Set(writes.map(({ by }) => by));
    expect([...byWhom].sort()).toEqual(['a', 'b']);
  });

  it('N4, N19: Deployments that other clients delete or change are corrected, also across a change of the leader', async () => {
    start('c');
    const old = leader();
    const deletedOnes = all.filter((at) => at % 5 === 0);
    const scaled = all.filter((at) => at % 5 === 1);
    const edited = all.filter((at) => at % 5 === 2);
    const drift = each(deletedOnes, (at) =>
      api.ok('DELETE', resourcePath(deployments, { namespace, name: name(at) })),
    ).then(() =>
      each(scaled, (at) => {
        const path = resourcePath(deployments, { namespace, name: name(at) });
        const generation = owned.indexer.getByKey(`${namespace}/${name(at)}`)?.metadata.generation;
        const annotations = { drifted: String((generation ?? 0) + 1) };
        return api.ok('PATCH', path, {
          body: { metadata: { annotations }, spec: { replicas: 9 } },
        });
      }),
    );
    const wish = each(edited, (at) =>
      api.ok('PATCH', resourcePath(foos, { namespace, name: name(at) }), {
        body: { spec: { replicas: 5 } },
      }),
    );
    await converged(() => expect(replicasOf(2)).toBe(5));
    // As in a rollout: the Lease is released, so that the next leader need not wait for its expiry.
    const code = await old?.end();
    expect([code, old?.errors, old?.lines.at(-1)]).toEqual([0, '', 'stopped']);
    await Promise.all([drift, wish]);
    await converged(() => expectAll((at) => (at % 5 === 2 ? 5 : 1 + (at % 3))));
    expect(leader()?.identity).toBe('c');
    // One creation for each Foo, and one more for each deleted Deployment.
    expect(writes.filter(({ created }) => created)).toHaveLength(FOOS + deletedOnes.length);
  });

  it('N10: the Deployments of deleted Foos are deleted, and no object is left', async () => {
    await api.ok('DELETE', resourcePath(foos, { namespace }));
    await converged(() => {
      expect([wanted.indexer.size, owned.indexer.size]).toEqual([0, 0]);
    });
    const { items } = await api.listAll(deployments, {});
    expect(items.filter(({ metadata }) => metadata.namespace === namespace)).toEqual([]);
    const last = leader();
    expect(await last?.end()).toBe(0);
    expect(last?.errors).toBe('');
  });

  it('N13: each write was made by the holder of the Lease at that time, and no two processes led at the same time', () => {
    const holderAt = (version: number) =>
      holders.findLast((each) => each.version <= version)?.holder ?? 'nobody';
    const foreign = writes.filter(({ version, by }) => holderAt(version) !== by);
    expect(foreign).toEqual([]);
    expect(writes.length).toBeGreaterThanOrEqual(FOOS * 1.4);
    const inTurn = reigns.toSorted((one, other) => one.fromMs - other.fromMs);
    for (const [at, { fromMs }] of inTurn.entries()) {
      if (at > 0) expect(fromMs).toBeGreaterThan(inTurn[at - 1]?.toMs ?? 0);
    }
    // On a busy machine a leader may renew late and lead again without another leader in between.
    const changes = (names: readonly string[]) =>
      names.filter((name, at) => name !== '' && name !== names[at - 1]);
    const held = holders.map(({ holder }) => holder).filter((holder) => holder !== '');
    expect(changes(inTurn.map(({ identity }) => identity))).toEqual(changes(held));
    expect(new Set(held)).toEqual(new Set(['a', 'b', 'c']));
  });
});
