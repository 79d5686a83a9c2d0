/** The script of one seed for a queue, or for a rate limiter alone. */
import { type Dice, diceOf } from './dice.ts';

/** A rate limiter. Times are in milliseconds. */
export type LimiterSpec =
  | { readonly kind: 'default' | 'defaultItemBased' }
  | { readonly kind: 'exponential'; readonly baseMs: number; readonly maxMs: number }
  | {
      readonly kind: 'fastSlow';
      readonly fastMs: number;
      readonly slowMs: number;
      readonly maxFastAttempts: number;
    }
  | { readonly kind: 'bucket'; readonly qps: number; readonly burst: number }
  | { readonly kind: 'maxOf'; readonly limiters: readonly LimiterSpec[] }
  | { readonly kind: 'maxWait'; readonly maxMs: number; readonly limiters: readonly LimiterSpec[] };

/** One operation. */
export type QueueOp =
  | { readonly op: 'add' | 'addRateLimited' | 'forget' | 'when'; readonly key: string }
  | { readonly op: 'addAfter'; readonly key: string; readonly ms: number }
  | { readonly op: 'advance'; readonly ms: number }
  /** Done with the `nth` key that a worker holds, oldest first, modulo their number. */
  | { readonly op: 'done'; readonly nth: number }
  | { readonly op: 'get' | 'shutDown' | 'shutDownWithDrain' };

/** The script of a seed. */
export interface QueueScript {
  readonly seed: number;
  readonly limiter: LimiterSpec;
  /** Whether the limiter is called directly, without a queue. */
  readonly alone: boolean;
  readonly keys: readonly string[];
  readonly ops: readonly QueueOp[];
}

/** The state that is visible after an operation. */
export interface QueueView {
  /** The keys that getters received since the previous operation, sorted. */
  readonly got: readonly string[];
  /** The number of getters that were notified of the shutdown. */
  readonly ended: number;
  readonly len: number;
  readonly shuttingDown: boolean;
  /** The number of calls of shutDownWithDrain that have returned. */
  readonly drained: number;
  readonly requeues: Readonly<Record<string, number>>;
  /** The wait that the limiter returned. */
  readonly whenMs: number;
}

function limiterOf(dice: Dice, deep = 0): LimiterSpec {
  const kind = dice.weighed({
    default: 2,
    defaultItemBased: 1,
    exponential: 3,
    fastSlow: 2,
    bucket: 2,
    maxOf: deep < 2 ? 2 : 0,
    maxWait: deep < 2 ? 2 : 0,
  });
  switch (kind) {
    case 'default':
    case 'defaultItemBased':
      return { kind };
    case 'exponential':
      return { kind, baseMs: dice.pick([1, 5, 7, 100]), maxMs: dice.pick([50, 1_000, 1e6]) };
    case 'fastSlow': {
      const [fastMs, slowMs] = [1 + dice.below(20), 50 + dice.below(1_000)];
      return { kind, fastMs, slowMs, maxFastAttempts: dice.below(4) };
    }
    case 'bucket':
      return { kind, qps: dice.pick([1, 3, 10, 250]), burst: 1 + dice.below(5) };
    case 'maxOf': {
      const count = 1 + dice.below(3);
      return { kind, limiters: Array.from({ length: count }, () => limiterOf(dice, deep + 1)) };
    }
    case 'maxWait':
      return { kind, maxMs: 1 + dice.below(500), limiters: [limiterOf(dice, deep + 1)] };
  }
}

/** A script for a limiter alone, which is called repeatedly. */
export function limiterScriptOf(seed: number): QueueScript {
  const dice = diceOf(seed, 3);
  const keys = ['a', 'b', 'c'];
  const ops = Array.from({ length: 60 }, (): QueueOp => {
    const op = dice.weighed({ when: 12, forget: 2, advance: 4 });
    if (op === 'advance') return { op, ms: dice.pick([1, 20, 100, 333, 1_000, 60_000]) };
    return { op, key: dice.pick(keys) };
  });
  return { seed, limiter: limiterOf(dice), alone: true, keys, ops };
}

/**
 * A script for a queue. client-go does not define the order of keys that become ready at the same time, so the script
 * contains no such keys. Each way to shut down occurs at most once: of several calls that drain, client-go wakes only
 * one, and a second shutDown of its delaying queue does nothing and so does not end a drain.
 */
export function queueScriptOf(seed: number): QueueScript {
  const dice = diceOf(seed, 4);
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'].slice(0, 2 + dice.below(5));
  const [baseMs, maxMs] = [dice.pick([1, 5, 64]), dice.pick([100, 1_000, 1e6])];
  const tries = new Map<string, number>();
  const taken = new Set<number>();
  let nowMs = 0;
  const ending = { shutDown: false, shutDownWithDrain: false };
  const free = (delayMs: number): boolean => {
    const at = nowMs + delayMs;
    if (delayMs <= 0) return true;
    if (taken.has(at)) return false;
    taken.add(at);
    return true;
  };
  const ops: QueueOp[] = [];
  const length = 30 + dice.below(120);
  // Some calls of get wait until the end. With too many of them no key would ever stay in the queue.
  let gets = 0;
  let adds = 0;
  while (ops.length < length) {
    const op = dice.weighed({
      add: 10,
      get: gets > adds + 2 ? 0 : 8,
      done: 8,
      addAfter: 5,
      addRateLimited: 5,
      forget: 1,
      advance: 7,
      shutDown: ops.length > length - 15 && !ending.shutDown ? 0.6 : 0,
      shutDownWithDrain: ops.length > length - 25 && !ending.shutDownWithDrain ? 0.9 : 0,
    });
    const key = dice.pick(keys);
    switch (op) {
      case 'add':
        adds++;
        ops.push({ op, key });
        break;
      case 'forget':
        tries.delete(key);
        ops.push({ op, key });
        break;
      case 'addRateLimited': {
        const before = tries.get(key) ?? 0;
        if (!free(Math.min(maxMs, baseMs * 2 ** before))) break;
        tries.set(key, before + 1);
        adds++;
        ops.push({ op, key });
        break;
      }
      case 'addAfter': {
        const ms = dice.pick([-1, 0, 1, 2, 3, 10, 50, 120, 1_000]);
        if (!free(ms)) break;
        adds++;
        ops.push({ op, key, ms });
        break;
      }
      case 'advance': {
        const ms = dice.pick([1, 1, 2, 5, 20, 100, 2_000]);
        nowMs += ms;
        ops.push({ op, ms });
        break;
      }
      case 'done':
        ops.push({ op, nth: dice.below(5) });
        break;
      case 'get':
        gets++;
        ops.push({ op });
        break;
      case 'shutDown':
      case 'shutDownWithDrain':
        ending[op] = true;
        ops.push({ op });
        break;
    }
  }
  return {
    seed,
    limiter: { kind: 'exponential', baseMs, maxMs },
    alone: false,
    keys,
    ops,
  };
}
