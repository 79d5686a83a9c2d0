/**
 * The judge. It knows the truth, which is the recorded history of the server, and the notifications of each consumer.
 * Of the library it uses types only. Its rules:
 *
 * - For one UID a consumer receives add → update* → delete. A second addition needs a reason on the server: a
 *   label that left the selector and came back, or a restored backup.
 * - Every delivered state is a state that the server had for that UID, and the versions of a UID never decrease.
 * - An object that is delivered as deleted does not exist on the server.
 * - An object is delivered as left at most as often as its shard has left, and again only if its shard has come back.
 * - In the end the folded notifications, the store and its indices are equal to the truth.
 * - A consumer that left is not notified.
 * - The client stays within its budget of requests: see `budget.ts`.
 */
import { isDeepStrictEqual } from 'node:util';
import type { IndexerReader, KubernetesObject } from 'rx-informer';

/** An object as the server holds it. */
export interface Thing extends KubernetesObject {
  readonly metadata: NonNullable<KubernetesObject['metadata']> & {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
}

/** Selects the objects that a consumer should have. */
export type Selects = (thing: Thing) => boolean;

/** The shards of an informer, which come and go. */
export interface Shards {
  /** Whether the informer owns the shard of the object now. */
  holds(thing: Thing): boolean;
  /** How often the shard of the object has come. */
  came(thing: Thing): number;
  /** How often it has left. */
  went(thing: Thing): number;
  /** Whether an object may move from one shard to another. For a moment it may then be shown in an older state. */
  readonly movesObjects: boolean;
}

interface Life {
  /** The states in order; `thing` is `undefined` if the object was deleted. */
  readonly states: { readonly version: bigint; readonly epoch: number; readonly thing?: Thing }[];
}

const versionOf = ({ metadata }: Thing) => BigInt(metadata.resourceVersion);
const shown = ({ metadata }: Thing) =>
  `${metadata.namespace ?? ''}/${metadata.name} ${metadata.uid}@${metadata.resourceVersion}`;

/** The recorded history of the server. */
export class Truth {
  readonly now: Map<string, Thing> = new Map();
  readonly #lives = new Map<string, Life>();
  /** When each UID was last written or deleted, in milliseconds. */
  readonly #changedMs = new Map<string, number>();
  readonly #nowMs: () => number;
  /** The number of times that the server restored a backup. */
  epoch = 0;

  constructor(nowMs: () => number = () => 0) {
    this.#nowMs = nowMs;
  }

  wrote(thing: Thing): void {
    this.now.set(thing.metadata.uid, thing);
    this.#changed(thing.metadata.uid);
    this.#life(thing.metadata.uid).states.push({
      version: versionOf(thing),
      epoch: this.epoch,
      thing,
    });
  }

  deleted(uid: string, version: string): void {
    this.now.delete(uid);
    this.#changed(uid);
    this.#life(uid).states.push({ version: BigInt(version), epoch: this.epoch });
  }

  /** The UIDs that were last written or deleted at this time or before. */
  changedBefore(atMs: number): string[] {
    return [...this.#changedMs].filter(([, changedMs]) => changedMs <= atMs).map(([uid]) => uid);
  }

  #changed(uid: string): void {
    this.#changedMs.set(uid, this.#nowMs());
  }

  /** Records that the server restored a backup with these objects, at this version. */
  restored(things: readonly Thing[], version: string): void {
    this.epoch++;
    const before = new Set(this.now.keys());
    this.now.clear();
    for (const thing of things) {
      before.delete(thing.metadata.uid);
      this.wrote(thing);
    }
    for (const uid of before) this.deleted(uid, version);
  }

  #life(uid: string): Life {
    let life = this.#lives.get(uid);
    if (life === undefined) {
      life = { states: [] };
      this.#lives.set(uid, life);
    }
    return life;
  }

  /** Returns the state of a UID at a version. */
  state(uid: string, version: bigint): Thing | undefined {
    const states = this.#lives.get(uid)?.states ?? [];
    return states.find((state) => state.version === version && state.thing !== undefined)?.thing;
  }

  /** Returns the first epoch, from the given one on, in which a UID had a version. */
  epochOf(uid: string, version: bigint, from: number): number | undefined {
    const states = this.#lives.get(uid)?.states ?? [];
    return states.find(
      (state) => state.epoch >= from && state.version === version && state.thing !== undefined,
    )?.epoch;
  }

  /** Whether a UID was deleted or not selected at some time after one version and up to another. */
  wasAway(
    uid: string,
    selects: Selects,
    after: bigint,
    until: bigint,
    sinceEpoch: number,
  ): boolean {
    if (this.epoch > sinceEpoch) return true;
    const states = this.#lives.get(uid)?.states ?? [];
    return states.some(
      ({ version, thing }) =>
        version > after && version <= until && (thing === undefined || !selects(thing)),
    );
  }
}

const FOREVER = 2n ** 63n;

/** The last notification about a UID. */
interface Last {
  readonly version: bigint;
  /** The version of the last state in which the object existed. */
  readonly alive: bigint;
  readonly epoch: number;
  readonly ended: boolean;
}

/** The notifications of one consumer. */
export class Story {
  readonly name: string;
  readonly #truth: Truth;
  readonly #selects: Selects;
  readonly #wrong: string[];
  readonly has: Map<string, Thing> = new Map();
  readonly #last = new Map<string, Last>();
  readonly #shards: Shards | undefined;
  /** How often each UID has left with its shard. */
  readonly #moved = new Map<string, number>();
  #left = false;
  notified = 0;

  constructor(name: string, truth: Truth, selects: Selects, wrong: string[], shards?: Shards) {
    this.name = name;
    this.#truth = truth;
    this.#selects = selects;
    this.#wrong = wrong;
    this.#shards = shards;
  }

  fail(what: string): void {
    this.#wrong.push(`${this.name}: ${what}`);
  }

  /** The consumer leaves and must not be notified any more. */
  leave(): void {
    this.#left = true;
  }

  /** The consumer returns. */
  join(): void {
    this.#left = false;
  }

  get left(): boolean {
    return this.#left;
  }

  /** A reset: the consumer receives all objects again. */
  reset(): void {
    this.#hear('a reset');
    this.has.clear();
  }

  #hear(what: string): void {
    this.notified++;
    if (this.#left) this.fail(`${what} after the consumer left`);
  }

  #state(thing: Thing, what: string): void {
    const state = this.#truth.state(thing.metadata.uid, versionOf(thing));
    if (state === undefined) this.fail(`${what} ${shown(thing)}: the server never had this state`);
    else if (!isDeepStrictEqual(thing, state)) {
      this.fail(`${what} ${shown(thing)}: differs from the state of the server`);
    } else if (!this.#selects(state)) this.fail(`${what} ${shown(thing)}: not selected`);
  }

  #move(thing: Thing, what: string): void {
    const { uid } = thing.metadata;
    const version = versionOf(thing);
    const last = this.#last.get(uid);
    // A version that is older than the last one must be of a later epoch.
    const back = last !== undefined && version < last.version ? 1 : 0;
    const epoch = this.#truth.epochOf(uid, version, (last?.epoch ?? 0) + back);
    if (epoch === undefined && last !== undefined) {
      this.fail(`${what} ${shown(thing)}: already at version ${last.version}`);
    }
    this.#last.set(uid, {
      version,
      alive: version,
      epoch: epoch ?? this.#truth.epoch,
      ended: false,
    });
  }

  add(object: KubernetesObject): void {
    const thing = object as Thing;
    const { uid } = thing.metadata;
    this.#hear(`add ${shown(thing)}`);
    if (this.has.has(uid)) this.fail(`add ${shown(thing)}: the consumer already has the object`);
    const last = this.#last.get(uid);
    const version = versionOf(thing);
    if ((this.#shards?.came(thing) ?? 1) <= (this.#moved.get(uid) ?? 0)) {
      this.fail(`add ${shown(thing)}: its shard has left and has not come back`);
    }
    if (last?.ended && !this.#truth.wasAway(uid, this.#selects, last.alive, version, last.epoch)) {
      this.fail(`add ${shown(thing)}: deleted before, but it was never away`);
    }
    if (last?.ended && version === last.version && this.#truth.epoch === last.epoch) {
      this.fail(`add ${shown(thing)}: deleted before at this version`);
    }
    this.#state(thing, 'add');
    this.#move(thing, 'add');
    this.has.set(uid, thing);
  }

  update(before: KubernetesObject, object: KubernetesObject): void {
    const thing = object as Thing;
    const { uid } = thing.metadata;
    this.#hear(`update ${shown(thing)}`);
    const had = this.has.get(uid);
    if (had === undefined)
      this.fail(`update ${shown(thing)}: the consumer does not have the object`);
    else if (had !== before)
      this.fail(`update ${shown(thing)}: previous is not the last state of the consumer`);
    if ((before as Thing).metadata.uid !== uid) {
      this.fail(`update ${shown(thing)}: previous is ${shown(before as Thing)}`);
    }
    // A restored backup may deliver the same state again.
    const again = before === object || this.#last.get(uid)?.epoch !== this.#truth.epoch;
    const isSame = !again && had !== undefined && versionOf(had) === versionOf(thing);
    // A busy consumer is told nothing in between if the object left and came back.
    if (isSame && !this.#hasLeft(thing)) {
      this.fail(`update ${shown(thing)}: to the same version`);
    }
    this.#state(thing, 'update');
    this.#move(thing, 'update');
    this.has.set(uid, thing);
  }

  delete(uid: string, before: KubernetesObject, lastState: KubernetesObject): void {
    const last = lastState as Thing;
    this.#hear(`delete ${shown(last)}`);
    const had = this.has.get(uid);
    if (had === undefined) this.fail(`delete ${uid}: the consumer does not have the object`);
    else if (had !== before)
      this.fail(`delete ${uid}: previous is not the last state of the consumer`);
    if (last.metadata.uid !== uid) this.fail(`delete ${uid}: delivered with ${shown(last)}`);
    if (had !== undefined) {
      const { epoch = 0 } = this.#last.get(uid) ?? {};
      if (!this.#truth.wasAway(uid, this.#selects, versionOf(had), FOREVER, epoch)) {
        this.fail(`delete ${shown(had)}: the object still exists`);
      }
      if (versionOf(last) < versionOf(had) && epoch === this.#truth.epoch) {
        this.fail(`delete ${shown(had)}: its last state is ${shown(last)}`);
      }
    }
    const version = versionOf(last);
    const alive = had === undefined ? version : versionOf(had);
    const { epoch } = this.#last.get(uid) ?? this.#truth;
    this.#last.set(uid, { version, alive, epoch, ended: true });
    this.has.delete(uid);
  }

  /** Whether the shard of the object has left once more than this consumer was told. */
  #hasLeft(thing: Thing): boolean {
    const { uid } = thing.metadata;
    const times = (this.#moved.get(uid) ?? 0) + 1;
    this.#moved.set(uid, times);
    return (this.#shards?.went(thing) ?? 0) >= times;
  }

  /** The object has left with its shard. */
  move(uid: string, before: KubernetesObject, lastState: KubernetesObject): void {
    const last = lastState as Thing;
    this.#hear(`move ${shown(last)}`);
    const had = this.has.get(uid);
    if (had === undefined) this.fail(`move ${uid}: the consumer does not have the object`);
    else if (had !== before)
      this.fail(`move ${uid}: previous is not the last state of the consumer`);
    if (last.metadata.uid !== uid) this.fail(`move ${uid}: delivered with ${shown(last)}`);
    if (this.#shards?.movesObjects) this.#last.delete(uid);
    if (!this.#hasLeft(last)) this.fail(`move ${shown(last)}: its shard has not left`);
    this.has.delete(uid);
  }

  /** Checks that the folded notifications are equal to the truth. */
  finish(when: string): void {
    const shards = this.#shards;
    const selects = (thing: Thing) => this.#selects(thing) && shards?.holds(thing) !== false;
    compare(`${this.name}, ${when}`, this.has.values(), this.#truth, selects, this.#wrong);
  }
}

/** Records each difference between `things` and the truth. */
export function compare(
  what: string,
  things: Iterable<Thing>,
  truth: Truth,
  selects: Selects,
  wrong: string[],
): void {
  const left = new Map([...truth.now].filter(([, thing]) => selects(thing)));
  for (const thing of things) {
    const expected = left.get(thing.metadata.uid);
    if (expected === undefined) wrong.push(`${what}: has ${shown(thing)}, the server does not`);
    else if (!isDeepStrictEqual(thing, expected)) {
      wrong.push(`${what}: has ${shown(thing)}, the server has ${shown(expected)}`);
    }
    left.delete(thing.metadata.uid);
  }
  for (const thing of left.values()) wrong.push(`${what}: lacks ${shown(thing)}`);
}

/** Compares the store and each of its indices with the truth; `indices` are the index functions. */
export function compareStore(
  store: IndexerReader<Thing>,
  indices: Readonly<Record<string, (thing: Thing) => readonly string[]>>,
  truth: Truth,
  selects: Selects,
  when: string,
  wrong: string[],
): void {
  compare(`store, ${when}`, store.list(), truth, selects, wrong);
  const all = [...truth.now.values()].filter(selects);
  if (store.size !== all.length) wrong.push(`store, ${when}: size ${store.size} of ${all.length}`);
  for (const [name, valuesOf] of Object.entries(indices)) {
    const expected = new Map<string, string[]>();
    for (const thing of all) {
      for (const value of valuesOf(thing)) {
        expected.set(value, [...(expected.get(value) ?? []), thing.metadata.uid]);
      }
    }
    const values = [...store.listIndexFuncValues(name)].sort();
    if (!isDeepStrictEqual(values, [...expected.keys()].sort())) {
      wrong.push(`index ${name}, ${when}: values ${values} of ${[...expected.keys()]}`);
    }
    for (const [value, uids] of expected) {
      const found = store.byIndex(name, value).map(({ metadata }) => metadata.uid);
      if (!isDeepStrictEqual(found.sort(), uids.sort())) {
        wrong.push(`index ${name}=${value}, ${when}: ${found} of ${uids}`);
      }
    }
  }
}
