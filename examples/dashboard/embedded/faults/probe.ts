/** Probes of another port than the one on which the program listens. The kubelet restarts the container for ever. */
import type { Resident } from '../owners.ts';
import type { World } from '../world.ts';
import { beganMs, type FaultyPlan, faultyDeployment, freshPods } from './faulty-workload.ts';
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

function begin(world: World, resident: Resident, nowMs: number): void {
  const { app, template } = resident.owner;
  const tell = (reason: string, message: string) =>
    world.tell(resident, { reason, message }, nowMs);
  tell('Pulled', `Container image "${template.image}" already present on machine`);
  tell('Created', `Created container: ${app}`);
  tell('Started', `Started container ${app}`);
  world.turn(resident, { to: 'starting' }, nowMs);
  const at = new Date(nowMs).toISOString();
  const lines = [
    'token-issuer 5.2.0 starting',
    'loaded 3 signing keys',
    'listening on 0.0.0.0:9090',
  ];
  world.server.logs.append(
    resident.pod.metadata,
    lines.map((line) => `${at} INFO ${line}`).join('\n'),
  );
}

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
  world.server.logs.append(
    resident.pod.metadata,
    `${new Date(nowMs).toISOString()} INFO received SIGTERM, shutting down`,
  );
  world.turn(resident, { to: 'crashed', reason: 'Error', exitCode: 143 }, nowMs);
}

/** Seeds the fault. */
export function probeFault(world: World): SeededFault {
  const { current } = faultyDeployment(world, plan);
  const residents = freshPods(world, current, plan.replicas);
  for (const resident of residents) {
    for (let restart = 0; restart < RESTARTS; restart++) {
      begin(world, resident, beganMs() + restart * 120_000);
      fail(world, resident, beganMs() + restart * 120_000 + 45_000);
    }
    begin(world, resident, Date.now() - 20_000);
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
      begin(world, resident, Date.now());
    },
  };
}
