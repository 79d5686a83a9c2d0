/** An init container that ends with an error, so that the containers of the pods never start. */
import {
  type Container,
  type ContainerStatus,
  type Pod,
  type PodStatus,
  pods,
} from 'rx-informer/resources';
import type { Resident } from '../owners.ts';
import { timestamp } from '../timestamp.ts';
import type { World } from '../world.ts';
import { beganMs, type FaultyPlan, faultyDeployment, freshPods } from './faulty-workload.ts';
import type { SeededFault } from './seeded-fault.ts';

const image = 'registry.example/shop/wishlist-migrations:1.7.0';
const migrate: Container = { name: 'migrate', image, command: ['migrate', 'up'] };
const plan: FaultyPlan = {
  ...{ namespace: 'shop', app: 'wishlist', replicas: 2, version: '1.7.0' },
  ...{ milliCpu: 100, memoryMi: 192 },
  pod: { initContainers: [migrate] },
};

function statusOf({ spec, status }: Pod, restartCount: number, nowMs: number): PodStatus {
  const ended = { exitCode: 1, reason: 'Error', finishedAt: timestamp(nowMs) };
  const incomplete = {
    ...{ status: 'False', lastTransitionTime: timestamp(beganMs()) },
    reason: 'ContainersNotInitialized',
    message: 'containers with incomplete status: [migrate]',
  };
  const shared = { ready: false, started: false, imageID: '' };
  const message = 'back-off 5m0s restarting failed container=migrate';
  const init: ContainerStatus = {
    ...{ ...shared, name: migrate.name, image, restartCount },
    state: { waiting: { reason: 'CrashLoopBackOff', message } },
    lastState: { terminated: ended },
  };
  const conditions = [
    { type: 'PodScheduled', status: 'True', lastTransitionTime: timestamp(beganMs()) },
    { ...incomplete, type: 'Initialized' },
    { ...incomplete, type: 'Ready', reason: 'ContainersNotReady' },
  ];
  return {
    ...{ ...status, phase: 'Pending', conditions, initContainerStatuses: [init] },
    containerStatuses: (spec?.containers ?? []).map((each) => ({
      ...{ ...shared, name: each.name, image: each.image ?? '', restartCount: 0 },
      state: { waiting: { reason: 'PodInitializing' } },
    })),
  };
}

function fail(world: World, resident: Resident, restarts: number, nowMs: number): void {
  const { objects, logs } = world.server;
  const { metadata } = resident.pod;
  const pod = objects.get(pods, metadata);
  if (pod === undefined) return;
  resident.pod = objects.update(pods, { ...pod, status: statusOf(pod, restarts, nowMs) });
  world.rollup.mark(resident.owner);
  const at = timestamp(nowMs);
  logs.restart(metadata, migrate.name);
  const lines = [
    'INFO applying 0042_add_shared_lists.sql',
    'ERROR relation "lists" does not exist (SQLSTATE 42P01)',
  ];
  logs.append(metadata, lines.map((line) => `${at} ${line}`).join('\n'), migrate.name);
  const message = `Back-off restarting failed container migrate in pod ${metadata.name}_${metadata.namespace}(${metadata.uid})`;
  world.tell(resident, { type: 'Warning', reason: 'BackOff', message, times: restarts }, nowMs);
}

/** Seeds the fault. */
export function initContainerFault(world: World): SeededFault {
  const { current } = faultyDeployment(world, plan);
  const residents = freshPods(world, current, plan.replicas);
  let restarts = 7;
  for (const resident of residents) fail(world, resident, restarts, Date.now() - 60_000);
  let round = 0;
  return {
    explanation:
      'init-container: the pods of shop/wishlist do not start, because their init container migrate ends with exit code 1; its log says that the relation "lists" does not exist.',
    again() {
      round++;
      if (round % 6 !== 0) return;
      restarts++;
      for (const resident of residents) fail(world, resident, restarts, Date.now());
    },
  };
}
