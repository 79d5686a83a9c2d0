/** A program that ends at its start, because a variable is missing in its environment. */
import type { Resident } from '../owners.ts';
import type { World } from '../world.ts';
import { attempts, beganMs, freshPods, startContainer } from './faulty-workload.ts';
import type { FaultPlan, Seed } from './seeded-fault.ts';

const RESTARTS = 6;

function run(world: World, resident: Resident, log: FaultPlan['log'], nowMs: number): void {
  startContainer(world, resident, log, nowMs);
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

export const crashLoopFault: Seed = (world, { workload, deployment: { current }, log }) => {
  const residents = freshPods(world, current, workload.replicas);
  for (const resident of residents) {
    for (let restart = 0; restart <= RESTARTS; restart++) {
      const atMs = beganMs() + restart * 120_000;
      run(world, resident, log, atMs);
      backOff(world, resident, restart, atMs + 2000);
    }
  }
  return attempts(
    residents,
    (resident) => run(world, resident, log, Date.now()),
    (resident) => backOff(world, resident, RESTARTS, Date.now()),
  );
};
