/** Probes of another port than the one on which the program listens. The kubelet restarts the container for ever. */
import type { Resident } from '../owners.ts';
import type { World } from '../world.ts';
import { beganMs, freshPods, startContainer, writeLog } from './faulty-workload.ts';
import type { Seed } from './seeded-fault.ts';

const RESTARTS = 6;

function fail(world: World, resident: Resident, nowMs: number): void {
  const { podIP } = resident.pod.status ?? {};
  const why = `probe failed: Get "http://${podIP}:8080/healthz": dial tcp ${podIP}:8080: connect: connection refused`;
  const tell = (reason: string, message: string, times: number) => {
    const type = reason === 'Unhealthy' ? ('Warning' as const) : ('Normal' as const);
    world.tell(resident, { type, reason, message, times }, nowMs);
  };
  tell('Unhealthy', `Readiness ${why}`, 6);
  tell('Unhealthy', `Liveness ${why}`, 3);
  const { app } = resident.owner;
  tell('Killing', `Container ${app} failed liveness probe, will be restarted`, 1);
  writeLog(world, resident, ['INFO received SIGTERM, shutting down'], nowMs);
  world.turn(resident, { to: 'crashed', reason: 'Error', exitCode: 143 }, nowMs);
}

export const probeFault: Seed = (world, { workload, deployment: { current }, log }) => {
  const residents = freshPods(world, current, workload.replicas);
  for (const resident of residents) {
    for (let restart = 0; restart < RESTARTS; restart++) {
      startContainer(world, resident, log, beganMs() + restart * 120_000);
      fail(world, resident, beganMs() + restart * 120_000 + 45_000);
    }
    startContainer(world, resident, log, Date.now() - 20_000);
  }
  let round = 0;
  return () => {
    // One pod after the other, so that not all of them restart at the same moment.
    const resident = residents[round % residents.length];
    round++;
    if (resident === undefined || round % 4 === 0) return;
    fail(world, resident, Date.now());
    startContainer(world, resident, log, Date.now());
  };
};
