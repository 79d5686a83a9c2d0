/** A program that ends at its start, because a variable is missing in its environment. */
import type { Resident } from '../owners.ts';
import type { World } from '../world.ts';
import {
  attempts,
  beganMs,
  type FaultyPlan,
  faultyDeployment,
  freshPods,
  startContainer,
} from './faulty-workload.ts';
import type { SeededFault } from './seeded-fault.ts';

const plan: FaultyPlan = {
  ...{ namespace: 'payments', app: 'settlement', replicas: 2, version: '3.4.1' },
  ...{ milliCpu: 250, memoryMi: 512 },
};
const RESTARTS = 6;
const lines = [
  'INFO settlement 3.4.1 starting',
  'INFO reading the configuration from the environment',
  'FATAL required environment variable SETTLEMENT_DB_URL is not set',
];

function run(world: World, resident: Resident, nowMs: number): void {
  startContainer(world, resident, lines, nowMs);
  world.turn(resident, { to: 'crashed', reason: 'Error', exitCode: 1 }, nowMs + 1000);
}

function backOff(world: World, resident: Resident, restarts: number, nowMs: number): void {
  const { app } = resident.owner;
  const { name, namespace, uid } = resident.pod.metadata;
  const pod = `${name}_${namespace}(${uid})`;
  const text = `Back-off restarting failed container ${app} in pod ${pod}`;
  world.tell(resident, { type: 'Warning', reason: 'BackOff', message: text }, nowMs);
  const seconds = Math.min(300, 10 * 2 ** restarts);
  const wait = seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
  const message = `back-off ${wait} restarting failed container=${app} pod=${pod}`;
  world.turn(resident, { to: 'backing-off', message }, nowMs);
}

export function crashLoopFault(world: World): SeededFault {
  const { current } = faultyDeployment(world, plan);
  const residents = freshPods(world, current, plan.replicas);
  for (const resident of residents) {
    for (let restart = 0; restart <= RESTARTS; restart++) {
      const atMs = beganMs() + restart * 120_000;
      run(world, resident, atMs);
      backOff(world, resident, restart, atMs + 2000);
    }
  }
  return {
    explanation:
      'crash-loop: the pods of payments/settlement end with exit code 1, because the environment variable SETTLEMENT_DB_URL is not set; the last line of their log says so.',
    again: attempts(
      residents,
      (resident) => run(world, resident, Date.now()),
      (resident) => backOff(world, resident, RESTARTS, Date.now()),
    ),
  };
}
