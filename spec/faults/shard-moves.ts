/**
 * Shard ranges that change at random, and what the judge knows of them. The hash is computed here again, so that a wrong hash
 * of the library shows.
 */
import type { ShardFilterBy, ShardRange } from 'rx-informer';
import { BehaviorSubject, type SchedulerLike } from 'rxjs';
import type { Shards, Thing } from './judge.ts';

const SLOTS = 64;

/** FNV-1a with 64 bits, of ASCII. */
function hashOf(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const character of text) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(character.charCodeAt(0))) * 0x100000001b3n);
  }
  return hash;
}

function boundOf(slot: number): string {
  return `0x${(BigInt(slot) << 58n).toString(16).padStart(16, '0')}`;
}

export interface MovesOptions {
  readonly by: ShardFilterBy;
  readonly random: () => number;
  readonly scheduler: SchedulerLike;
  /** The average time between two moves, in milliseconds. */
  readonly meanMs: number;
  /** The namespaces, or the UIDs of the owners; by UID all slots are drawn. */
  readonly texts: readonly string[];
}

/** The UIDs of the owners that objects have. */
export const OWNERS: readonly string[] = ['web-1', 'db-7', 'cache-3', 'mail-9', 'jobs-4'];

function controllerOf({ metadata }: Thing): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

export interface Moves extends Shards {
  readonly by: ShardFilterBy;
  readonly ranges$: BehaviorSubject<readonly ShardRange[]>;
  /** When the ranges have changed. */
  readonly times: readonly number[];
  start(): void;
  /** Makes no further move. */
  stop(): void;
}

export function createMoves(options: MovesOptions): Moves {
  const { by, random, scheduler, meanMs, texts } = options;
  const slotOf = (text: string) => Number(hashOf(text) >> 58n);
  const ofThing = (thing: Thing): number | undefined => {
    const { uid, namespace = '' } = thing.metadata;
    const text = by === 'owner' ? controllerOf(thing) : by === 'uid' ? uid : namespace;
    return text === undefined ? undefined : slotOf(text);
  };
  /** By owner, an object may move between shards at any time, so how often it did is not known. */
  const times = (counts: ReadonlyMap<number, number>, thing: Thing) =>
    by === 'owner' ? Number.POSITIVE_INFINITY : (counts.get(ofThing(thing) as number) ?? 0);
  const all = Array.from({ length: SLOTS }, (_, slot) => slot);
  const drawn = (): number[] => {
    const how = random();
    if (how < 0.08) return [];
    if (how < 0.2) return all;
    const chance = 0.2 + 0.6 * random();
    const some = all.filter(() => random() < chance);
    if (by === 'uid') return some;
    // So that each of them comes and goes as often as a slot.
    const own = texts.filter(() => random() < chance).map(slotOf);
    return [...new Set([...some.filter((slot) => !texts.map(slotOf).includes(slot)), ...own])];
  };
  /** One range per slot, in any order: the informer must join them. */
  const rangesOf = (slots: readonly number[]) =>
    slots.map((slot) => ({ start: boundOf(slot), end: boundOf(slot + 1) }));
  let held = new Set(drawn());
  const came = new Map<number, number>([...held].map((slot) => [slot, 1]));
  const went = new Map<number, number>();
  const moved: number[] = [];
  const ranges$ = new BehaviorSubject<readonly ShardRange[]>(rangesOf([...held]));
  const count = (counts: Map<number, number>, slot: number) =>
    counts.set(slot, (counts.get(slot) ?? 0) + 1);
  const move = () => {
    const next = new Set(drawn());
    for (const slot of held) if (!next.has(slot)) count(went, slot);
    for (const slot of next) if (!held.has(slot)) count(came, slot);
    held = next;
    moved.push(scheduler.now());
    ranges$.next(rangesOf([...next]));
  };
  let isStopped = false;
  const again = () => {
    if (isStopped) return;
    // Some moves follow each other before the first list is answered.
    for (let moves = random() < 0.3 ? 2 : 1; moves > 0; moves--) move();
    scheduler.schedule(again, -Math.log(1 - random()) * (random() < 0.2 ? meanMs / 50 : meanMs));
  };
  return {
    ...{ by, ranges$, times: moved, movesObjects: by === 'owner' },
    holds: (thing) => held.has(ofThing(thing) ?? -1),
    came: (thing) => times(came, thing),
    went: (thing) => times(went, thing),
    start: () => void scheduler.schedule(again, random() * meanMs),
    stop: () => {
      isStopped = true;
    },
  };
}
