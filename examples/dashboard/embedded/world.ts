/** The simulated cluster that stories change: nodes, controllers and pods. */
import type { Stored } from 'rx-informer';
import { daemonSets, jobs, nodes, type Pod, pods, resourceQuotas } from 'rx-informer/resources';
import type { FakeApiServer } from 'rx-informer/testing';
import { NODE_MILLI_CPU, type NodeState } from './cluster-shapes.ts';
import { EventRecorder, type Happening, involved } from './event-recorder.ts';
import { serveOtherKinds } from './other-kinds.ts';
import type { Deployment, Owner, Resident } from './owners.ts';
import { milliCpuOf, newPod, podName } from './pod-shapes.ts';
import { type PodTurn, turned } from './pod-turns.ts';
import { Random } from './random.ts';
import { Rollup } from './rollup.ts';

export interface PodPlan {
  /** Left out: a node with capacity. `null`: none, until the scheduler finds one. */
  readonly node?: NodeState | undefined | null;
  /** The number of a stateful set's pod. */
  readonly ordinal?: number | undefined;
  readonly createdMs?: number | undefined;
  /** The state of a pod that exists before the first story. */
  readonly already?: PodTurn | undefined;
}

export interface WorldOptions {
  readonly seed: number;
  readonly objects: number;
  readonly isTroubled: boolean;
}

/** How long after its creation a pod has started that exists before the first story. */
const STARTED_AFTER_MS = 20_000;

function restartsOf({ status }: Pod): number {
  return status?.containerStatuses?.[0]?.restartCount ?? 0;
}

/** The state that stories change. */
export class World {
  readonly random: Random;
  /** The chance of what no story touches, so that the stories do not depend on it. */
  readonly aside: Random;
  readonly nodes: NodeState[] = [];
  readonly residents: Resident[] = [];
  /** Deployments and the other controllers, by their UIDs. */
  readonly deployments = new Map<string, Deployment>();
  readonly owners = new Map<string, Owner>();
  /** The deployments whose pods have a seeded fault, which further pods will have, too. */
  readonly faulty = new Set<Deployment>();
  readonly events: EventRecorder;
  readonly rollup: Rollup;
  readonly server: FakeApiServer;
  /** Whether ordinary stories contain trouble. It would hide seeded faults, which have their own. */
  readonly isTroubled: boolean;
  readonly #objects: number;
  readonly #rolling = new Set<Deployment>();
  #addresses = 0;
  /** Whether the simulation deletes a pod at the moment, and not a user. */
  isEnding = false;

  constructor(server: FakeApiServer, options: WorldOptions) {
    const { seed, objects, isTroubled } = options;
    this.isTroubled = isTroubled;
    // The fake server does not serve these by itself.
    server.addResource(daemonSets);
    server.addResource(resourceQuotas);
    serveOtherKinds(server);
    this.server = server;
    this.#objects = objects;
    this.random = new Random(seed);
    this.aside = new Random(seed + 2);
    const most = Math.min(3000, Math.max(2000, objects));
    this.events = new EventRecorder(server.objects, this.random, most);
    this.rollup = new Rollup(server.objects);
  }

  /** Whether the world has more pods than it should. */
  get isFull(): boolean {
    return this.residents.length > this.#objects * 1.005;
  }

  /** Whether a story records its ordinary events. In a large cluster few do, so that the rest can be read. */
  tells(): boolean {
    return this.random.next() < 1000 / this.#objects;
  }

  /** Begins a rollout; returns false if the deployment has one already, or if enough others have. */
  rolls(deployment: Deployment): boolean {
    const most = Math.max(1, Math.round(this.#objects / (this.isTroubled ? 100 : 1000)));
    if (this.#rolling.has(deployment) || this.#rolling.size >= most) return false;
    this.#rolling.add(deployment);
    return true;
  }

  isFaulty({ deployment }: Owner): boolean {
    return deployment !== undefined && this.faulty.has(deployment);
  }

  hasRolled(deployment: Deployment): void {
    this.#rolling.delete(deployment);
  }

  scale(owner: Owner, by: number): void {
    owner.desired += by;
    this.rollup.mark(owner);
  }

  /** A node with capacity for a pod of the owner: the emptier one of two, as a scheduler would prefer. */
  nodeFor(owner: Owner): NodeState {
    const free = (node: NodeState) =>
      node.cordoned ? -1 : NODE_MILLI_CPU - node.requested - milliCpuOf(owner.template);
    const [one, other] = [this.random.pick(this.nodes), this.random.pick(this.nodes)];
    const better = free(one) >= free(other) ? one : other;
    if (free(better) >= 0) return better;
    return this.nodes.find((node) => free(node) >= 0) ?? better;
  }

  create(owner: Owner, plan: PodPlan = {}): Resident {
    const { node, ordinal = 0, createdMs = Date.now(), already } = plan;
    const chosen = node === undefined ? this.nodeFor(owner) : (node ?? undefined);
    const name = podName(owner, this.random, ordinal);
    const fresh = newPod(owner, { name, uid: this.random.uid(), node: chosen?.name }, createdMs);
    const first =
      already === undefined
        ? fresh
        : turned(fresh, already, createdMs + STARTED_AFTER_MS, this.#addressesOf(fresh, chosen));
    const pod = this.server.objects.create(pods, first);
    const resident = { pod: pod as Stored<Pod>, owner, busy: true };
    if (chosen !== undefined) chosen.requested += milliCpuOf(owner.template);
    this.residents.push(resident);
    owner.residents.add(resident);
    this.rollup.mark(owner);
    return resident;
  }

  /** A pod in the state of another one, for a fault that all pods of a workload have. */
  createLike({ owner, pod: { spec, status = {} } }: Resident): void {
    const resident = this.create(owner, spec?.nodeName === undefined ? { node: null } : {});
    resident.pod = this.server.objects.update(pods, { ...resident.pod, status }) as Stored<Pod>;
  }

  nodeOf({ pod }: Resident): NodeState | undefined {
    const name = pod.spec?.nodeName;
    // The number in the name is the position of the node.
    return name === undefined ? undefined : this.nodes[Number(name.slice('node-'.length)) - 1];
  }

  turn(resident: Resident, turn: PodTurn, nowMs: number = Date.now()): void {
    const { objects } = this.server;
    // Read again, because a page may have edited the pod.
    const pod = objects.get(pods, resident.pod.metadata);
    if (pod === undefined) return;
    const addresses = this.#addressesOf(pod, this.nodeOf(resident));
    const restarts = restartsOf(pod);
    resident.pod = objects.update(pods, turned(pod, turn, nowMs, addresses)) as Stored<Pod>;
    if (restartsOf(resident.pod) > restarts) this.server.logs.restart(pod.metadata);
    this.rollup.mark(resident.owner);
  }

  annotate(resident: Resident, annotations: Readonly<Record<string, string>>): void {
    const { objects } = this.server;
    if (objects.get(pods, resident.pod.metadata) === undefined) return;
    resident.pod = objects.modify(pods, resident.pod.metadata, (draft) => {
      draft.metadata.annotations = { ...draft.metadata.annotations, ...annotations };
    });
  }

  /** The addresses that a pod gets on its node. A pod keeps those that it has. */
  #addressesOf({ status }: Pod, node: NodeState | undefined) {
    if (status?.podIP !== undefined || node === undefined) return {};
    const number = this.#addresses++;
    const podIP = `10.${64 + ((number >> 16) & 63)}.${(number >> 8) & 255}.${number & 255}`;
    return { hostIP: node.ip, podIP };
  }

  /** Deletes the pod, which terminates until `remove`. */
  end(resident: Resident): void {
    const { objects } = this.server;
    const ref = resident.pod.metadata;
    if (objects.get(pods, ref) === undefined) return;
    this.isEnding = true;
    objects.delete(pods, ref);
    this.isEnding = false;
    resident.pod = (objects.get(pods, ref) as Stored<Pod> | undefined) ?? resident.pod;
    this.rollup.mark(resident.owner);
  }

  /** Removes the finalizer, so that the server removes the pod. */
  remove(resident: Resident): void {
    const { objects } = this.server;
    const { owner } = resident;
    const pod = objects.get(pods, resident.pod.metadata);
    if (pod !== undefined) {
      const { finalizers: _, ...metadata } = pod.metadata;
      objects.update(pods, { ...pod, metadata });
    }
    const node = this.nodeOf(resident);
    if (node !== undefined) node.requested -= milliCpuOf(owner.template);
    owner.residents.delete(resident);
    const at = this.residents.indexOf(resident);
    const last = this.residents.pop();
    if (last !== undefined && last !== resident) this.residents[at] = last;
    this.rollup.mark(owner);
    if (owner.kind === 'Job' && owner.residents.size === 0) objects.delete(jobs, owner);
  }

  /** Excludes a node from scheduling, or includes it again. */
  cordon(node: NodeState, isCordoned: boolean): void {
    node.cordoned = isCordoned;
    this.server.objects.modify(nodes, node, (draft) => {
      draft.spec = { ...draft.spec, ...(isCordoned ? { unschedulable: true } : {}) };
      if (!isCordoned) delete draft.spec.unschedulable;
    });
    const reason = isCordoned ? 'NodeNotSchedulable' : 'NodeSchedulable';
    const message = `Node ${node.name} status is now: ${reason}`;
    const { name, uid } = node;
    const happening = { reason, message, component: 'kubelet', host: name };
    this.events.record(involved('Node', { name, uid }), happening);
  }

  /** Reserves a suitable pod that no story holds. */
  hold(suits: (resident: Resident) => boolean): Resident | undefined {
    for (let tries = 0; tries < 20; tries++) {
      const resident = this.residents[this.random.below(this.residents.length)];
      if (resident === undefined || resident.busy || !suits(resident)) continue;
      resident.busy = true;
      return resident;
    }
    return undefined;
  }

  /** The scheduler has found a node for the pod. */
  tellScheduled(resident: Resident, nowMs?: number): void {
    const { metadata, spec } = resident.pod;
    const message = `Successfully assigned ${metadata.namespace}/${metadata.name} to ${spec?.nodeName}`;
    const happening = { reason: 'Scheduled', message, component: 'default-scheduler' };
    this.tell(resident, happening, nowMs);
  }

  /** The kubelet has started the first container. */
  tellStarted(resident: Resident, nowMs?: number): void {
    const { app, template } = resident.owner;
    const pulled = `Container image "${template.image}" already present on machine`;
    this.tell(resident, { reason: 'Pulled', message: pulled }, nowMs);
    this.tell(resident, { reason: 'Created', message: `Created container: ${app}` }, nowMs);
    this.tell(resident, { reason: 'Started', message: `Started container ${app}` }, nowMs);
  }

  /** The controller of a deployment has scaled one of its replica sets. */
  tellScaling(deployment: Deployment, message: string, nowMs?: number): void {
    const happening = { reason: 'ScalingReplicaSet', message, component: 'deployment-controller' };
    this.events.record(involved('Deployment', deployment), happening, nowMs);
  }

  /** Records an event of a pod. The component defaults to the kubelet of its node. */
  tell(
    resident: Resident,
    happening: Omit<Happening, 'component'> & { readonly component?: string },
    nowMs?: number,
  ): void {
    const { metadata, spec } = resident.pod;
    const isKubelet = happening.component === undefined;
    const pod = involved('Pod', metadata);
    this.events.record(
      isKubelet ? { ...pod, fieldPath: `spec.containers{${resident.owner.app}}` } : pod,
      { component: 'kubelet', ...happening, host: isKubelet ? spec?.nodeName : undefined },
      nowMs,
    );
  }
}
