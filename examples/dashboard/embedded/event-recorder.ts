/**
 * Records events as the components of a cluster do: an event that occurs again is counted instead of recorded twice.
 * The oldest events are deleted, as they expire in a real cluster.
 */
import { events } from 'rx-informer/resources';
import type { FakeApiServer } from 'rx-informer/testing';
import type { Random } from './random.ts';
import { timestamp } from './timestamp.ts';

/** The object that an event is about. */
export interface Involved {
  readonly kind: string;
  readonly apiVersion: string;
  readonly name: string;
  /** Absent for objects without a namespace. */
  readonly namespace?: string;
  readonly uid: string;
  /** The container of a pod: `spec.containers{web}`. */
  readonly fieldPath?: string;
}

const versions: Readonly<Record<string, string>> = {
  ...{ Pod: 'v1', Node: 'v1', PersistentVolumeClaim: 'v1' },
  ...{ Deployment: 'apps/v1', ReplicaSet: 'apps/v1', HorizontalPodAutoscaler: 'autoscaling/v2' },
};

/** An object as its events name it. */
export function involved(
  kind: string,
  { name, namespace, uid }: Pick<Involved, 'name' | 'namespace' | 'uid'>,
): Involved {
  const within = namespace === undefined ? {} : { namespace };
  return { kind, apiVersion: versions[kind] ?? 'v1', name, uid, ...within };
}

export interface Happening {
  readonly type?: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly component: string;
  readonly host?: string | undefined;
  /** How often it has happened until now, for a history that begins with the simulation. @defaultValue 1 */
  readonly times?: number;
  /** The time of the first occurrence. @defaultValue now */
  readonly sinceMs?: number;
}

export class EventRecorder {
  readonly #objects: FakeApiServer['objects'];
  readonly #random: Random;
  readonly #most: number;
  /** The known events by their content. The one that occurred last is last. */
  readonly #names = new Map<string, { readonly name: string; readonly namespace: string }>();

  constructor(objects: FakeApiServer['objects'], random: Random, most: number) {
    this.#objects = objects;
    this.#random = random;
    this.#most = most;
  }

  record(involved: Involved, happening: Happening, nowMs: number = Date.now()): void {
    const key = `${involved.uid} ${happening.reason} ${happening.message}`;
    const known = this.#names.get(key);
    if (known === undefined) this.#create(key, involved, happening, nowMs);
    else {
      this.#names.delete(key);
      this.#names.set(key, known);
      this.#objects.modify(events, known, (event) => {
        event.count = (event.count ?? 1) + (happening.times ?? 1);
        event.lastTimestamp = timestamp(nowMs);
      });
    }
  }

  #create(key: string, involved: Involved, happening: Happening, nowMs: number): void {
    const { type = 'Normal', reason, message, component, host, times = 1, sinceMs } = happening;
    const namespace = involved.namespace ?? 'default';
    const name = `${involved.name}.${this.#random.uid().replaceAll('-', '').slice(0, 16)}`;
    this.#names.set(key, { name, namespace });
    this.#objects.create(events, {
      metadata: { name, namespace, uid: this.#random.uid(), creationTimestamp: timestamp(nowMs) },
      involvedObject: involved,
      reason,
      message,
      type,
      source: { component, ...(host === undefined ? {} : { host }) },
      firstTimestamp: timestamp(sinceMs ?? nowMs),
      lastTimestamp: timestamp(nowMs),
      count: times,
      reportingComponent: component,
      reportingInstance: host ?? '',
    });
    if (this.#names.size <= this.#most) return;
    const [oldest] = this.#names;
    if (oldest === undefined) return;
    this.#names.delete(oldest[0]);
    this.#objects.delete(events, oldest[1]);
  }
}
