/** An init container that ends with an error, so that the containers of the pods never start. */
import { type PodStatus, pods } from 'rx-informer/resources';
import { readManifests } from '../manifests.ts';
import type { Resident } from '../owners.ts';
import { timestamp } from '../timestamp.ts';
import type { World } from '../world.ts';
import { beganMs, every, freshPods, writeLog } from './faulty-workload.ts';
import type { Seed } from './seeded-fault.ts';

const CONTAINER = 'migrate';

function fail(world: World, resident: Resident, restarts: number, nowMs: number): void {
  const { objects, logs } = world.server;
  const { metadata } = resident.pod;
  const pod = objects.get(pods, metadata);
  if (pod === undefined) return;
  const words = { since: timestamp(beganMs()), now: timestamp(nowMs), restarts };
  const [status = {}] = readManifests<PodStatus>('./faults/init-container.yaml', words);
  resident.pod = objects.update(pods, { ...pod, status: { ...pod.status, ...status } });
  world.rollup.mark(resident.owner);
  logs.restart(metadata, CONTAINER);
  const message = `Back-off restarting failed container migrate in pod ${metadata.name}_${metadata.namespace}(${metadata.uid})`;
  world.tell(resident, { type: 'Warning', reason: 'BackOff', message, times: restarts }, nowMs);
}

export const initContainerFault: Seed = (
  world,
  { workload, deployment: { current }, log = [] },
) => {
  const residents = freshPods(world, current, workload.replicas);
  let restarts = 7;
  const failAll = (nowMs: number) => {
    for (const resident of residents) {
      fail(world, resident, restarts, nowMs);
      writeLog(world, resident, log, nowMs, CONTAINER);
    }
  };
  failAll(Date.now() - 60_000);
  return every(6, () => {
    restarts++;
    failAll(Date.now());
  });
};
