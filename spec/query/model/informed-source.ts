/** A source of a random pipeline: the objects of an informer under one value of an index. */
import { ApiError, createSharedInformer, liveIndex, type WatchEvent } from 'rx-informer';
import { VirtualTime } from '../../rx/virtual-time.ts';
import { type Pod, scriptedListWatch } from '../../support/scripted-list-watch.ts';
import type { Item, ListedItem, Step } from '../world.ts';
import { Parameter } from './parameter.ts';
import type { Sets } from './step.ts';

type Served = Pod & Item;
const VALUES = ['a', 'b', 'c', 'even', '__proto__', ''];

export class InformedSource {
  /** The objects under the value of the index, by name. */
  get items(): Map<string, Item> {
    const value = this.#value.value;
    const under = [...this.#objects].filter(([, object]) => indexed(object).includes(value));
    return new Map(under);
  }

  readonly changes$: Sets;
  readonly #value: Parameter<string>;
  readonly #objects = new Map<string, Served>();
  readonly #time = new VirtualTime();
  readonly #listWatch = scriptedListWatch();
  readonly #informer = createSharedInformer(this.#listWatch as never, {
    indexers: { byGroup: indexed as never },
    scheduler: this.#time,
    backoff: () => 0,
    mutationGuard: 'off',
  });
  #version = 1;
  #uids = 0;
  #isListing = false;
  readonly #late: (() => void)[] = [];

  constructor(start: number) {
    this.#value = new Parameter(VALUES, start, true, false);
    this.changes$ = liveIndex(this.#informer, 'byGroup', this.#value.given) as unknown as Sets;
    this.#informer.start();
    this.#listWatch.listed(this.#version);
  }

  get synced(): boolean {
    return true;
  }

  commit(steps: readonly Step[]): void {
    this.#write(() => this.#commit(steps));
  }

  #commit(steps: readonly Step[]): void {
    const events: WatchEvent<Pod>[] = [];
    for (const { name, what, n, group } of steps) {
      const before = this.#objects.get(name);
      if (what === 'again') continue;
      if (what === 'delete' || (what === 'recreate' && n % 2 === 0)) {
        if (before === undefined) continue;
        this.#objects.delete(name);
        const { uid } = before.metadata;
        const object = this.#served(name, uid, before.n, before.group);
        const { resourceVersion } = object.metadata;
        events.push({ type: 'DELETED', key: name, object, resourceVersion });
      }
      if (what === 'delete') continue;
      const kept = what === 'set' ? before?.metadata.uid : undefined;
      const now = this.#served(name, kept ?? `u${this.#uids++}`, n, group);
      this.#objects.set(name, now);
      const type = before === undefined ? 'ADDED' : 'MODIFIED';
      events.push({ type, key: name, object: now });
    }
    this.#listWatch.send(...events);
  }

  /** Lists everything after the watch has expired. */
  reset(items: readonly ListedItem[]): void {
    this.#write(() => this.#reset(items));
  }

  #reset(items: readonly ListedItem[]): void {
    const before = new Map(this.#objects);
    this.#objects.clear();
    for (const { name, n, isNew = false } of items) {
      const former = isNew ? undefined : before.get(name);
      const uid = former?.metadata.uid ?? `u${this.#uids++}`;
      this.#objects.set(name, former?.n === n ? former : this.#served(name, uid, n, 'a'));
    }
    this.#version++;
    this.#isListing = true;
    this.#listWatch.listed(this.#version, ...this.#objects.values());
    this.#listWatch.fail(ApiError.fromStatus({ code: 410, reason: 'Expired' }, 410));
  }

  /** Lets the list arrive that a reset has announced. */
  settle(): void {
    while (this.#isListing) {
      this.#time.elapse(1);
      this.#isListing = false;
      // Until one of them is a list again.
      while (!this.#isListing && this.#late.length > 0) this.#late.shift()?.();
    }
  }

  /** While a list is on its way there is no watch. */
  #write(write: () => void): void {
    if (this.#isListing) this.#late.push(() => this.#write(write));
    else write();
  }

  setSynced(): void {
    // An informer that is synced stays so.
  }

  turn(to: number): void {
    this.#value.turn(to);
  }

  complete(): void {
    void this.#informer.stop();
  }

  #served(name: string, uid: string, n: number, group: string): Served {
    const resourceVersion = String(++this.#version);
    return { metadata: { name, uid, resourceVersion } as Pod['metadata'], n, group };
  }
}

function indexed({ n, group }: Served): string[] {
  return n % 2 === 0 ? [group, 'even'] : [group];
}
