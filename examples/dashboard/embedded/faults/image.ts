/** A rollout to an image whose tag does not exist. The old version goes on serving, and the rollout hangs. */
import { nextVersion } from '../controllers.ts';
import type { Resident } from '../owners.ts';
import { backOffError, backOffEvent, pullError } from '../pull-errors.ts';
import type { World } from '../world.ts';
import { attempts, beganMs, faultyTemplate, freshPods, healthyPods } from './faulty-workload.ts';
import type { Seed } from './seeded-fault.ts';

/** The attempts until now, for the counts of the events. */
const ATTEMPTS = 7;

/** The kubelet has tried to pull the image of a pod, or waits until it tries again. */
function wait(
  world: World,
  resident: Resident,
  reason: 'ErrImagePull' | 'ImagePullBackOff',
  nowMs: number,
  times = 1,
): void {
  const { image } = resident.owner.template;
  const tell = (type: 'Normal' | 'Warning', because: string, text: string) => {
    const happening = { type, reason: because, message: text, times, sinceMs: beganMs() };
    world.tell(resident, happening, nowMs);
  };
  const message = reason === 'ErrImagePull' ? pullError(image) : backOffError(image);
  if (reason === 'ErrImagePull') {
    tell('Normal', 'Pulling', `Pulling image "${image}"`);
    tell('Warning', 'Failed', `Failed to pull image "${image}": ${message}`);
  } else tell('Normal', 'BackOff', backOffEvent(image));
  tell('Warning', 'Failed', `Error: ${reason}`);
  world.turn(resident, { to: 'waiting', reason, message }, nowMs);
}

export const imageFault: Seed = (world, { workload, deployment }) => {
  const before = deployment.current;
  const template = faultyTemplate({ ...workload, version: 'v2.8.1' });
  const after = nextVersion(world, deployment, template, beganMs());
  // A quarter of the pods may be missing, and a quarter may be created in addition.
  world.scale(before, -1);
  world.scale(after, 2);
  healthyPods(world, before, before.desired);
  const waiting = freshPods(world, after, after.desired);
  deployment.isStuck = true;
  const scaled = (words: string) => world.tellScaling(deployment, `Scaled ${words}`, beganMs());
  scaled(`up replica set ${after.name} from 0 to 1`);
  scaled(`down replica set ${before.name} from 4 to 3`);
  scaled(`up replica set ${after.name} from 1 to 2`);
  for (const resident of waiting) {
    wait(world, resident, 'ErrImagePull', Date.now() - 100_000, ATTEMPTS);
    wait(world, resident, 'ImagePullBackOff', Date.now(), ATTEMPTS * 6);
  }
  return attempts(
    waiting,
    (resident) => wait(world, resident, 'ErrImagePull', Date.now()),
    (resident) => wait(world, resident, 'ImagePullBackOff', Date.now()),
  );
};
