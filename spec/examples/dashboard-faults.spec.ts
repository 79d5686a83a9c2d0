/** Tests that each seeded fault of the embedded cluster shows the signs of a real one. */
import {
  type Deployment,
  deployments,
  type Event,
  events,
  horizontalPodAutoscalers,
  nodes,
  type Pod,
  persistentVolumeClaims,
  pods,
  replicaSets,
  resourceQuotas,
} from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer } from 'rx-informer/testing';
import { describe, expect, test } from 'vitest';
import { populate } from '../../examples/dashboard/embedded/populate.ts';
import {
  type FaultChoice,
  faultChoices,
  seedFaults,
} from '../../examples/dashboard/embedded/seeded-faults.ts';
import { Director } from '../../examples/dashboard/embedded/stories.ts';
import { World } from '../../examples/dashboard/embedded/world.ts';
import { autoscalerKind } from '../../examples/dashboard/page/kinds/autoscalers.ts';
import { causeOf } from '../../examples/dashboard/page/kinds/cause.ts';
import { claimKind, withEvents } from '../../examples/dashboard/page/kinds/claims.ts';
import { eventKind } from '../../examples/dashboard/page/kinds/events.ts';
import { nodeKind } from '../../examples/dashboard/page/kinds/nodes.ts';
import { logIn, podStatus } from '../../examples/dashboard/page/kinds/pod-status.ts';
import { podRow } from '../../examples/dashboard/page/kinds/pods.ts';
import { quotaKind } from '../../examples/dashboard/page/kinds/quotas.ts';
import { rolledUp } from '../../examples/dashboard/page/kinds/roll-up.ts';
import { deploymentKind } from '../../examples/dashboard/page/kinds/workloads.ts';
import { causesOf } from '../../examples/dashboard/page/panels/causes.ts';
import { containersIn } from '../../examples/dashboard/page/worker/detail-queries.ts';

interface Found {
  readonly deployment: Deployment | undefined;
  readonly pods: readonly Pod[];
  /** The texts of the events: `Warning Failed 7 Error: ErrImagePull`. */
  readonly events: readonly string[];
  readonly statuses: readonly string[];
  readonly quotas: readonly string[];
  readonly server: FakeApiServer;
  log(pod: Pod | undefined, container?: string): Promise<string>;
}

/** A cluster of 300 pods with a fault, after some rounds of the fault and changes of the rest. */
async function withFault(choice: FaultChoice, app: string, rounds = 0): Promise<Found> {
  const server = createFakeApiServer();
  const world = new World(server, { objects: 300, seed: 3, isTroubled: choice === 'none' });
  populate(world, 300);
  const faults = seedFaults(world, choice);
  const director = new Director(world, 300);
  for (let round = 0; round < rounds; round++) {
    for (const fault of faults) fault.again();
    for (let step = 0; step < 50; step++) director.step();
  }
  world.rollup.flush();
  const { objects } = server;
  const own = objects.list(pods).filter(({ metadata }) => metadata.labels?.['app'] === app);
  const names = [
    ...own.map(({ metadata }) => metadata.name),
    ...objects.list(replicaSets).map(({ metadata }) => metadata.name),
  ].filter((name) => name.startsWith(app));
  return {
    deployment: objects.list(deployments).find(({ metadata }) => metadata.name === app),
    pods: own,
    events: objects
      .list(events)
      .filter(({ involvedObject }: Event) => names.includes(involvedObject.name ?? ''))
      .map(({ type, reason, count, message }) => `${type} ${reason} ${count} ${message}`),
    statuses: own.map((pod) => podStatus(pod).text).toSorted(),
    quotas: objects.list(resourceQuotas).map((quota) => {
      const { name, status, fullestText } = quotaKind.row(quota as never);
      return `${name} ${status} ${fullestText}`;
    }),
    server,
    async log(pod, container) {
      const { name, namespace } = pod?.metadata ?? {};
      const of = container === undefined ? '' : `?container=${container}`;
      const path = `http://fake/api/v1/namespaces/${namespace}/pods/${name}/log${of}`;
      return (await server.fetch(path)).text();
    },
  };
}

function conditionsOf({ deployment }: Found): Record<string, string> {
  const conditions = deployment?.status?.conditions ?? [];
  return Object.fromEntries(
    conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]),
  );
}

describe.each([0, 13])('a seeded fault, after %i rounds', (rounds) => {
  test('image: the pull of a wrong tag fails, and the rollout hangs', async () => {
    const found = await withFault('image', 'recommendations', rounds);
    expect(found.statuses).toEqual([
      'ImagePullBackOff',
      'ImagePullBackOff',
      ...Array(3).fill('Running'),
    ]);
    const image = 'registry.example/shop/recommendations:v2.8.1';
    expect(found.events).toContainEqual(
      expect.stringMatching(
        `^Warning Failed \\d+ Failed to pull image "${image}": rpc error: code = NotFound desc = failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${image}: not found$`,
      ),
    );
    expect(found.events).toContainEqual(
      expect.stringMatching(/^Warning Failed \d+ Error: ErrImagePull$/),
    );
    expect(found.events).toContainEqual(
      expect.stringMatching(`^Normal BackOff \\d+ Back-off pulling image "${image}"$`),
    );
    // Whether the kubelet has just tried or waits, the reason is the answer of the registry.
    const reasons = found.pods.map((each) => causeOf(podStatus(each).why)).filter(Boolean);
    expect(reasons).toEqual(Array(2).fill('not found: recommendations:v2.8.1'));
    expect(conditionsOf(found)).toEqual({
      Available: 'True MinimumReplicasAvailable',
      Progressing: 'False ProgressDeadlineExceeded',
    });
    expect(found.deployment?.status).toMatchObject({
      replicas: 5,
      updatedReplicas: 2,
      readyReplicas: 3,
    });
  });

  test('quota: the replica set cannot create the missing pods', async () => {
    const found = await withFault('quota', 'invoice-api', rounds);
    expect(found.statuses).toEqual(Array(4).fill('Running'));
    expect(found.events).toContainEqual(
      expect.stringMatching(
        /^Warning FailedCreate 1 Error creating: pods "invoice-api-[a-z0-9]+-[a-z0-9]{5}" is forbidden: exceeded quota: compute-resources, requested: requests.cpu=500m, used: requests.cpu=3, limited: requests.cpu=3$/,
      ),
    );
    expect(conditionsOf(found)).toMatchObject({
      Available: 'False MinimumReplicasUnavailable',
      ReplicaFailure: 'True FailedCreate',
    });
    expect(found.quotas).toEqual(['compute-resources Used up requests.cpu 3 of 3 CPU']);
    expect(found.deployment?.spec?.replicas).toBe(6);
    expect(found.deployment?.status).toMatchObject({ replicas: 4, unavailableReplicas: 2 });
  });

  test('probe: the kubelet restarts a container that listens on another port', async () => {
    const found = await withFault('probe', 'token-issuer', rounds);
    expect(found.statuses).toEqual(Array(3).fill('Not ready'));
    for (const pod of found.pods) {
      expect(podStatus(pod).ready).toBe(0);
      expect(podStatus(pod).restarts).toBeGreaterThanOrEqual(6);
      expect(pod.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode).toBe(143);
      expect(await found.log(pod)).toMatch(/listening on 0\.0\.0\.0:9090\n$/);
      expect(pod.spec?.containers[0]?.livenessProbe?.httpGet?.port).toBe(8080);
    }
    const refused =
      /probe failed: Get "http:\/\/[\d.]+:8080\/healthz": dial tcp [\d.]+:8080: connect: connection refused$/;
    for (const probe of ['Readiness', 'Liveness']) {
      expect(found.events).toContainEqual(
        expect.stringMatching(new RegExp(`^Warning Unhealthy \\d+ ${probe} ${refused.source}`)),
      );
    }
    expect(found.events).toContainEqual(
      expect.stringMatching(
        /^Normal Killing \d+ Container token-issuer failed liveness probe, will be restarted$/,
      ),
    );
  });

  test('scheduling: no node has the requested CPU', async () => {
    const found = await withFault('scheduling', 'embedder', rounds);
    expect(found.statuses).toEqual(Array(3).fill('Pending'));
    for (const { spec, status } of found.pods) {
      expect(spec?.nodeName).toBeUndefined();
      expect(spec?.containers[0]?.resources?.requests?.cpu).toBe('20000m');
      expect(status?.conditions).toMatchObject([
        { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' },
      ]);
    }
    expect(found.events).toContainEqual(
      expect.stringMatching(
        /^Warning FailedScheduling \d+ 0\/5 nodes are available: 5 Insufficient cpu\. no new claims to deallocate, preemption: 0\/5 nodes are available: 5 Preemption is not helpful for scheduling\.$/,
      ),
    );
    expect(conditionsOf(found)).toMatchObject({ Available: 'False MinimumReplicasUnavailable' });
  });

  test('crash-loop: the last line of the log has the reason', async () => {
    const found = await withFault('crash-loop', 'settlement', rounds);
    expect(found.statuses).toEqual(Array(2).fill('CrashLoopBackOff'));
    for (const pod of found.pods) {
      const { restartCount, lastState } = pod.status?.containerStatuses?.[0] ?? {};
      expect(restartCount).toBeGreaterThanOrEqual(6);
      expect(lastState?.terminated).toMatchObject({ exitCode: 1, reason: 'Error' });
      // The log is that of the last run.
      expect(await found.log(pod)).toMatch(
        /^\S+ INFO settlement 3.4.1 starting\n.+\n\S+ FATAL required environment variable SETTLEMENT_DB_URL is not set\n$/,
      );
      const { name, uid } = pod.metadata ?? {};
      expect(found.events).toContainEqual(
        expect.stringMatching(
          new RegExp(
            `^Warning BackOff \\d+ Back-off restarting failed container settlement in pod ${name}_payments\\(${uid}\\)$`,
          ),
        ),
      );
    }
  });

  test('claim: the pods wait for a claim whose storage class does not exist', async () => {
    const found = await withFault('claim', 'vector-store', rounds);
    expect(found.statuses).toEqual(Array(2).fill('Pending'));
    expect(found.pods.map((each) => causeOf(podStatus(each).why))).toEqual(
      Array(2).fill(
        'pod has unbound immediate PersistentVolumeClaims — the Pod mounts PersistentVolumeClaim "vector-store-data"',
      ),
    );
    const claim = found.server.objects.get(persistentVolumeClaims, {
      ...{ namespace: 'search', name: 'vector-store-data' },
    });
    const told = found.server.objects
      .list(events)
      .filter(({ involvedObject }) => involvedObject.uid === claim?.metadata.uid)
      .map((event) => eventKind.row(event as never));
    const row = withEvents(claimKind.row(claim as never), told);
    expect(row).toMatchObject({
      ...{ status: 'Not bound', tone: 'bad', class: 'fast-ssd', size: '20Gi' },
      why: 'storageclass.storage.k8s.io "fast-ssd" not found',
    });
    const waits = rolledUp(deploymentKind.row(found.deployment as never), found.pods.map(podRow));
    const causes = causesOf([
      { kind: deploymentKind, row: waits },
      { kind: claimKind, row },
    ]);
    expect(causes).toMatchObject([{ row, effects: [{ row: waits }] }]);
  });

  test('autoscaler: its target requests no CPU, so nothing can be measured', async () => {
    const found = await withFault('autoscaler', 'resizer', rounds);
    expect(found.statuses).toEqual(Array(2).fill('Running'));
    const rows = found.server.objects
      .list(horizontalPodAutoscalers)
      .map((each) => autoscalerKind.row(each as never));
    const { why = '', ...row } = rows.find(({ name }) => name === 'resizer') ?? {};
    expect(row).toMatchObject({ status: 'Not measured', metrics: 'cpu unknown of 70 %' });
    expect(causeOf(why)).toMatch(
      /^failed to get cpu utilization: missing request for cpu in container resizer of Pod resizer-/,
    );
    const well = rows.find(({ name }) => name === 'storefront');
    expect(well).toMatchObject({ status: 'Active', metrics: 'cpu 54 % of 70 %' });
  });

  test('webhook: no pod can be created, because nobody answers for the webhook', async () => {
    const found = await withFault('webhook', 'order-api', rounds);
    expect(found.statuses).toEqual(['Running']);
    const { status, why } = deploymentKind.row(found.deployment as never);
    expect(status).toBe('FailedCreate');
    expect(causeOf(why)).toBe(
      'the webhook sidecar-injector.platform.example does not answer: no endpoints available for service "sidecar-injector"',
    );
  });

  test('pressure: a node evicts pods and says why', async () => {
    const found = await withFault('pressure', 'cohort-builder', rounds);
    expect(found.statuses).toEqual(['Evicted', 'Evicted', 'Running', 'Running']);
    const node = found.server.objects.get(nodes, { name: 'node-002' });
    expect(nodeKind.row(node as never)).toMatchObject({
      ...{ status: 'MemoryPressure', tone: 'bad' },
      why: 'kubelet has insufficient memory available',
    });
  });

  test('init-container: the reason names it, and its log has the error', async () => {
    const found = await withFault('init-container', 'wishlist', rounds);
    expect(found.statuses).toEqual(Array(2).fill('Init:CrashLoopBackOff'));
    for (const pod of found.pods) {
      expect(podStatus(pod).why).toMatch(
        /^init container migrate fails, restarted \d+ times, last exit code 1$/,
      );
      expect(await found.log(pod, 'migrate')).toMatch(/ERROR relation "lists" does not exist/);
      // The logs of its Deployment begin with those of this container.
      expect(logIn(podStatus(pod).log)).toMatchObject({ container: 'migrate', previous: false });
      expect(containersIn(pod).containers).toEqual(['wishlist', 'migrate']);
    }
  });
});

test('the mix contains every fault, and each fault is explained', () => {
  const seed = (choice: FaultChoice) => {
    const world = new World(createFakeApiServer(), { objects: 60, seed: 1, isTroubled: false });
    populate(world, 60);
    return seedFaults(world, choice).map(({ explanation }) => explanation.split(':')[0]);
  };
  const all = faultChoices.filter((choice) => choice !== 'mix' && choice !== 'none');
  expect(all).toEqual([
    'image',
    'quota',
    'probe',
    'scheduling',
    'crash-loop',
    'claim',
    'autoscaler',
    'webhook',
    'pressure',
    'init-container',
  ]);
  expect(seed('mix')).toEqual(all);
  expect(seed('none')).toEqual([]);
  for (const choice of all) expect(seed(choice)).toEqual([choice]);
});

test.each([250, 20_000])(
  'only seeded faults are in trouble: after %i ordinary changes none hides them',
  (steps) => {
    const server = createFakeApiServer();
    const world = new World(server, { objects: 1000, seed: 3, isTroubled: false });
    populate(world, 1000);
    const director = new Director(world, 1000);
    for (let step = 0; step < steps; step++) director.step();
    world.rollup.flush();
    const states = server.objects
      .list(deployments)
      .map((each) => deploymentKind.row(each as never));
    expect(states.filter(({ status }) => status === 'Rolling out').length).toBeLessThanOrEqual(2);
    expect(states.filter(({ tone }) => tone !== 'good').length).toBeLessThan(states.length / 4);
    expect(states.filter(({ tone }) => tone === 'bad')).toEqual([]);
    const inTrouble = server.objects.list(pods).filter((pod) => podStatus(pod).tone === 'bad');
    expect(inTrouble.length).toBeLessThan(3);
    const statuses = new Set(server.objects.list(pods).map((pod) => podStatus(pod).text));
    for (const bad of ['CrashLoopBackOff', 'ErrImagePull', 'ImagePullBackOff', 'OOMKilled']) {
      expect(statuses).not.toContain(bad);
    }
    const warnings = server.objects.list(events).filter(({ type }) => type === 'Warning');
    expect(warnings.length).toBeLessThan(8 + steps / 500);
  },
);
