/** Fills the embedded cluster with its first objects. */
import {
  type ConfigMap,
  configMaps,
  type Namespace,
  namespaces,
  nodes,
  type Service,
  services,
} from 'rx-informer/resources';
import { type App, apps, jobNames } from './catalogue.ts';
import { type NodeState, newNode } from './cluster-shapes.ts';
import { createDeployment, createOwner } from './controllers.ts';
import { shapeOf } from './manifests.ts';
import { createManifests } from './other-kinds.ts';
import type { Owner } from './owners.ts';
import { timestamp } from './timestamp.ts';
import type { World } from './world.ts';

const DAY_MS = 86_400_000;
const PODS_PER_NODE = 60;
/** Smaller clusters have no daemon sets, because their pods would be most of the pods. */
const LEAST_FOR_DAEMONS = 30;

/** A time in the last twenty days, more often a recent one. */
function createdMs(world: World, nowMs: number): number {
  return nowMs - Math.floor(world.random.next() ** 3 * 20 * DAY_MS) - 60_000;
}

/** Creates the namespaces. `more` are those that only seeded faults use. */
export function createNamespaces(world: World, names: Iterable<string>): void {
  const { objects } = world.server;
  for (const name of new Set(names)) {
    if (objects.get(namespaces, { name }) !== undefined) continue;
    const created = Date.now() - 90 * DAY_MS;
    const words = { name, uid: world.random.uid(), created: timestamp(created) };
    objects.create(namespaces, shapeOf<Namespace>('Namespace', words));
  }
}

export function createSurroundings(world: World, named: { namespace: string; name: string }): void {
  const { server, random } = world;
  const created = timestamp(createdMs(world, Date.now() - 20 * DAY_MS));
  const uid = random.uid();
  const byte = (at: number) => Number.parseInt(uid.slice(at, at + 2), 16);
  const service = { ...named, uid, created, ip: `10.96.${byte(0)}.${byte(2)}` };
  server.objects.create(services, shapeOf<Service>('Service', service));
  const settings = { ...named, uid: random.uid(), created };
  server.objects.create(configMaps, shapeOf<ConfigMap>('ConfigMap', settings));
}

function createNodes(world: World, objects: number): void {
  const count = Math.max(3, Math.ceil(objects / PODS_PER_NODE));
  for (let index = 0; index < count; index++) {
    const name = `node-${String(index + 1).padStart(3, '0')}`;
    const ip = `10.0.${index >> 8}.${index & 255}`;
    const node: NodeState = { name, ip, uid: world.random.uid(), requested: 0, cordoned: false };
    const created = createdMs(world, Date.now() - 10 * DAY_MS);
    world.server.objects.create(nodes, newNode(node, `zone-${'abc'[index % 3]}`, created));
    world.nodes.push(node);
  }
}

interface Planned {
  readonly app: App;
  readonly name: string;
  readonly replicas: number;
}

/** The numbers of pods of all applications. Larger clusters have more deployments, and not only more replicas. */
function plan(world: World, objects: number): Planned[] {
  const shares = apps.reduce((sum, { share }) => sum + share, 0);
  const names = apps.flatMap((app) => {
    const copies = Math.max(1, Math.round((objects * app.share) / shares / 40));
    if (app.kind === 'DaemonSet') return [];
    return Array.from({ length: copies }, (_, copy) => ({
      app,
      name: copy === 0 ? app.app : `${app.app}-${copy + 1}`,
    }));
  });
  const replicas = new Map<(typeof names)[number], number>();
  const weighted = names.flatMap((one) => Array(one.app.share).fill(one) as typeof names);
  for (let pod = 0; pod < objects; pod++) {
    const one = world.random.pick(weighted);
    replicas.set(one, (replicas.get(one) ?? 0) + 1);
  }
  return names.map((one) => ({ ...one, replicas: replicas.get(one) ?? 0 }));
}

function fill(world: World, owner: Owner, to: 'running' | 'completed'): void {
  const nowMs = Date.now();
  for (let ordinal = 0; ordinal < owner.desired; ordinal++) {
    const created = createdMs(world, nowMs);
    const node = owner.kind === 'DaemonSet' ? world.nodes[ordinal] : undefined;
    const already = { to };
    world.create(owner, { node, ordinal, createdMs: created, already }).busy = false;
  }
}

/** Creates everything that exists before the first story. */
export function populate(world: World, objects: number): void {
  createNamespaces(world, ['default', 'kube-system', ...apps.map(({ namespace }) => namespace)]);
  createNodes(world, objects);
  createManifests(world, './other-kinds.yaml');
  // Leaves capacity for the pods that rollouts and jobs add temporarily.
  let left = Math.max(1, Math.floor(objects * 0.99));
  const old = () => createdMs(world, Date.now() - 20 * DAY_MS);
  if (objects >= LEAST_FOR_DAEMONS) {
    for (const app of apps.filter(({ kind }) => kind === 'DaemonSet')) {
      const desired = world.nodes.length;
      const agent = { name: app.app, desired, createdMs: old() };
      fill(world, createOwner(world, 'DaemonSet', app, agent), 'running');
      left -= desired;
    }
  }
  const jobs = Math.floor(left / 200);
  for (let job = 0; job < jobs; job++) {
    const name = `${world.random.pick(jobNames)}-${world.random.suffix(6)}`;
    const app = world.random.pick(apps);
    const ended = { name, desired: 1, createdMs: old() };
    fill(world, createOwner(world, 'Job', app, ended), 'completed');
  }
  for (const { app, name, replicas } of plan(world, left - jobs)) {
    createSurroundings(world, { namespace: app.namespace, name });
    const created = { name, replicas, createdMs: old() };
    const owner =
      app.kind === 'StatefulSet'
        ? createOwner(world, 'StatefulSet', app, { ...created, desired: replicas })
        : createDeployment(world, app, created).current;
    fill(world, owner, 'running');
  }
}
