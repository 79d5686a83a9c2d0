/**
 * Tests the sample controller on a real kube-apiserver: Foos are created, changed and deleted, while the
 * controller's processes are killed and replaced. etcd orders all writes of all kinds, so the holder of the Lease at
 * each write is known. `SAMPLE_FOOS=n` runs it with n Foos.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
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
import { type Deployment, deployments, leases } from 'rx-informer/resources';
import type { Subscription } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installFoo } from '../../examples/sample-controller/crd.ts';
import { standInForDeployments } from '../../examples/sample-controller/deployment-stand-in.ts';
import { type Foo, foos } from '../../examples/sample-controller/foo.ts';
import { WRITTEN_BY } from '../../examples/sample-controller/reconcile.ts';
import { eventually } from '../support/patience.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { follow, versionOf } from './follow.ts';
import { freshNamespace, removeNamespaces } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';

// Starts the sample controller in processes of its own, so that tests can kill them.

const main = fileURLToPath(new URL('../../examples/sample-controller/main.ts', import.meta.url));

/** A process of the sample controller. */
interface SampleProcess {
  readonly identity: string;
  readonly leads: boolean;
  readonly lines: readonly string[];
  readonly errors: string;
  /** Kills the process without a shutdown. */
  kill(): Promise<void>;
  /** Ends the process as Kubernetes ends a pod. Resolves to the exit code. */
  end(): Promise<number | null>;
}

/** Starts a process, and adds its identity to `leaders` whenever it reports that it leads. */
function startSample(
  identity: string,
  options: {
    readonly kubeconfig: string;
    readonly namespace: string;
    readonly leaders: string[];
  },
): SampleProcess {
  const { kubeconfig, namespace, leaders } = options;
  const flags = ['--conditions=rx-informer-source', '--disable-warning=ExperimentalWarning'];
  const args = {
    kubeconfig,
    namespace,
    identity,
    'lease-namespace': namespace,
    workers: 2,
    qps: 0,
    // On a busy machine a renewal takes 2 s, and a write that was sent in time arrives seconds later.
    'lease-duration': 12_000,
    'renew-deadline': 8_000,
    'retry-period': 400,
  };
  const given = Object.entries(args).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child: ChildProcess = spawn(process.execPath, [...flags, main, ...given], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const gone = once(child, 'close').then(([code]) => code as number | null);
  const lines: string[] = [];
  let errors = '';
  let leads = false;
  if (child.stdout === null || child.stderr === null) throw new Error('the sample has no output');
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    if (line === 'not leading') leads = false;
    if (line !== 'leading') return;
    leads = true;
    leaders.push(identity);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  return {
    identity,
    lines,
    get errors() {
      return errors;
    },
    get leads() {
      return leads;
    },
    async kill() {
      child.kill('SIGKILL');
      await gone;
      leads = false;
    },
    end() {
      child.kill('SIGTERM');
      return gone;
    },
  };
}

const FOOS = Number(process.env['SAMPLE_FOOS'] ?? 60);
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
  let following: readonly Subscription[] = [];
  /** The identities of the processes, each time that one reported that it leads. */
  const leaders: string[] = [];
  const processes: SampleProcess[] = [];
  const writes: Write[] = [];
  /** The newest version of a Deployment of which `writes` knows. */
  let seen = 0;
  /** The holders of the Lease, each with its first version. */
  const holders: { readonly version: number; readonly holder: string }[] = [];

  const start = (identity: string) => {
    const sample = startSample(identity, { kubeconfig: cluster.kubeconfig, namespace, leaders });
    processes.push(sample);
    return sample;
  };
  const leader = () => processes.find(({ leads }) => leads);
  /** A leader that renewed late leads again after a while. */
  const anyLeader = async () => {
    await converged(() => expect(leader()).toBeDefined());
    return leader() as SampleProcess;
  };
  /** What a process reported, except that it could not renew the Lease in time, as happens on a busy machine. */
  const errorsOf = ({ errors }: SampleProcess) =>
    errors.split('\n').filter((line) => line !== '' && !line.startsWith('leader election: '));
  const converged = (check: () => void) => eventually(check);
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
  const sawAll = () => {
    const newest = Math.max(...owned.indexer.list().map(versionOf));
    return converged(() => expect(seen).toBeGreaterThanOrEqual(newest));
  };
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
    [wanted, owned] = [watched(foos), watched(deployments)];
    await Promise.all([wanted.whenSynced(), owned.whenSynced()]);
    const before = new Map<string, string>();
    following = [
      await follow(client, deployments, namespace, (object, created) => {
        const { name = '', uid = '', annotations = {}, generation } = object.metadata ?? {};
        // Our own changes and the status either change neither of the two or keep the writer.
        const state = `${annotations[WRITTEN_BY]} ${generation}`;
        const isWrite = annotations['drifted'] !== String(generation) && before.get(uid) !== state;
        before.set(uid, state);
        const by = annotations[WRITTEN_BY] ?? '';
        if (isWrite) writes.push({ version: versionOf(object), name, uid, by, created });
        seen = versionOf(object);
      }),
      await follow(client, leases, namespace, (object) => {
        const holder = object.spec?.holderIdentity ?? '';
        if (holders.at(-1)?.holder === holder) return;
        holders.push({ version: versionOf(object), holder });
      }),
    ];
  });
  afterAll(async () => {
    await Promise.all(processes.map((process) => process.kill()));
    await stopStandIn?.();
    for (const each of following) each.unsubscribe();
    await Promise.all([wanted, owned].map((informer) => informer?.stop()));
    if (namespace) await removeNamespaces(api, [namespace]);
    await client?.close();
    api?.close();
    await cluster?.close();
  });

  it('N10, N19: all Foos are created; a kill of the leader in the middle loses no Deployment and creates none twice', async () => {
    start('a');
    start('b');
    await anyLeader();
    const calls = createResourceClient(client, foos).namespace(namespace);
    const make = (ats: readonly number[]) =>
      each(ats, (at) =>
        calls.create({
          metadata: { name: name(at) },
          spec: { deploymentName: name(at), replicas: 1 + (at % 3) },
        }),
      );
    const made = make(all.slice(0, FOOS / 2));
    await converged(() => expect(owned.indexer.size).toBeGreaterThan(FOOS / 4));
    const killed = (await anyLeader()).kill();
    // However late the kill comes, the next leader has these to do.
    await Promise.all([killed, made, make(all.slice(FOOS / 2))]);
    await converged(() => expectAll((at) => 1 + (at % 3)));
    expect(new Set(leaders)).toEqual(new Set(['a', 'b']));
    // The leaders created one Deployment for each Foo.
    await sawAll();
    expect(writes.filter(({ created }) => created)).toHaveLength(FOOS);
    const byWhom = new Set(writes.map(({ by }) => by));
    expect([...byWhom].sort()).toEqual(['a', 'b']);
  });

  it('N4, N19: Deployments that other clients delete or change are corrected, also across a change of the leader', async () => {
    const old = await anyLeader();
    start('c');
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
    const code = await old.end();
    expect([code, errorsOf(old), old.lines.at(-1)]).toEqual([0, [], 'stopped']);
    await Promise.all([drift, wish]);
    await converged(() => expectAll((at) => (at % 5 === 2 ? 5 : 1 + (at % 3))));
    expect((await anyLeader()).identity).toBe('c');
    // One creation for each Foo, and one more for each deleted Deployment.
    await sawAll();
    expect(writes.filter(({ created }) => created)).toHaveLength(FOOS + deletedOnes.length);
  });

  it('N10: the Deployments of deleted Foos are deleted, and no object is left', async () => {
    await api.ok('DELETE', resourcePath(foos, { namespace }));
    await converged(() => {
      expect([wanted.indexer.size, owned.indexer.size]).toEqual([0, 0]);
    });
    const { items } = await api.listAll(deployments, {});
    expect(items.filter(({ metadata }) => metadata.namespace === namespace)).toEqual([]);
    const last = await anyLeader();
    expect(await last.end()).toBe(0);
    expect(errorsOf(last)).toEqual([]);
  });

  it('N13: each write was made by the holder of the Lease at that time, and only holders led', () => {
    const holderAt = (version: number) =>
      holders.findLast((each) => each.version <= version)?.holder ?? 'nobody';
    const foreign = writes.filter(({ version, by }) => holderAt(version) !== by);
    expect(foreign).toEqual([]);
    expect(writes.length).toBeGreaterThanOrEqual(FOOS * 1.4);
    const held = holders.map(({ holder }) => holder).filter((holder) => holder !== '');
    expect(new Set(held)).toEqual(new Set(['a', 'b', 'c']));
    expect(new Set(leaders)).toEqual(new Set(held));
  });
});
