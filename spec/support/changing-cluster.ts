/**
 * The cluster that campaigns share: objects that change, and a server that answers as real ones do, badly or not at all. Seeds or
 * fast-check choose the acts, and each campaign computes from the objects what its readers must show.
 */
import type { KubernetesObject, Resource } from 'rx-informer';
import type { FakeApiServer } from 'rx-informer/testing';
import * as fc from './fast-check.ts';

/**
 * `put` creates or changes the object of a place; `touch` and `delete` take one that exists. `crowd` and `purge` are of hundreds in its
 * namespace, `deepen` nests it, and `fatten` gives it a megabyte.
 */
export type Write =
  | 'put'
  | 'touch'
  | 'delete'
  | 'recreate'
  | 'crowd'
  | 'purge'
  | 'deepen'
  | 'fatten';
/** What goes wrong once. */
export const BLOWS = [
  ...([
    'close',
    'drop',
    'cut',
    'repeat',
    'expire',
    'compact',
    'fail',
    'forbid',
    'truncate',
  ] as const),
];
/** What goes wrong until `heal`. */
export const OUTAGES = ['slow', 'refuse', 'silence', 'half-open'] as const;
export type Trouble = (typeof BLOWS)[number] | (typeof OUTAGES)[number];

/** What a server never sends: bookmarks, the end of a streaming list, or versions. */
export const MANNERS = ['all', 'all', 'no bookmarks', 'no ends', 'no versions'] as const;
export type Manner = (typeof MANNERS)[number];

/** The numbers choose among places, and among contents or forms of a trouble. */
export type Act<K extends string = Write | Trouble | 'heal'> = readonly [K, number, number];

/** Acts of these kinds. One that is given twice is twice as frequent. */
export function actOf<K extends string>(...kinds: readonly K[]): fc.Arbitrary<Act<K>> {
  return fc.tuple(fc.constantFrom(...kinds), fc.nat(11), fc.nat(59));
}

/** Draws an act for a campaign of seeds. */
export function drawAct<K extends string>(kinds: readonly K[], random: () => number): Act<K> {
  const below = (bound: number) => Math.floor(random() * bound);
  return [kinds[below(kinds.length)] as K, below(60), below(60)];
}

const CROWD = 200;
/** More levels than a message between threads can have, and fewer than JSON can have. */
const LEVELS = 3_000;
const FAT = 'x'.repeat(2 ** 20);
const STATUSES = [429, 500, 503, 504] as const;

function nested(levels: number): object {
  let value = {};
  for (let level = 0; level < levels; level++) value = { value };
  return value;
}

export interface Place {
  readonly namespace: string;
  readonly name: string;
}

export interface ClusterOptions<T> {
  readonly resource: Resource<T & KubernetesObject>;
  readonly places: readonly Place[];
  /** What an object has besides its name. */
  readonly contentOf: (n: number) => object;
  readonly manner?: Manner | undefined;
  /** How long a slow server takes at the most, in milliseconds. Lives whose steps are short want less. */
  readonly slowMs?: number;
}

export class ChangingCluster<T> {
  readonly server: FakeApiServer;
  /** The fetch of clients, which omits what the server never sends. */
  readonly fetch: typeof globalThis.fetch;
  readonly #options: ClusterOptions<T>;
  readonly #outages: { heal(): void }[] = [];

  constructor(server: FakeApiServer, options: ClusterOptions<T>) {
    this.server = server;
    this.#options = options;
    const { manner = 'all' } = options;
    if (manner === 'no bookmarks') server.faults.withoutBookmarks();
    if (manner === 'no ends') server.faults.withoutInitialEventsEnd();
    this.fetch = manner === 'no versions' ? withoutVersions(server.fetch) : server.fetch;
  }

  /** The objects that exist, in the order of a list. */
  get objects(): readonly (T & KubernetesObject)[] {
    return this.server.objects.list(this.#options.resource);
  }

  act([kind, at, n]: Act): void {
    const { places } = this.#options;
    const place = places[at % places.length] as Place;
    if (kind === 'heal') for (const outage of this.#outages.splice(0)) outage.heal();
    else if (!this.#write(kind, place, n)) this.#trouble(kind as Trouble, n);
  }

  #write(kind: string, place: Place, n: number): boolean {
    const { resource } = this.#options;
    const { objects } = this.server;
    const put = (at: Place, more: object = {}) => {
      const metadata = { ...at, labels: { form: String(n % 3) } };
      objects.apply(resource, [{ metadata, ...this.#options.contentOf(n), ...more } as never]);
    };
    const remove = (metadata: Place) => {
      if (objects.get(resource, metadata) !== undefined) objects.delete(resource, metadata);
    };
    const all = objects.list(resource);
    const existing = (all[n % Math.max(1, all.length)]?.metadata ?? place) as Place;
    if (kind === 'put') put(place);
    else if (kind === 'touch') put({ namespace: existing.namespace, name: existing.name });
    else if (kind === 'deepen') put(place, { spec: nested(LEVELS) });
    else if (kind === 'fatten') put(place, { spec: { fat: FAT } });
    else if (kind === 'delete') remove(existing);
    else if (kind === 'recreate') {
      remove(place);
      put(place);
    } else if (kind === 'crowd') {
      for (let count = 0; count < CROWD; count++) put({ ...place, name: `${place.name}-${count}` });
    } else if (kind === 'purge') {
      for (const { metadata } of objects.list(resource, place.namespace)) remove(metadata as Place);
    } else return false;
    return true;
  }

  #trouble(kind: Trouble, n: number): void {
    const { faults, objects } = this.server;
    const use = (['list', 'watch'] as const)[n % 2] ?? 'list';
    if (kind === 'close') faults.closeWatches();
    else if (kind === 'drop') faults.dropWatches();
    else if (kind === 'cut') faults.cutWatches(n * 10, undefined, { clean: n % 2 === 0 });
    else if (kind === 'repeat') faults.repeatEvents(1 + (n % 3));
    else if (kind === 'compact') objects.compact();
    else if (kind === 'expire') {
      objects.compact();
      faults.expireWatches();
    } else if (kind === 'fail') {
      faults.failNext({ use }, { status: STATUSES[n % 4] as number, times: 1 + (n % 3) });
    } else if (kind === 'forbid') faults.failNext({}, { status: 403, times: 1 + (n % 3) });
    else if (kind === 'truncate') faults.truncateNext({ use }, { keepBytes: n * 10 });
    else this.#outages.push(this.#outage(kind, n));
  }

  #outage(kind: (typeof OUTAGES)[number], n: number): { heal(): void } {
    const { faults } = this.server;
    if (kind === 'slow') return faults.delay((n / 60) * (this.#options.slowMs ?? 3_000));
    if (kind === 'silence') return faults.silence({ use: 'watch' });
    if (kind === 'half-open') return faults.halfOpen({ use: 'watch' });
    faults.dropWatches();
    const refusal = faults.refuse();
    return {
      // No watch has seen what happened meanwhile, and some servers do not know it any more.
      heal: () => {
        for (const write of ['delete', 'delete', 'put', 'recreate'] as const)
          this.act([write, n++, n]);
        if (n % 2 === 0) this.server.objects.compact();
        refusal.heal();
      },
    };
  }
}

/** A server whose objects and lists have no versions, like some of those behind an aggregator. */
function withoutVersions(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  const cut = (text: string) => text.replace(/"resourceVersion":"\d+"/g, '"resourceVersion":"0"');
  return async (input, init) => {
    const { body, status, headers } = await fetch(input, init);
    let rest = '';
    const decoder = new TextDecoder();
    const whole = new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, to) {
        const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) to.enqueue(new TextEncoder().encode(`${cut(line)}\n`));
      },
      flush: (to) => to.enqueue(new TextEncoder().encode(cut(rest))),
    });
    return new Response(body?.pipeThrough(whole) ?? null, { status, headers });
  };
}
