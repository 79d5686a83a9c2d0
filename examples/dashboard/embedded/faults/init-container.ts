/** An init container that ends with an error, so that the containers of the pods never start. */
import { type Container, type PodStatus, pods } from 'rx-informer/resources';
import { readManifests } from '../manifests.ts';
import type { Resident } from '../owners.ts';
import { timestamp } from '../timestamp.ts';
import type { World } from '../world.ts';
import {
  beganMs,
  every,
  type FaultyPlan,
  faultyDeployment,
  freshPods,
  writeLog,
} from './faulty-workload.ts';
import type { SeededFault } from './seeded-fault.ts';

const image = 'registry.example/shop/wishlist-migrations:1.7.0';
const migrate: Container = { name: 'migrate', image, command: ['migrate', 'up'] };
const plan: FaultyPlan = {
  ...{ namespace: 'shop', app: 'wishlist', replicas: 2, version: '1.7.0' },
  ...{ milliCpu: 100, memoryMi: 192 },
  pod: { initContainers: [migrate] },
};

const lines = [
  'INFO applying 0042_add_shared_lists.sql',
  'ERROR relation "lists" does not exist (SQLSTATE 42P01)',
];

function fail(world: World, resident: Resident, restarts: number, nowMs: number): void {
  const { objects, logs } = world.server;
  const { metadata } = resident.pod;
  const pod = objects.get(pods, metadata);
  if (pod === undefined) return;
  const words = { since: timestamp(beganMs()), now: timestamp(nowMs), restarts };
  const [status = {}] = readManifests<PodStatus>('./faults/init-container.yaml', words);
  resident.pod = objects.update(pods, { ...pod, status: { ...pod.status, ...status } });
  world.rollup.mark(resident.owner);
  logs.restart(metadata, migrate.name);
  writeLog(world, resident, lines, nowMs, migrate.name);
  const message = `Back-off restarting failed container migrate in pod ${metadata.name}_${metadata.namespace}(${metadata.uid})`;
  world.tell(resident, { type: 'Warning', reason: 'BackOff', message, times: restarts }, nowMs);
}

export function initContainerFault(world: World): SeededFault {
  const { current } = faultyDeployment(world, plan);
  const residents = freshPods(world, current, plan.replicas);
  let restarts = 7;
  for (const resident of residents) fail(world, resident, restarts, Date.now() - 60_000);
  return {
    explanation:
      'init-container: the pods of shop/wishlist do not start, because their init container migrate ends with exit code 1; its log says that the relation "lists" does not exist.',
    again: every(6, () => {
      restarts++;
      for (const resident of residents) fail(world, resident, restarts, Date.now());
    }),
  };
}
