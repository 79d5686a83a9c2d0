/**
 * The events in the embedded cluster: rollouts, crashes, drains, jobs. Each story is a generator that changes one pod
 * per step, so that any number of stories can run at any rate.
 */
import { apps, jobNames } from './catalogue.ts';
import type { NodeState } from './cluster-shapes.ts';
import { createOwner, nextVersion } from './controllers.ts';
import { isOutdated, type Owner, type Resident } from './owners.ts';
import type { PodTurn } from './pod-turns.ts';
import { backOffError, pullError } from './pull-errors.ts';
import { timestamp } from './timestamp.ts';
import type { World } from './world.ts';

/** Makes one change per step. */
export type Story = Generator<void, void, void>;

const isWell = ({ pod }: Resident) => pod.status?.phase === 'Running';
const isReplaceable = (resident: Resident) =>
  isWell(resident) && resident.owner.kind !== 'DaemonSet';

/** Changes the status of a pod step by step. */
function* turns(world: World, resident: Resident, ...all: readonly PodTurn[]): Story {
  for (const turn of all) {
    world.turn(resident, turn);
    yield;
  }
}

/** Creates a pod and starts it. Its pulls fail at first if the world is in trouble. */
export function* start(world: World, owner: Owner, node?: NodeState, ordinal?: number): Story {
  const [sibling] = world.isFaulty(owner) ? owner.residents : [];
  if (sibling !== undefined) {
    world.createLike(sibling);
    return;
  }
  const resident = world.create(owner, { node, ordinal });
  const tells = world.tells();
  yield;
  if (tells) world.tellScheduled(resident);
  yield* turns(world, resident, { to: 'creating' });
  if (world.isTroubled && world.random.next() < 0.04) {
    const image = owner.template.image.replace(/:.*/, ':typo');
    yield* turns(
      world,
      resident,
      { to: 'waiting', reason: 'ErrImagePull', message: pullError(image) },
      { to: 'waiting', reason: 'ImagePullBackOff', message: backOffError(image) },
      { to: 'creating' },
    );
  }
  if (tells) world.tellStarted(resident);
  yield* turns(world, resident, { to: 'starting' }, { to: 'running' });
  resident.busy = false;
}

/** Deletes a pod. Its container stops, and then the pod is removed. */
export function* stop(world: World, resident: Resident): Story {
  if (world.tells()) {
    const message = `Stopping container ${resident.owner.app}`;
    world.tell(resident, { reason: 'Killing', message });
  }
  world.end(resident);
  yield;
  if (isWell(resident)) yield* turns(world, resident, { to: 'stopped' });
  world.remove(resident);
  yield;
}

/** Replaces a pod by one of the newest template. */
export function* replace(
  world: World,
  resident: Resident,
  { node, surges = false }: { node?: NodeState; surges?: boolean } = {},
): Story {
  const { owner } = resident;
  const next = owner.deployment?.current ?? owner;
  if (next !== owner) world.scale(next, 1);
  const ordinal = Number(/\d+$/.exec(resident.pod.metadata.name)?.[0] ?? 0);
  if (surges) yield* start(world, next, node);
  if (next !== owner) world.scale(owner, -1);
  yield* stop(world, resident);
  if (!surges) yield* start(world, next, node, ordinal);
}

/** Ends the reservation of a pod. If its deployment has a new template by then, the pod is replaced. */
function* release(world: World, resident: Resident): Story {
  if (isOutdated(resident)) yield* replace(world, resident);
  else resident.busy = false;
}

/** A new version replaces pods of the old one, one by one. */
function* rollout(world: World): Story {
  const first = world.hold(
    (resident) => isWell(resident) && resident.owner.deployment !== undefined,
  );
  const deployment = first?.owner.deployment;
  if (first === undefined || deployment === undefined) return;
  if (!world.rolls(deployment)) {
    first.busy = false;
    return;
  }
  if (!isOutdated(first)) {
    const { name } = nextVersion(world, deployment);
    const first = Math.ceil(deployment.replicas / 4);
    world.tellScaling(deployment, `Scaled up replica set ${name} from 0 to ${first}`);
  }
  const old = [...first.owner.residents].filter(({ busy }) => !busy);
  for (const resident of old) resident.busy = true;
  // Some rollouts create before they delete, others the reverse. The number of pods stays the same.
  const surges = world.random.next() < 0.5;
  for (const resident of [first, ...old]) yield* replace(world, resident, { surges });
  world.hasRolled(deployment);
}

/** A container fails and is restarted: once, or repeatedly if the world is in trouble. */
function* crash(world: World): Story {
  const resident = world.hold(isWell);
  if (resident === undefined) return;
  const { name, namespace, uid } = resident.pod.metadata;
  const { app } = resident.owner;
  const times = world.isTroubled ? 1 + world.random.below(6) : 1;
  for (let time = 0; time < times; time++) {
    yield* turns(world, resident, { to: 'crashed', reason: 'Error', exitCode: 1 });
    if (times > 1) {
      const wait = `back-off ${10 * 2 ** Math.min(time, 5)}s restarting failed container=${app}`;
      const message = `${wait} pod=${name}_${namespace}(${uid})`;
      yield* turns(world, resident, { to: 'backing-off', message });
    }
    yield* turns(world, resident, { to: 'starting' });
  }
  yield* turns(world, resident, { to: 'running' });
  yield* release(world, resident);
}

/** A node is drained: its pods are deleted and created again on other nodes. */
function* drain(world: World): Story {
  const node = world.random.pick(world.nodes);
  const residents = world.residents.filter(
    (resident) => !resident.busy && isReplaceable(resident) && world.nodeOf(resident) === node,
  );
  if (residents.length === 0 || node.cordoned || world.nodes.some(({ cordoned }) => cordoned))
    return;
  for (const resident of residents) resident.busy = true;
  world.cordon(node, true);
  for (const resident of residents) yield* replace(world, resident);
  world.cordon(node, false);
}

/** The pod of a job runs. */
function* run(world: World, resident: Resident): Story {
  yield;
  yield* turns(world, resident, { to: 'creating' }, { to: 'running' });
}

/** A job that a user has made runs, and is complete. */
export function* runJob(world: World, owner: Owner): Story {
  const resident = world.create(owner);
  yield* run(world, resident);
  world.turn(resident, { to: 'completed' });
}

/** A job runs until it ends, and an earlier job is deleted. */
function* job(world: World): Story {
  const name = `${world.random.pick(jobNames)}-${world.random.suffix(6)}`;
  const plan = { name, desired: 1, createdMs: Date.now() };
  const resident = world.create(createOwner(world, 'Job', world.random.pick(apps), plan));
  yield* run(world, resident);
  const fails = world.isTroubled && world.random.next() < 0.12;
  if (fails) world.turn(resident, { to: 'failed', reason: 'OOMKilled', exitCode: 137 });
  else world.turn(resident, { to: 'completed' });
  yield;
  resident.busy = false;
  const earlier = world.hold(
    (other) => other.owner.kind === 'Job' && other !== resident && !isWell(other),
  );
  if (earlier !== undefined && world.random.next() < 0.9) yield* stop(world, earlier);
  else if (earlier !== undefined) earlier.busy = false;
}

/** A controller notes something on a pod, which changes nothing that a table shows. */
function* note(world: World): Story {
  const resident = world.hold(isWell);
  if (resident === undefined) return;
  world.annotate(resident, { 'embedded.example/noted-at': timestamp(Date.now()) });
  resident.busy = false;
  yield;
}

function* blip(world: World): Story {
  const resident = world.hold(isWell);
  if (resident === undefined) return;
  // Few warnings, because they would hide those of a seeded fault.
  if (world.tells() && (world.isTroubled || world.random.next() < 0.04)) {
    const message = 'Readiness probe failed: HTTP probe failed with statuscode: 503';
    world.tell(resident, { type: 'Warning', reason: 'Unhealthy', message });
  }
  yield* turns(world, resident, { to: 'starting' }, { to: 'running' });
  yield* release(world, resident);
}

/** How often each story is told, in a troubled cluster and in a calm one, where few changes are visible and a seeded fault stands out. */
const plots: readonly (readonly [troubled: number, calm: number, (world: World) => Story])[] = [
  [30, 20, rollout],
  [26, 0, crash],
  [4, 1, drain],
  [16, 12, job],
  [24, 6, blip],
  [0, 61, note],
];

function begin(world: World): Story {
  const filler = world.isTroubled ? blip : note;
  let left = world.random.below(100);
  for (const [troubled, calm, plot] of plots) {
    left -= world.isTroubled ? troubled : calm;
    if (left >= 0) continue;
    // A job adds a pod, so none starts while the cluster is full.
    return plot === job && world.isFull ? filler(world) : plot(world);
  }
  return filler(world);
}

/** Runs many stories concurrently. Each step of the director is one step of one story. */
export class Director {
  readonly #world: World;
  readonly #stories: Story[] = [];

  constructor(world: World, objects: number) {
    this.#world = world;
    const concurrent = Math.min(400, Math.max(4, Math.round(objects / 25)));
    for (let count = 0; count < concurrent; count++) this.#stories.push(begin(world));
  }

  step(): void {
    // If a story has ended or has nothing to do, another story takes the step.
    for (let tries = 0; tries < 50; tries++) {
      const at = this.#world.random.below(this.#stories.length);
      if (this.#stories[at]?.next().done === false) return;
      this.#stories[at] = begin(this.#world);
    }
  }
}
