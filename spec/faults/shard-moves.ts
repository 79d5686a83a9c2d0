/**
 * Shard ranges that change at random, and what the judge knows of them. The hash is computed here again, so that a wrong hash
 * of the library shows.
 */
import type { ShardRange } from 'rx-informer';
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
  readonly by: 'uid' | 'namespace';
  readonly random: () => number;
  readonly scheduler: SchedulerLike;
  /** The average time between two moves, in milliseconds. */
  readonly meanMs: number;
  /** The texts of which each is in a slot of its own; by UID all slots are drawn. */
  readonly namespaces: readonly string[];
}

export interface Moves extends Shards {
  readonly by: 'uid' | 'namespace';
  readonly ranges$: BehaviorSubject<readonly ShardRange[]>;
  /** When the ranges have changed. */
  readonly times: readonly number[];
  start(): void;
  /** Makes no further move. */
  stop(): void;
}

export function createMoves(options: MovesOptions): Moves {
  const { by, random, scheduler, meanMs, namespaces } = options;
  const slotOf = (text: string) => Number(hashOf(text) >> 58n);
  const ofThing = ({ metadata }: Thing) =>
    slotOf(by === 'uid' ? metadata.uid : (metadata.namespace ?? ''));
  const all = Array.from({ length: SLOTS }, (_, slot) => slot);
  const drawn = (): number[] => {
    const how = random();
    if (how < 0.08) return [];
    if (how < 0.2) return all;
    const chance = 0.2 + 0.6 * random();
    const some = all.filter(() => random() < chance);
    if (by === 'uid') return some;
    // So that each namespace comes and goes as often as a slot.
    const own = namespaces.filter(() => random() < chance).map(slotOf);
    return [...new Set([...some.filter((slot) => !namespaces.map(slotOf).includes(slot)), ...own])];
  };
  /** One range per slot, in any order: the informer must join them. */
  const rangesOf = (slots: readonly number[]) =>
    slots.map((slot) => ({ start: boundOf(slot), end: boundOf(slot + 1) }));
  let held = new Set(drawn());
  const came = new Map<number, number>([...held].map((slot) => [slot, 1]));
  const went = new Map<number, number>();
  const times: number[] = [];
  const ranges$ = new BehaviorSubject<readonly ShardRange[]>(rangesOf([...held]));
  const count = (counts: Map<number, number>, slot: number) =>
    counts.set(slot, (counts.get(slot) ?? 0) + 1);
  const move = () => {
    const next = new Set(drawn());
    for (const slot of held) if (!next.has(slot)) count(went, slot);
    for (const slot of next) if (!held.has(slot)) count(came, slot);
    held = next;
    times.push(scheduler.now());
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
    ...{ by, ranges$, times },
    holds: (thing) => held.has(ofThing(thing)),
    came: (thing) => came.get(ofThing(thing)) ?? 0,
    went: (thing) => went.get(ofThing(thing)) ?? 0,
    start: () => void scheduler.schedule(again, random() * meanMs),
    stop: () => {
      isStopped = true;
    },
  };
}
