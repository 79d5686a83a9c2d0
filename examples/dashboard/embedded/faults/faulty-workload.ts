/** Creates the workload of a seeded fault. No story touches its pods. */
import type { App } from '../catalogue.ts';
import { createDeployment } from '../controllers.ts';
import { type Happening, type Involved, involved } from '../event-recorder.ts';
import type { Deployment, Owner, Resident, Template } from '../owners.ts';
import { createNamespaces, createSurroundings } from '../populate.ts';
import type { World } from '../world.ts';

const MINUTE_MS = 60_000;

/** How long ago the faults began. */
export const beganMs = (): number => Date.now() - 14 * MINUTE_MS;

export interface FaultyWorkload
  extends Omit<App, 'kind' | 'share'>,
    Pick<Template, 'container' | 'pod'> {
  readonly replicas: number;
  readonly version: string;
  /** Whether the deployment exists for days. Otherwise it is as old as the fault. */
  readonly isOld?: boolean;
}

export function faultyTemplate(workload: FaultyWorkload): Template {
  const { namespace, app, version, container, pod, milliCpu, memoryMi } = workload;
  const image = `registry.example/${namespace}/${app}:${version}`;
  const fields = { ...(container && { container }), ...(pod && { pod }) };
  return { image, sidecar: false, milliCpu, memoryMi, ...fields };
}

/** Creates a deployment with its surroundings, without pods. */
export function faultyDeployment(world: World, plan: FaultyWorkload): Deployment {
  const { namespace, app: name, replicas, milliCpu, memoryMi, isOld } = plan;
  createNamespaces(world, [namespace]);
  createSurroundings(world, { namespace, name });
  const app: App = { kind: 'Deployment', namespace, app: name, share: 0, milliCpu, memoryMi };
  const createdMs = isOld ? Date.now() - 9 * 24 * 60 * MINUTE_MS : beganMs();
  const deployment = createDeployment(
    world,
    app,
    { name, replicas, createdMs },
    faultyTemplate(plan),
  );
  world.faulty.add(deployment);
  return deployment;
}

/** Creates healthy pods, which stay reserved. */
export function healthyPods(world: World, owner: Owner, count: number): void {
  const createdMs = Date.now() - 3 * 24 * 60 * MINUTE_MS;
  for (let pod = 0; pod < count; pod++) {
    world.create(owner, { createdMs, already: { to: 'running' } });
  }
}

/** Creates pods that have not started, with the event of the scheduler. */
export function freshPods(world: World, owner: Owner, count: number): readonly Resident[] {
  return Array.from({ length: count }, () => {
    const createdMs = beganMs();
    const resident = world.create(owner, { createdMs });
    world.tellScheduled(resident, createdMs);
    return resident;
  });
}

/** Records a warning that occurs again and again, and returns how. `times`: how often it has occurred until now. */
export function warnings(
  world: World,
  about: Involved,
  happening: Omit<Happening, 'type' | 'times' | 'sinceMs'>,
  times: number,
): () => void {
  const warn = (more: number) => {
    const told = { ...happening, type: 'Warning' as const, times: more, sinceMs: beganMs() };
    world.events.record(about, told);
  };
  warn(times);
  return () => warn(1);
}

/** What each of some pods does again: each sixth time an attempt, and between them a wait. */
export function attempts(
  residents: readonly Resident[],
  attempt: (resident: Resident) => void,
  wait: (resident: Resident) => void,
): () => void {
  let round = 0;
  return () => {
    const act = ++round % 6 === 0 ? attempt : wait;
    for (const resident of residents) act(resident);
  };
}

/** Calls `act` at each call whose number is a multiple of `rounds`. */
export function every(rounds: number, act: () => void): () => void {
  let round = 0;
  return () => {
    if (++round % rounds === 0) act();
  };
}

/** Starts the container of a pod, which writes some lines. */
export function startContainer(
  world: World,
  resident: Resident,
  lines: readonly string[] | undefined,
  nowMs: number,
): void {
  world.tellStarted(resident, nowMs);
  world.turn(resident, { to: 'starting' }, nowMs);
  writeLog(world, resident, lines ?? [], nowMs);
}

export function writeLog(
  { server }: World,
  { pod }: Resident,
  lines: readonly string[],
  nowMs: number,
  container?: string,
): void {
  const at = new Date(nowMs).toISOString();
  server.logs.append(pod.metadata, lines.map((line) => `${at} ${line}`).join('\n'), container);
}

/** Creates pods for which the scheduler finds no node, and says so. Returns how it says so again. */
export function pendingPods(
  world: World,
  { owner, count, message }: { owner: Owner; count: number; message: string },
  times: number,
): () => void {
  const residents = Array.from({ length: count }, () =>
    world.create(owner, { node: null, createdMs: beganMs() }),
  );
  const failed = { reason: 'FailedScheduling', message, component: 'default-scheduler' };
  const again = residents.map((resident) => {
    world.turn(resident, { to: 'unschedulable', message }, beganMs());
    return warnings(world, involved('Pod', resident.pod.metadata), failed, times);
  });
  return () => {
    for (const warn of again) warn();
  };
}

/**
 * Lets the replica set of a deployment fail to create one more pod, for a reason that may name the pod. Returns how it goes on:
 * each attempt is an event of its own, because each names another pod.
 */
export function refusedPods(
  world: World,
  deployment: Deployment,
  whyOf: (pod: string) => string,
): () => void {
  const owner = deployment.current;
  const refuse = (nowMs: number): void => {
    const why = whyOf(`${owner.name}-${world.random.suffix(5)}`);
    const message = `Error creating: ${why}`;
    const component = 'replicaset-controller';
    world.events.record(
      involved('ReplicaSet', owner),
      { type: 'Warning', reason: 'FailedCreate', message, component },
      nowMs,
    );
    deployment.failure = why;
    world.rollup.mark(owner);
  };
  for (let attempt = 0; attempt < 5; attempt++) refuse(beganMs() + attempt * 150_000);
  return every(12, () => refuse(Date.now()));
}
