/**
 * The events in the embedded cluster: rollouts, crash loops, drains, jobs. Each story is a generator that changes one
 * pod per step, so that any number of stories can run at any rate.
 */
import type { Owner } from './pod-shapes.ts';
import type { Resident, World } from './world.ts';

/** Makes one change per step. */
export type Story = Generator<void, void, void>;

const isWell = ({ pod }: Resident) => pod.status?.phase === 'Running';

function* start(world: World, owner: Owner, node?: string): Story {
  const resident = world.create(owner, node);
  yield;
  world.turn(resident, { to: 'creating' });
  yield;
  if (world.random.next() < 0.04) {
    const image = owner.image.replace(/:.*/, ':typo');
    const message = `Back-off pulling image "${image}"`;
    world.turn(resident, { to: 'waiting', reason: 'ErrImagePull', message });
    yield;
    world.turn(resident, { to: 'waiting', reason: 'ImagePullBackOff', message });
    yield;
    world.turn(resident, { to: 'creating' });
    yield;
  }
  world.turn(resident, { to: 'starting' });
  yield;
  world.turn(resident, { to: 'running' });
  yield;
  resident.busy = false;
}

function* stop(world: World, resident: Resident): Story {
  world.end(resident);
  yield;
  world.remove(resident);
  yield;
}

/** A new version replaces pods of the old one, one by one. */
function* rollout(world: World): Story {
  const first = world.hold((resident) => isWell(resident) && resident.owner.kind === 'ReplicaSet');
  if (first === undefined) return;
  const before = first.owner;
  const after = world.nextVersion(before);
  const old = world.residents.filter(({ owner, busy }) => owner === before && !busy);
  for (const resident of old) resident.busy = true;
  // Some rollouts create before they delete, others the reverse. The number of pods stays the same.
  const surges = world.random.next() < 0.5;
  for (const resident of [first, ...old]) {
    if (surges) yield* start(world, after);
    yield* stop(world, resident);
    if (!surges) yield* start(world, after);
  }
}

/** A container fails repeatedly and recovers in the end. */
function* crashLoop(world: World): Story {
  const resident = world.hold(isWell);
  if (resident === undefined) return;
  const times = 1 + world.random.below(6);
  for (let time = 0; time < times; time++) {
    world.turn(resident, { to: 'crashed' });
    yield;
    world.turn(resident, { to: 'backing-off' });
    yield;
    if (world.random.next() < 0.5) {
      world.turn(resident, { to: 'starting' });
      yield;
    }
  }
  world.turn(resident, { to: 'running' });
  yield;
  resident.busy = false;
}

/** A node is drained: its pods are deleted and created again on other nodes. */
function* drain(world: World): Story {
  const node = world.random.pick(world.nodes);
  const residents = world.residents.filter(
    (resident) => !resident.busy && isWell(resident) && resident.pod.spec?.nodeName === node,
  );
  for (const resident of residents) resident.busy = true;
  for (const resident of residents) {
    const elsewhere = world.random.pick(world.nodes.filter((other) => other !== node));
    yield* stop(world, resident);
    yield* start(world, resident.owner, elsewhere);
  }
}

/** A job runs until it ends, and an earlier job is deleted. */
function* job(world: World): Story {
  const names = ['report', 'backup', 'reindex', 'invoice-run', 'thumbnail-batch'];
  const { namespace } = world.random.pick(world.owners);
  const owner = world.newOwner(namespace, world.random.pick(names), 'Job');
  const resident = world.create(owner);
  yield;
  world.turn(resident, { to: 'creating' });
  yield;
  world.turn(resident, { to: 'running' });
  yield;
  if (world.random.next() < 0.12) {
    const message = 'the container used more memory than it may';
    world.turn(resident, { to: 'failed', reason: 'OOMKilled', message });
  } else {
    world.turn(resident, { to: 'completed' });
  }
  yield;
  resident.busy = false;
  const at = world.owners.indexOf(owner);
  if (at !== -1) world.owners.splice(at, 1);
  const earlier = world.hold(
    (other) => other.owner.kind === 'Job' && other !== resident && !isWell(other),
  );
  if (earlier !== undefined && world.random.next() < 0.9) yield* stop(world, earlier);
  else if (earlier !== undefined) earlier.busy = false;
}

/** A readiness probe fails once. */
function* blip(world: World): Story {
  const resident = world.hold(isWell);
  if (resident === undefined) return;
  world.turn(resident, { to: 'starting' });
  yield;
  world.turn(resident, { to: 'running' });
  yield;
  resident.busy = false;
}

const plots: readonly (readonly [weight: number, plot: (world: World) => Story])[] = [
  [30, rollout],
  [26, crashLoop],
  [4, drain],
  [16, job],
  [24, blip],
];

function begin(world: World): Story {
  let left = world.random.below(100);
  for (const [weight, plot] of plots) {
    left -= weight;
    if (left >= 0) continue;
    // A job adds a pod, so none starts while the cluster is full.
    return plot === job && world.isFull ? blip(world) : plot(world);
  }
  return blip(world);
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

  /** Makes one change. */
  step(): void {
    // If a story has ended or has nothing to do, another story takes the step.
    for (let tries = 0; tries < 50; tries++) {
      const at = this.#world.random.below(this.#stories.length);
      if (this.#stories[at]?.next().done === false) return;
      this.#stories[at] = begin(this.#world);
    }
  }
}
