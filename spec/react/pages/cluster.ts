/** A fake API server with the objects of one cluster, whose requests are noted and disturbed. */
import type { KubernetesObject } from 'rx-informer';
import type { ConfigMap } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer } from 'rx-informer/testing';
import { type Facts, factsOf, RESOURCES } from './questions.ts';

export const NAMESPACES = ['a', 'b'] as const;
const NAMES = ['x', 'y', 'z'] as const;

/** Prevents that a value is written twice. */
let lastValue = 0;
export function resetValues(): void {
  lastValue = 0;
}
export const nextValue = (kind: string) => `${kind}${String(++lastValue).padStart(6, '0')}`;

export const DISTURBANCES = ['drop', 'expire', 'close', 'outage', 'silence', 'slow'] as const;
export type Disturbance = (typeof DISTURBANCES)[number];

/** How much later a slow cluster answers. Delays add up if it becomes slow again. */
const SLOW_MS = 1_200;

export class Cluster {
  readonly name: string;
  readonly server: FakeApiServer;
  readonly #denied = new Set<string>();
  /** Denied since the cluster was well: an informer keeps the error until it tries again. */
  readonly #everDenied = new Set<string>();
  readonly #standing: { heal(): void }[] = [];
  /** Whether requests may fail, or wait for longer than the model does. */
  isIll = false;
  /** How often watches have broken. Each further time lengthens the backoff. */
  breaks = 0;
  /** How long each request waits at present. */
  delayMs = 0;
  /** Whether watches have broken since the model has waited for the reconnect. */
  isShaken = false;

  constructor(name: string, latencyMs: number, random: () => number) {
    this.name = name;
    const allows = ({
      resource,
      namespace,
      verb,
    }: Record<'resource' | 'namespace' | 'verb', string>) =>
      verb === 'patch' || verb === 'get' || !this.isDenied(resource, namespace);
    this.server = createFakeApiServer({ latencyMs, allows, random });
    for (const of of RESOURCES.keys()) for (const at of [0, 1, 3, 4]) this.write(of, at, false);
  }

  isDenied(resource: string, namespace: string): boolean {
    return this.#denied.has(resource) || this.#denied.has(`${resource}/${namespace}`);
  }

  /** Whether requests fail, or are not answered. */
  get hasFaults(): boolean {
    return this.#standing.length > 0;
  }

  get denied(): readonly string[] {
    return [...this.#denied];
  }

  get everDenied(): readonly string[] {
    return [...this.#everDenied];
  }

  /** Forbids a namespace of a resource, or all of it, also to the watches that are open. */
  deny(of: number, namespace: string | undefined): void {
    const { plural } = RESOURCES[of] as (typeof RESOURCES)[0];
    const denied = namespace === undefined ? plural : `${plural}/${namespace}`;
    this.#denied.add(denied);
    this.#everDenied.add(denied);
    this.isIll = true;
    this.breaks++;
    this.server.faults.closeWatches();
  }

  disturb(how: Disturbance): void {
    const { faults } = this.server;
    this.isShaken = true;
    this.breaks++;
    if (how === 'drop') faults.dropWatches();
    else if (how === 'expire') faults.expireWatches();
    else if (how === 'close') faults.closeWatches();
    else {
      if (how === 'slow') this.delayMs += SLOW_MS;
      else this.isIll = true;
      if (how === 'outage') faults.dropWatches();
      const match = { use: 'watch' } as const;
      this.#standing.push(
        how === 'outage'
          ? faults.refuse()
          : how === 'silence'
            ? faults.silence(match)
            : faults.delay(SLOW_MS),
      );
    }
  }

  heal(): void {
    this.#denied.clear();
    this.delayMs = 0;
    for (const fault of this.#standing.splice(0)) fault.heal();
  }

  /** All informers have tried again since the last fault was healed. */
  recovered(): void {
    this.isIll = false;
    this.#everDenied.clear();
  }

  objects(of: number): readonly Facts[] {
    return this.raw(of).map(factsOf);
  }

  raw(of: number): readonly ConfigMap[] {
    return this.server.objects.list(RESOURCES[of] as never) as readonly ConfigMap[];
  }

  /** Creates, updates or deletes the object at an index. */
  write(of: number, at: number, end: boolean): void {
    const resource = RESOURCES[of] as (typeof RESOURCES)[0];
    const namespace = NAMESPACES[Math.floor(at / NAMES.length) % NAMESPACES.length];
    const name = NAMES[at % NAMES.length];
    const known = this.raw(of).find(
      ({ metadata }) => metadata?.name === name && metadata?.namespace === namespace,
    );
    const { objects } = this.server;
    const value = nextValue('w');
    if (end) {
      if (known !== undefined) objects.delete(resource, { namespace, name } as never);
      return;
    }
    const data = { v: value, g: String(lastValue % 2) };
    if (known !== undefined) objects.update(resource, { ...known, data } as never);
    else {
      const app = lastValue % 3 === 0 ? 'p' : 'q';
      const labels = { cluster: this.name, of: resource.plural, app };
      objects.create(resource, { metadata: { namespace, name, labels }, data } as never);
    }
  }

  find(of: number, at: number): KubernetesObject | undefined {
    const all = this.raw(of);
    return all[at % Math.max(1, all.length)];
  }
}
