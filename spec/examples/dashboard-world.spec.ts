/** Tests the embedded cluster: its objects belong together, and its controllers count their pods. */
import type { Stored } from 'rx-informer';
import {
  type DaemonSet,
  type Deployment,
  deployments,
  type Event,
  type Job,
  jobs,
  type Node,
  type Pod,
  pods,
  type ReplicaSet,
  type StatefulSet,
  statefulSets,
} from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { Ledger } from '../../examples/dashboard/embedded/ledger.ts';
import { LogWriter } from '../../examples/dashboard/embedded/log-writer.ts';
import { populate } from '../../examples/dashboard/embedded/populate.ts';
import { Random } from '../../examples/dashboard/embedded/random.ts';
import { seedFaults } from '../../examples/dashboard/embedded/seeded-faults.ts';
import { Director } from '../../examples/dashboard/embedded/stories.ts';
import { UserWrites } from '../../examples/dashboard/embedded/user-writes.ts';
import { World } from '../../examples/dashboard/embedded/world.ts';
import {
  createEmbeddedCluster,
  type EmbeddedCluster,
} from '../../examples/dashboard/embedded-cluster.ts';
import { eventually } from '../support/patience.ts';

interface Grown {
  readonly server: ReturnType<typeof createFakeApiServer>;
  readonly world: World;
}

/** A world after a number of changes. */
function grown(objects: number, steps: number, seed = 1): Grown {
  const server = createFakeApiServer();
  const world = new World(server, { objects, seed, isTroubled: true });
  populate(world, objects);
  const director = new Director(world, objects);
  for (let step = 0; step < steps; step++) director.step();
  world.rollup.flush();
  return { server, world };
}

async function listed<T>({ server }: Grown, path: string): Promise<Stored<T>[]> {
  const answer = await server.fetch(`http://fake${path}`);
  return ((await answer.json()) as { items: Stored<T>[] }).items;
}

const isActive = ({ metadata, status }: Pod) =>
  metadata?.deletionTimestamp === undefined &&
  status?.phase !== 'Succeeded' &&
  status?.phase !== 'Failed';
const isReady = ({ status }: Pod) =>
  status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') ?? false;

/** The active pods by the UID of their controller. */
function byOwner(all: readonly Pod[]): Map<string, { replicas: number; ready: number }> {
  const counts = new Map<string, { replicas: number; ready: number }>();
  for (const pod of all.filter(isActive)) {
    const uid = pod.metadata?.ownerReferences?.find(({ controller }) => controller)?.uid ?? '';
    const { replicas, ready } = counts.get(uid) ?? { replicas: 0, ready: 0 };
    counts.set(uid, { replicas: replicas + 1, ready: ready + (isReady(pod) ? 1 : 0) });
  }
  return counts;
}

describe('the objects of the embedded cluster', () => {
  test.each([0, 1, 500, 3000])('count their pods after %i changes', async (steps) => {
    const all = grown(600, steps);
    const counts = byOwner(await listed<Pod>(all, '/api/v1/pods'));
    const none = { replicas: 0, ready: 0 };
    const replicaSets = await listed<ReplicaSet>(all, '/apis/apps/v1/replicasets');
    for (const { metadata, status } of replicaSets) {
      const { replicas, ready } = counts.get(metadata.uid) ?? none;
      expect(status, metadata.name).toMatchObject({ replicas, readyReplicas: ready });
      expect(status?.observedGeneration).toBe(metadata.generation);
    }
    for (const { metadata, spec, status } of await listed<Deployment>(
      all,
      '/apis/apps/v1/deployments',
    )) {
      const own = replicaSets.filter(
        (each) => each.metadata.ownerReferences?.[0]?.uid === metadata.uid,
      );
      const sum = (of: (set: ReplicaSet) => number | undefined) =>
        own.reduce((total, set) => total + (of(set) ?? 0), 0);
      expect(own.length).toBeGreaterThan(0);
      expect(status?.replicas, metadata.name).toBe(sum((set) => set.status?.replicas));
      expect(status?.readyReplicas).toBe(sum((set) => set.status?.readyReplicas));
      expect(Math.abs(sum((set) => set.spec?.replicas) - (spec?.replicas ?? 0))).toBeLessThan(2);
      expect(status?.observedGeneration).toBe(metadata.generation);
    }
    for (const { metadata, status } of await listed<StatefulSet>(
      all,
      '/apis/apps/v1/statefulsets',
    )) {
      expect(status).toMatchObject({ readyReplicas: counts.get(metadata.uid)?.ready });
    }
    for (const { metadata, status } of await listed<DaemonSet>(all, '/apis/apps/v1/daemonsets')) {
      expect(status?.desiredNumberScheduled).toBe(all.world.nodes.length);
      expect(status?.numberReady).toBe(counts.get(metadata.uid)?.ready);
    }
    for (const { metadata, status } of await listed<Job>(all, '/apis/batch/v1/jobs')) {
      expect(status?.active ?? 0).toBe(counts.get(metadata.uid)?.replicas ?? 0);
    }
  });

  test('every pod has a controller that exists, and fits on its node', async () => {
    const all = grown(600, 2000);
    const owners = new Set<string>();
    for (const path of [
      'apps/v1/replicasets',
      'apps/v1/statefulsets',
      'apps/v1/daemonsets',
      'batch/v1/jobs',
    ]) {
      for (const { metadata } of await listed<Pod>(all, `/apis/${path}`)) owners.add(metadata.uid);
    }
    const requested = new Map<string, number>();
    for (const { metadata, spec } of await listed<Pod>(all, '/api/v1/pods')) {
      expect(owners).toContain(metadata.ownerReferences?.[0]?.uid);
      for (const { resources } of spec?.containers ?? []) {
        expect(resources?.requests?.memory).toMatch(/^\d+Mi$/);
        const milli = Number(/^(\d+)m$/.exec(resources?.requests?.cpu ?? '')?.[1]);
        const node = spec?.nodeName ?? '';
        requested.set(node, (requested.get(node) ?? 0) + milli);
      }
    }
    const nodes = await listed<Node>(all, '/api/v1/nodes');
    expect([...requested.keys()].sort()).toEqual(nodes.map(({ metadata }) => metadata.name));
    for (const { metadata, status } of nodes) {
      const allocatable = Number(/^(\d+)m$/.exec(status?.allocatable?.cpu ?? '')?.[1]);
      expect(requested.get(metadata.name), metadata.name).toBeLessThanOrEqual(allocatable);
      expect(all.world.nodes.find(({ name }) => name === metadata.name)?.requested).toBe(
        requested.get(metadata.name),
      );
    }
  });

  test('further containers run while their pod runs, end with it, and are never restarted', async () => {
    const all = await listed<Pod>(grown(500, 3000), '/api/v1/pods');
    const further = all.flatMap(({ status }) =>
      (status?.containerStatuses ?? []).slice(1).map((each) => ({ phase: status?.phase, ...each })),
    );
    expect(further.length).toBeGreaterThan(20);
    for (const { phase, name, ready, state, restartCount, lastState } of further) {
      const [is] = Object.keys(state ?? {});
      if (phase === 'Running') expect(['running', 'terminated'], name).toContain(is);
      else expect(is, name).toBe(phase === 'Pending' ? 'waiting' : 'terminated');
      expect([ready, restartCount, lastState]).toEqual([is === 'running', 0, undefined]);
    }
    expect(further.some(({ ready }) => ready)).toBe(true);
  });

  test('events name objects by UID, are counted, and do not accumulate', async () => {
    const all = grown(600, 12_000);
    const events = await listed<Event>(all, '/api/v1/events');
    expect(events.length).toBeGreaterThan(300);
    expect(events.length).toBeLessThanOrEqual(2000);
    for (const { involvedObject, metadata, message, count, lastTimestamp } of events) {
      expect(involvedObject.uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(metadata.namespace).toBe(involvedObject.namespace ?? 'default');
      expect([message, count, lastTimestamp]).not.toContain(undefined);
    }
    const [resident] = all.world.residents;
    if (resident === undefined) throw new Error('no pod');
    for (const time of [1, 2, 3]) {
      all.world.tell(
        resident,
        { type: 'Warning', reason: 'BackOff', message: 'again' },
        time * 1000,
      );
    }
    const again = (await listed<Event>(all, '/api/v1/events')).filter(
      (each) => each.message === 'again',
    );
    expect(again).toMatchObject([
      {
        count: 3,
        type: 'Warning',
        firstTimestamp: '1970-01-01T00:00:01Z',
        lastTimestamp: '1970-01-01T00:00:03Z',
        involvedObject: { kind: 'Pod', uid: resident.pod.metadata.uid },
        source: { component: 'kubelet', host: resident.pod.spec?.nodeName },
      },
    ]);
  });

  test('are the same for the same seed', () => {
    const names = (seed: number) => {
      const { server } = grown(200, 1000, seed);
      return server.objects.list(pods).map(({ metadata }) => `${metadata.name} ${metadata.uid}`);
    };
    const first = names(7);
    expect(names(7)).toEqual(first);
    expect(names(8)).not.toEqual(first);
  });

  test('pods terminate for some steps before they are removed', () => {
    const { server } = grown(600, 2000);
    const leaving = server.objects.list(pods).filter(({ metadata }) => metadata.deletionTimestamp);
    expect(leaving.length).toBeGreaterThan(0);
  });
});

describe('the log of a healthy pod', () => {
  test('exists once it is read, goes on while it is followed, and is not written for others', async () => {
    const server = createFakeApiServer();
    const world = new World(server, { objects: 20, seed: 1, isTroubled: false });
    populate(world, 20);
    const logs = new LogWriter(server, new Random(1));
    const [{ metadata } = { metadata: { name: '', namespace: '' } }] = server.objects
      .list(pods)
      .filter(({ metadata: { namespace } }) => namespace === 'shop');
    const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}/log`;
    const read = async () => (await server.fetch(`http://fake${path}`)).text();
    logs.prepare('/api/v1/pods');
    logs.prepare('/api/v1/namespaces/shop/pods/nobody/log');
    expect(await read()).toBe('');
    logs.prepare(path);
    const first = await read();
    expect(first).toMatch(/^\S+Z INFO \S+ \S+ starting\n\S+Z INFO listening on/);
    logs.prepare(path);
    logs.goOn();
    expect(await read()).toBe(first);
    const ending = new AbortController();
    await server.fetch(`http://fake${path}?follow=true`, { signal: ending.signal });
    logs.goOn();
    expect((await read()).split('\n').length).toBe(first.split('\n').length + 1);
    ending.abort();
    // No other pod has a log.
    expect(server.logs.size).toBe(1);
  });
});

describe('what a user writes', () => {
  function written(fault: 'none' | 'mix' = 'none') {
    const server = createFakeApiServer();
    const world = new World(server, { objects: 200, seed: 1, isTroubled: false });
    populate(world, 200);
    seedFaults(world, fault);
    world.rollup.flush();
    const writes = new UserWrites(world);
    const settle = () => {
      for (let step = 0; step < 60; step++) {
        writes.step();
        world.rollup.flush();
      }
    };
    const scale = (of: { namespace: string; name: string }, replicas: number) => {
      server.objects.modify(deployments, of, (draft) => {
        draft.spec = { ...draft.spec, replicas } as typeof draft.spec;
      });
      settle();
      return server.objects.get(deployments, of)?.status;
    };
    const podsOf = (app: string) =>
      server.objects.list(pods).filter(({ metadata }) => metadata.labels?.['app'] === app);
    return { server, world, settle, scale, podsOf };
  }

  test('pods come and go as a workload is scaled, and its status follows', () => {
    const { server, settle, scale, podsOf } = written();
    const cart = { namespace: 'shop', name: 'cart' };
    const before = podsOf('cart').length;
    const more = { replicas: before + 3, readyReplicas: before + 3, updatedReplicas: before + 3 };
    expect(scale(cart, before + 3)).toMatchObject(more);
    expect(podsOf('cart')).toHaveLength(before + 3);
    expect(scale(cart, 1)).toMatchObject({ replicas: 1, readyReplicas: 1 });
    expect(podsOf('cart')).toHaveLength(1);
    const broker = { namespace: 'messaging', name: 'broker' };
    server.objects.modify(statefulSets, broker, (draft) => {
      draft.spec = { ...draft.spec, replicas: 2 } as typeof draft.spec;
    });
    settle();
    const names = podsOf('broker').map(({ metadata }) => metadata.name);
    expect(names).toEqual(['broker-0', 'broker-1']);
  });

  test('a new template replaces all pods and stays as it was written', () => {
    const { server, settle, podsOf } = written();
    const cart = { namespace: 'shop', name: 'cart' };
    const before = new Set(podsOf('cart').map(({ metadata }) => metadata.uid));
    server.objects.modify(deployments, cart, (draft) => {
      const { template } = draft.spec as { template: { metadata?: object } };
      template.metadata = { ...template.metadata, annotations: { restarted: 'now' } };
    });
    settle();
    const after = podsOf('cart');
    expect(after).toHaveLength(before.size);
    expect(after.filter(({ metadata }) => before.has(metadata.uid))).toEqual([]);
    const { spec, status } = server.objects.get(deployments, cart) ?? {};
    expect(spec?.template.metadata?.annotations).toEqual({ restarted: 'now' });
    expect(status).toMatchObject({ updatedReplicas: before.size, readyReplicas: before.size });
  });

  test('a deleted pod is replaced, and those of a deleted workload go', () => {
    const { server, settle, podsOf } = written();
    const [first, ...others] = podsOf('cart');
    if (first !== undefined) server.objects.delete(pods, first.metadata);
    settle();
    expect(podsOf('cart')).toHaveLength(others.length + 1);
    expect(podsOf('cart').map(({ metadata }) => metadata.uid)).not.toContain(first?.metadata.uid);
    server.objects.delete(deployments, { namespace: 'shop', name: 'cart' });
    settle();
    expect(podsOf('cart')).toEqual([]);
  });

  test('a Job that a user makes runs in a pod of its own, and is complete', () => {
    const { server, settle, podsOf } = written();
    const template = { spec: { containers: [{ name: 'report', image: 'x:1' }] } };
    const job = { namespace: 'analytics', name: 'report-manual-1' };
    server.objects.create(jobs, { metadata: job, spec: { template } });
    settle();
    const [pod, ...others] = podsOf('report-manual-1');
    expect(others).toEqual([]);
    expect(pod?.spec?.containers[0]?.image).toBe('x:1');
    expect(pod?.status?.phase).toBe('Succeeded');
    const { spec, status } = server.objects.get(jobs, job) ?? {};
    expect(spec?.selector?.matchLabels).toMatchObject({ app: 'report-manual-1' });
    expect(status?.conditions).toMatchObject([{ type: 'Complete', status: 'True' }]);
  });

  test('further pods of a faulty workload have its fault, and pods that could not be created are given up first', () => {
    const { scale, podsOf } = written('mix');
    scale({ namespace: 'payments', name: 'settlement' }, 4);
    const reasons = podsOf('settlement').map(
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason,
    );
    expect(reasons).toEqual(Array(4).fill('CrashLoopBackOff'));
    const { conditions = [] } = scale({ namespace: 'billing', name: 'invoice-api' }, 4) ?? {};
    expect(podsOf('invoice-api')).toHaveLength(4);
    expect(conditions.map(({ type }) => type)).not.toContain('ReplicaFailure');
  });
});

describe('a running embedded cluster', () => {
  let cluster: EmbeddedCluster | undefined;
  afterEach(() => cluster?.close());

  test('goes on after a page has edited its pods, and the truth includes the edits', async () => {
    cluster = await createEmbeddedCluster({ objects: 60, rate: 500, seed: 1 });
    const expected = new Ledger();
    const edit = async ({ namespace = '', name = '' }: NonNullable<Pod['metadata']>) => {
      const path = `${cluster?.baseUrl}/api/v1/namespaces/${namespace}/pods/${name}`;
      const answer = await fetch(path, {
        method: 'PATCH',
        headers: { 'content-type': 'application/merge-patch+json' },
        body: JSON.stringify({ metadata: { labels: { edited: 'yes' } } }),
      });
      await answer.text();
    };
    for (const { metadata } of cluster.list()) if (metadata) await edit(metadata);
    const before = cluster.changes;
    await eventually(() => expect(cluster?.changes).toBeGreaterThan(before + 500));
    cluster.rate = 0;
    const all = cluster.list() as Stored<Pod>[];
    expect(all.some(({ metadata }) => metadata.labels?.['edited'] === 'yes')).toBe(true);
    for (const after of all) {
      expected.record({ after, resourceVersion: after.metadata.resourceVersion } as never);
    }
    const { count, fingerprint } = expected.truth('1000000');
    expect(cluster.truth('1000000')).toMatchObject({ count, fingerprint });
  });
});
