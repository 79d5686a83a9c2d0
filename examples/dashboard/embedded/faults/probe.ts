/** Probes of another port than the one on which the program listens. The kubelet restarts the container for ever. */
import type { Resident } from '../owners.ts';
import type { World } from '../world.ts';
import {
  beganMs,
  type FaultyPlan,
  faultyDeployment,
  freshPods,
  startContainer,
  writeLog,
} from './faulty-workload.ts';
import type { SeededFault } from './seeded-fault.ts';

const get = { httpGet: { path: '/healthz', port: 8080 }, timeoutSeconds: 1, failureThreshold: 3 };
const plan: FaultyPlan = {
  ...{ namespace: 'identity', app: 'token-issuer', replicas: 3, version: '5.2.0' },
  ...{ milliCpu: 150, memoryMi: 256 },
  container: {
    ports: [{ name: 'http', containerPort: 9090 }],
    readinessProbe: { ...get, periodSeconds: 10 },
    livenessProbe: { ...get, periodSeconds: 10, initialDelaySeconds: 15 },
  },
};
const RESTARTS = 6;

const lines = [
  'INFO token-issuer 5.2.0 starting',
  'INFO loaded 3 signing keys',
  'INFO listening on 0.0.0.0:9090',
];

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

export function probeFault(world: World): SeededFault {
  const { current } = faultyDeployment(world, plan);
  const residents = freshPods(world, current, plan.replicas);
  for (const resident of residents) {
    for (let restart = 0; restart < RESTARTS; restart++) {
      startContainer(world, resident, lines, beganMs() + restart * 120_000);
      fail(world, resident, beganMs() + restart * 120_000 + 45_000);
    }
    startContainer(world, resident, lines, Date.now() - 20_000);
  }
  let round = 0;
  return {
    explanation:
      'probe: the pods of identity/token-issuer listen on port 9090 (see their log), but their readiness and liveness probes ask port 8080. They are never ready, and the kubelet restarts them.',
    again() {
      // One pod after the other, so that not all of them restart at the same moment.
      const resident = residents[round % residents.length];
      round++;
      if (resident === undefined || round % 4 === 0) return;
      fail(world, resident, Date.now());
      startContainer(world, resident, lines, Date.now());
    },
  };
}
