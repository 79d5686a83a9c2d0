/** Creates the workload of a seeded fault. No story touches its pods. */
import type { Container } from 'rx-informer/resources';
import type { App } from '../catalogue.ts';
import { createDeployment } from '../controllers.ts';
import type { Deployment, Owner, Resident, Template } from '../owners.ts';
import { createNamespaces, createSurroundings } from '../populate.ts';
import type { World } from '../world.ts';

const MINUTE_MS = 60_000;

/** How long ago the faults began. */
export const beganMs = (): number => Date.now() - 14 * MINUTE_MS;

/** A workload to create. */
export interface FaultyPlan {
  readonly namespace: string;
  readonly app: string;
  readonly replicas: number;
  readonly version: string;
  readonly milliCpu: number;
  readonly memoryMi: number;
  readonly container?: Partial<Container>;
  /** Whether the deployment exists for days. Otherwise it is as old as the fault. */
  readonly isOld?: boolean;
}

/** The template of a plan. */
export function faultyTemplate({
  namespace,
  app,
  version,
  container,
  ...rest
}: FaultyPlan): Template {
  const { milliCpu, memoryMi } = rest;
  const image = `registry.example/${namespace}/${app}:${version}`;
  return { image, sidecar: false, milliCpu, memoryMi, ...(container ? { container } : {}) };
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

/** Records an event of a deployment. */
export function tellScaling(world: World, deployment: Deployment, message: string): void {
  const { name, namespace, uid } = deployment;
  world.events.record(
    { kind: 'Deployment', apiVersion: 'apps/v1', name, namespace, uid },
    { reason: 'ScalingReplicaSet', message, component: 'deployment-controller' },
    beganMs(),
  );
}
