/** Creates the controllers of pods, and gives deployments new versions. */
import type { KubernetesObject, Resource } from 'rx-informer';
import { daemonSets, deployments, jobs, replicaSets, statefulSets } from 'rx-informer/resources';
import { type App, hasSidecar } from './catalogue.ts';
import type { Deployment, Owner, Template } from './owners.ts';
import { newController, newDeployment, withTemplate } from './workload-shapes.ts';
import type { World } from './world.ts';

/** Old replica sets without pods that a deployment keeps. */
const KEPT_REVISIONS = 2;

export function newTemplate(
  { random }: World,
  { namespace, app, milliCpu, memoryMi }: App,
): Template {
  const version = `${1 + random.below(4)}.${random.below(20)}.${random.below(10)}`;
  const image = `registry.example/${namespace}/${app}:${version}`;
  return { image, sidecar: hasSidecar({ namespace }), milliCpu, memoryMi };
}

/** A new controller without pods. */
function ownerOf({ random }: World, of: Omit<Owner, 'uid' | 'residents'>): Owner {
  return { ...of, uid: random.uid(), residents: new Set() };
}

/** Gives a deployment a replica set without pods, which is the current one from then on. */
function addReplicaSet(
  world: World,
  deployment: Omit<Deployment, 'current'>,
  template: Template,
  desired: number,
): Owner {
  const above = deployment as Deployment;
  const { name: app, namespace } = above;
  const name = `${app}-${world.random.suffix(9)}`;
  const known = { kind: 'ReplicaSet', name, namespace, app, template, desired } as const;
  above.current = ownerOf(world, { ...known, deployment: above });
  above.replicaSets.push(above.current);
  return above.current;
}

export function createDeployment(
  world: World,
  app: App,
  plan: { readonly name: string; readonly replicas: number; readonly createdMs: number },
  template: Template = newTemplate(world, app),
): Deployment {
  const { name, replicas, createdMs } = plan;
  const { namespace } = app;
  const uid = world.random.uid();
  const bare = { name, namespace, app, uid, replicas, revision: 1, replicaSets: [] };
  const current = addReplicaSet(world, bare, template, replicas);
  const deployment = current.deployment as Deployment;
  world.deployments.set(uid, deployment);
  const { objects } = world.server;
  objects.create(deployments, newDeployment(deployment, createdMs));
  objects.create(replicaSets, newController(current, createdMs));
  world.rollup.mark(current);
  return deployment;
}

/** Gives a deployment a new template, and with it a new replica set without pods. */
export function nextVersion(
  world: World,
  deployment: Deployment,
  template: Template = newTemplate(world, deployment.app),
  createdMs: number = Date.now(),
): Owner {
  const { objects } = world.server;
  const owner = addReplicaSet(world, deployment, template, 0);
  deployment.revision++;
  objects.create(replicaSets, newController(owner, createdMs));
  const object = objects.get(deployments, deployment);
  if (object !== undefined) objects.update(deployments, withTemplate(object, deployment));
  world.rollup.mark(owner);
  const empty = deployment.replicaSets.filter(({ residents }) => residents.size === 0);
  // The new replica set is empty, too.
  for (const old of empty.slice(0, -1 - KEPT_REVISIONS)) {
    deployment.replicaSets.splice(deployment.replicaSets.indexOf(old), 1);
    objects.delete(replicaSets, old);
  }
  return owner;
}

const controllers = {
  StatefulSet: statefulSets as Resource<KubernetesObject>,
  DaemonSet: daemonSets as Resource<KubernetesObject>,
  Job: jobs as Resource<KubernetesObject>,
};

/** Creates a controller that is not a replica set. `desired` is its number of pods. */
export function createOwner(
  world: World,
  kind: keyof typeof controllers,
  app: App,
  plan: { readonly name: string; readonly desired: number; readonly createdMs: number },
): Owner {
  const { name, desired, createdMs } = plan;
  const { namespace } = app;
  const template = newTemplate(world, app);
  const known = { kind, name, desired, namespace, app: name, template };
  const owner = ownerOf(world, { ...known, deployment: undefined });
  world.owners.set(owner.uid, owner);
  world.server.objects.create(controllers[kind], newController(owner, createdMs));
  world.rollup.mark(owner);
  return owner;
}
