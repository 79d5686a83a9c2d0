/**
 * Acts on what users write, as the controllers of a cluster do: a workload that was scaled gets or loses pods, a new template
 * replaces them, a deleted one is replaced, a Job that was made runs, and those of a deleted workload go.
 */
import type { KubernetesObject, Resource } from 'rx-informer';
import { deployments, jobs, pods, statefulSets } from 'rx-informer/resources';
import type { ServerChange } from 'rx-informer/testing';
import { nextVersion } from './controllers.ts';
import { isActive, type Owner, type Resident } from './owners.ts';
import { podLabels } from './pod-shapes.ts';
import { replace, runJob, type Story, start, stop } from './stories.ts';
import { isTemplateOf } from './workload-shapes.ts';
import type { World } from './world.ts';

/** How many pods of a workload are replaced at once. */
const LANES = 4;

export class UserWrites {
  readonly #world: World;
  /** What to do about changes. They are only noted when they are seen, because the writer is not done then. */
  readonly #waiting: (() => void)[] = [];
  readonly #stories = new Set<Story>();

  constructor(world: World) {
    this.#world = world;
    this.#follow(deployments, ({ metadata, spec }) => {
      const state = world.deployments.get(metadata.uid);
      if (state === undefined || spec === undefined) return;
      this.#resize(state.current, state, spec.replicas ?? 1);
      if (isTemplateOf(spec.template, state.current)) return;
      const old = state.replicaSets.flatMap(({ residents }) => [...residents]);
      const image = spec.template.spec?.containers[0]?.image ?? state.current.template.image;
      nextVersion(world, state, { ...state.current.template, image, given: spec.template });
      state.isStuck = false;
      const mine = old
        .filter((resident) => !resident.busy || world.isFaulty(resident.owner))
        .values();
      for (let lane = 0; lane < LANES; lane++) this.#stories.add(this.#replaceEach(mine));
    });
    this.#follow(statefulSets, ({ metadata, spec }) => {
      const owner = world.owners.get(metadata.uid);
      if (owner !== undefined) this.#resize(owner, undefined, spec?.replicas ?? 1);
    });
    this.#follow(jobs, ({ metadata, spec }) => {
      const { uid, name, namespace = 'default' } = metadata;
      const template = spec?.template;
      if (world.owners.has(uid) || template === undefined) return;
      const known = { uid, name, namespace, app: name, desired: 1, deployment: undefined };
      const container = { image: template.spec?.containers[0]?.image ?? '', sidecar: false };
      const owner: Owner = {
        ...{ ...known, kind: 'Job', residents: new Set<Resident>() },
        template: { ...container, milliCpu: 0, memoryMi: 0, given: template },
      };
      world.owners.set(uid, owner);
      // As the API server does.
      world.server.objects.modify(jobs, metadata, (draft) => {
        if (draft.spec) draft.spec.selector = { matchLabels: podLabels(owner) };
      });
      this.#stories.add(runJob(world, owner));
    });
    world.server.objects.onChange(pods, ({ before, after }) => {
      const isMarked = after?.metadata.deletionTimestamp && !before?.metadata.deletionTimestamp;
      if (!isMarked || world.isEnding) return;
      const { uid } = after.metadata;
      this.#waiting.push(() => {
        const resident = world.residents.find(({ pod }) => pod.metadata.uid === uid);
        if (resident !== undefined) this.#stories.add(this.#replaceEach([resident].values()));
      });
    });
  }

  /** Calls `act` for each object whose specification somebody has written. */
  #follow<T extends KubernetesObject>(
    resource: Resource<T>,
    act: (object: NonNullable<ServerChange<T>['after']>) => void,
  ): void {
    this.#world.server.objects.onChange(resource, ({ before, after }) => {
      const isWritten = before?.metadata.generation !== after?.metadata.generation;
      if (after !== undefined && isWritten) this.#waiting.push(() => act(after));
      const { uid = '' } = before?.metadata ?? {};
      if (after === undefined) this.#waiting.push(() => this.#clear(uid));
    });
  }

  /** One step of everything that goes on. */
  step(): void {
    for (const act of this.#waiting.splice(0)) act();
    for (const story of this.#stories) if (story.next().done) this.#stories.delete(story);
  }

  #stop(residents: readonly Resident[]): void {
    for (const resident of residents) {
      resident.busy = true;
      this.#world.scale(resident.owner, -1);
      this.#stories.add(stop(this.#world, resident));
    }
  }

  /** Lets pods come or go until there are as many as the user asks for. Those that could not be created are given up first. */
  #resize(owner: Owner, state: Owner['deployment'], replicas: number): void {
    const sets = state?.replicaSets ?? [owner];
    const residents = sets.flatMap((set) => [...set.residents].filter(isActive));
    const before = state?.replicas ?? owner.desired;
    if (before === replicas) return;
    const missing = state?.failure === undefined ? 0 : before - residents.length;
    if (state !== undefined) state.replicas = replicas;
    const given = Math.min(missing, Math.max(0, before - replicas));
    this.#world.scale(owner, replicas > before ? replicas - before : -given);
    if (state !== undefined && missing === given) delete state.failure;
    const gone = before - replicas - given;
    if (gone > 0) this.#stop(residents.slice(-gone));
    if (missing > 0) return;
    for (let ordinal = before; ordinal < replicas; ordinal++) {
      this.#stories.add(start(this.#world, owner, undefined, ordinal));
    }
  }

  *#replaceEach(residents: Iterator<Resident>): Story {
    for (let next = residents.next(); !next.done; next = residents.next()) {
      next.value.busy = true;
      yield* replace(this.#world, next.value);
    }
  }

  #clear(uid: string): void {
    const { deployments: known, owners } = this.#world;
    const sets =
      known.get(uid)?.replicaSets ?? [owners.get(uid)].filter((each) => each !== undefined);
    this.#stop(sets.flatMap(({ residents }) => [...residents]));
    known.delete(uid);
    owners.delete(uid);
  }
}
