/** The simulated cluster that stories change: nodes, owners and pods. */
import type { Stored } from 'rx-informer';
import type { Pod } from 'rx-informer/resources';
import { newPod, type Owner, type PodTurn, turned } from './pod-shapes.ts';
import { Random } from './random.ts';

/** A pod that a story can reserve. At most one story holds a pod at a time. */
export interface Resident {
  pod: Stored<Pod>;
  owner: Owner;
  busy: boolean;
}

/** Writes pods. */
export interface PodWriter {
  create(pod: Pod): Stored<Pod>;
  update(pod: Stored<Pod>): Stored<Pod>;
  /** Deletes a pod. A pod that a finalizer keeps is marked as terminating and returned. */
  delete(pod: Stored<Pod>): Stored<Pod> | undefined;
}

const apps: readonly (readonly [namespace: string, app: string, share: number])[] = [
  ['shop', 'storefront', 9],
  ['shop', 'cart', 6],
  ['shop', 'checkout', 5],
  ['shop', 'catalogue', 6],
  ['payments', 'ledger', 4],
  ['payments', 'card-gateway', 4],
  ['payments', 'fraud-score', 3],
  ['search', 'query', 6],
  ['search', 'indexer', 4],
  ['identity', 'login', 4],
  ['identity', 'sessions', 3],
  ['media', 'thumbnailer', 5],
  ['media', 'transcoder', 4],
  ['messaging', 'broker', 3],
  ['messaging', 'mail-sender', 3],
  ['analytics', 'collector', 6],
  ['analytics', 'aggregator', 4],
  ['observability', 'metrics-agent', 4],
  ['observability', 'log-shipper', 4],
  ['platform', 'ingress', 3],
  ['platform', 'dns', 2],
];
const DAY_MS = 86_400_000;

/** The state that stories change. */
export class World {
  readonly random: Random;
  readonly nodes: readonly string[];
  readonly owners: Owner[] = [];
  readonly residents: Resident[] = [];
  readonly #writer: PodWriter;
  readonly #objects: number;

  constructor(writer: PodWriter, options: { readonly seed: number; readonly objects: number }) {
    this.#writer = writer;
    this.#objects = options.objects;
    this.random = new Random(options.seed);
    const count = Math.max(3, Math.ceil(options.objects / 60));
    this.nodes = Array.from(
      { length: count },
      (_, index) => `node-${String(index + 1).padStart(3, '0')}`,
    );
    // Leaves capacity for the pods that rollouts and jobs add temporarily.
    this.#populate(Math.max(1, Math.floor(options.objects * 0.99)));
  }

  /** Whether the world has more pods than it should. */
  get isFull(): boolean {
    return this.residents.length > this.#objects * 1.005;
  }

  newOwner(namespace: string, app: string, kind: Owner['kind']): Owner {
    const hash = this.random.suffix(kind === 'Job' ? 6 : 9);
    const owner: Owner = {
      kind,
      name: kind === 'StatefulSet' || kind === 'DaemonSet' ? app : `${app}-${hash}`,
      namespace,
      app,
      image: `registry.example/${namespace}/${app}:${1 + this.random.below(4)}.${this.random.below(20)}.${this.random.below(10)}`,
      sidecar: namespace === 'payments' || namespace === 'identity',
      uid: this.random.uid(),
    };
    this.owners.push(owner);
    return owner;
  }

  /** Replaces an owner by its next version, as in a rollout. */
  nextVersion(owner: Owner): Owner {
    const at = this.owners.indexOf(owner);
    if (at !== -1) this.owners.splice(at, 1);
    return this.newOwner(owner.namespace, owner.app, owner.kind);
  }

  create(owner: Owner, node: string = this.random.pick(this.nodes), createdMs?: number): Resident {
    const pod = newPod(owner, node, this.random, createdMs ?? Date.now());
    const resident = { pod: this.#writer.create(pod), owner, busy: true };
    this.residents.push(resident);
    return resident;
  }

  turn(resident: Resident, turn: PodTurn, nowMs: number = Date.now()): void {
    resident.pod = this.#writer.update(turned(resident.pod, turn, nowMs));
  }

  /** Deletes the pod, which terminates until `remove`. */
  end(resident: Resident): void {
    resident.pod = this.#writer.delete(resident.pod) ?? resident.pod;
  }

  /** Removes the finalizer, so that the server removes the pod. */
  remove(resident: Resident): void {
    const { finalizers: _, ...metadata } = resident.pod.metadata ?? {};
    this.#writer.update({ ...resident.pod, metadata });
    const at = this.residents.indexOf(resident);
    const last = this.residents.pop();
    if (last !== undefined && last !== resident) this.residents[at] = last;
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

  #populate(objects: number): void {
    const shares = apps.reduce((sum, [, , share]) => sum + share, 0);
    const owners: Owner[] = [];
    for (const [namespace, app, share] of apps) {
      const isDaemon = namespace === 'observability';
      const kind = isDaemon ? 'DaemonSet' : app === 'broker' ? 'StatefulSet' : 'ReplicaSet';
      // Larger clusters have more deployments, and not only more replicas.
      const copies = Math.max(1, Math.round((objects * share) / shares / 40));
      for (let copy = 0; copy < copies; copy++) {
        const name = copy === 0 ? app : `${app}-${copy + 1}`;
        owners.push(...Array<Owner>(share).fill(this.newOwner(namespace, name, kind)));
      }
    }
    for (let job = 0; job < Math.ceil(owners.length / 60); job++) {
      owners.push(this.newOwner(this.random.pick(apps)[0], 'backup', 'Job'));
    }
    const nowMs = Date.now();
    for (let index = 0; index < objects; index++) {
      const createdMs = nowMs - this.random.next() ** 3 * 20 * DAY_MS - 60_000;
      const resident = this.create(this.random.pick(owners), undefined, createdMs);
      const isDone = resident.owner.kind === 'Job';
      this.turn(resident, { to: isDone ? 'completed' : 'running' }, createdMs + 20_000);
      resident.busy = false;
    }
  }
}
