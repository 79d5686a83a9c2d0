/** Creates the workload of a seeded fault. No story touches its pods. */
import type { Container, PodSpec } from 'rx-informer/resources';
import type { App } from '../catalogue.ts';
import { createDeployment } from '../controllers.ts';
import type { Deployment, Owner, Resident, Template } from '../owners.ts';
import { createNamespaces, createSurroundings } from '../populate.ts';
import type { World } from '../world.ts';

const MINUTE_MS = 60_000;

/** How long ago the faults began. */
export const beganMs = (): number => Date.now() - 14 * MINUTE_MS;

export interface FaultyPlan {
  readonly namespace: string;
  readonly app: string;
  readonly replicas: number;
  readonly version: string;
  readonly milliCpu: number;
  readonly memoryMi: number;
  readonly container?: Partial<Container>;
  readonly pod?: Partial<PodSpec>;
  /** Whether the deployment exists for days. Otherwise it is as old as the fault. */
  readonly isOld?: boolean;
}

export function faultyTemplate({
  namespace,
  app,
  version,
  container,
  pod,
  ...rest
}: FaultyPlan): Template {
  const { milliCpu, memoryMi } = rest;
  const image = `registry.example/${namespace}/${app}:${version}`;
  const fields = { ...(container && { container }), ...(pod && { pod }) };
  return { image, sidecar: false, milliCpu, memoryMi, ...fields };
}

/** Creates a deployment with its surroundings, without pods. */
export function faultyDeployment(world: World, plan: FaultyPlan): Deployment {
  const { namespace, app: name, replicas, milliCpu, memoryMi, isOld } = plan;
  createNamespaces(world, [namespace]);
  createSurroundings(world, { namespace, name });
  const app: App = { kind: 'Deployment', namespace, app: name, share: 0, milliCpu, memoryMi };
  const createdMs = isOld ? Date.now() - 9 * 24 * 60 * MINUTE_MS : beganMs();
  return createDeployment(world, app, { name, replicas, createdMs }, faultyTemplate(plan));
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
    const { namespace, name } = resident.pod.metadata;
    const message = `Successfully assigned ${namespace}/${name} to ${resident.pod.spec?.nodeName}`;
    const scheduled = { reason: 'Scheduled', message, component: 'default-scheduler' };
    world.tell(resident, scheduled, createdMs);
    return resident;
  });
}

export function tellScaling(world: World, deployment: Deployment, message: string): void {
  const { name, namespace, uid } = deployment;
  world.events.record(
    { kind: 'Deployment', apiVersion: 'apps/v1', name, namespace, uid },
    { reason: 'ScalingReplicaSet', message, component: 'deployment-controller' },
    beganMs(),
  );
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
  lines: readonly string[],
  nowMs: number,
): void {
  const { app, template } = resident.owner;
  const tell = (reason: string, message: string) =>
    world.tell(resident, { reason, message }, nowMs);
  tell('Pulled', `Container image "${template.image}" already present on machine`);
  tell('Created', `Created container: ${app}`);
  tell('Started', `Started container ${app}`);
  world.turn(resident, { to: 'starting' }, nowMs);
  writeLog(world, resident, lines, nowMs);
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

/** Creates pods for which the scheduler finds no node, and returns how it says so. */
export function pendingPods(
  world: World,
  { owner, count, message }: { owner: Owner; count: number; message: string },
): (times: number) => void {
  const residents = Array.from({ length: count }, () =>
    world.create(owner, { node: null, createdMs: beganMs() }),
  );
  for (const resident of residents) {
    world.turn(resident, { to: 'unschedulable', message }, beganMs());
  }
  const failed = { type: 'Warning', reason: 'FailedScheduling', message } as const;
  return (times) => {
    for (const resident of residents) {
      const component = 'default-scheduler';
      world.tell(resident, { ...failed, component, times, sinceMs: beganMs() });
    }
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
  const { name, namespace, uid } = owner;
  const refuse = (nowMs: number): void => {
    const why = whyOf(`${name}-${world.random.suffix(5)}`);
    const message = `Error creating: ${why}`;
    const component = 'replicaset-controller';
    world.events.record(
      { kind: 'ReplicaSet', apiVersion: 'apps/v1', name, namespace, uid },
      { type: 'Warning', reason: 'FailedCreate', message, component },
      nowMs,
    );
    deployment.failure = why;
    world.rollup.mark(owner);
  };
  for (let attempt = 0; attempt < 5; attempt++) refuse(beganMs() + attempt * 150_000);
  return every(12, () => refuse(Date.now()));
}
