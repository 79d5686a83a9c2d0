/** The objects of the benchmark, and a source of change sets whose state is known. */
import { type Change, type ChangeSet, createChangeSet, type KubernetesObject } from 'rx-informer';
import { Observable, Subject } from 'rxjs';

export const OWNERS = 1_000;
export const NODES = 100;

export interface Thing extends KubernetesObject {
  readonly metadata: NonNullable<KubernetesObject['metadata']> & {
    readonly name: string;
    readonly uid: string;
  };
}

export interface Pod extends Thing {
  readonly node: string;
  readonly ownerUid: string;
  readonly cpu: number;
  readonly created: number;
}

let seed = 7;

/** A number from 0 (inclusive) to `below`, of a sequence that is the same in every run. */
export function random(below: number): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
  return Math.floor((seed / 0x80000000) * below);
}

function uidOf(kind: number, at: number): string {
  return `0000000${kind}-0000-4000-8000-${String(at).padStart(12, '0')}`;
}

/** The fields that refer to an owner. */
function owned(owner: number): Pick<Pod, 'ownerUid'> & { ownerReferences: object[] } {
  const uid = uidOf(1, owner);
  const ownerReferences = [
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `rs-${owner}`, uid, controller: true },
  ];
  return { ownerUid: uid, ownerReferences };
}

export function pods(count: number): Pod[] {
  return Array.from({ length: count }, (_, at) => {
    const { ownerUid, ownerReferences } = owned(at % OWNERS);
    const metadata = {
      name: `pod-${at}`,
      namespace: `ns-${at % 100}`,
      uid: uidOf(2, at),
      ownerReferences,
    };
    const node = `node-${at % NODES}`;
    return { metadata, node, ownerUid, cpu: random(4_000), created: random(1e9) } as Pod;
  });
}

export function owners(): Thing[] {
  return Array.from({ length: OWNERS }, (_, at) => ({
    metadata: { name: `rs-${at}`, namespace: `ns-${at % 100}`, uid: uidOf(1, at) },
  }));
}

/** Another place in an order by `created`. */
export const moved = (pod: Pod): Pod => ({ ...pod, created: random(1e9) });

/** Another value in an aggregate; one pod in ten is on another node. */
export const consumed = (pod: Pod): Pod => {
  const node = random(10) === 0 ? `node-${random(NODES)}` : pod.node;
  return { ...pod, node, cpu: random(4_000) };
};

let version = 0;

/** A change that no relation depends on. */
export const touched = <T extends Thing>(thing: T): T => ({
  ...thing,
  metadata: { ...thing.metadata, resourceVersion: String(++version) },
});

/** One pod in ten gets another owner. */
export const adopted = (pod: Pod): Pod => {
  const next = touched(pod);
  if (random(10) > 0) return next;
  const { ownerUid, ownerReferences } = owned(random(OWNERS));
  return { ...next, ownerUid, metadata: { ...next.metadata, ownerReferences } as Pod['metadata'] };
};

/** Replaced objects in the form of an informer's change. */
export type Update<T> = Change<T> & { readonly previous: T; readonly object: T };

/** Objects, and the stream of their changes as an informer emits it. */
export class Source<T extends Thing> {
  readonly objects: T[];
  readonly changes$: Observable<ChangeSet<T>>;
  readonly #sets = new Subject<ChangeSet<T>>();
  #rev = 1;

  constructor(objects: T[]) {
    this.objects = objects;
    this.changes$ = new Observable((subscriber) => {
      subscriber.next(this.snapshot());
      return this.#sets.subscribe(subscriber);
    });
  }

  /** The set of all objects. */
  snapshot(): ChangeSet<T> {
    const all = this.objects.map((object) => {
      const { uid: id, name: key } = object.metadata;
      return { id, key, object };
    });
    return this.#set(true, all as Change<T>[]);
  }

  /** Replaces as many different objects, and returns their changes, which are not sent yet. */
  batch(events: number, next: (before: T) => T): Update<T>[] {
    const places = new Set<number>();
    while (places.size < events) places.add(random(this.objects.length));
    return [...places].map((at) => {
      const previous = this.objects[at] as T;
      const object = next(previous);
      this.objects[at] = object;
      const { uid: id, name: key } = object.metadata;
      return { id, key, previous, object } as Update<T>;
    });
  }

  send(changes: readonly Update<T>[]): void {
    this.#rev++;
    this.#sets.next(this.#set(false, changes as readonly Change<T>[]));
  }

  #set(reset: boolean, changes: readonly Change<T>[]): ChangeSet<T> {
    const head = { rev: this.#rev, cause: reset ? 'snapshot' : 'watch', synced: true, reset };
    return createChangeSet<T>({ ...head, initial: reset, resourceVersion: '1' } as never, changes);
  }
}
