/** Chance that comes again: all that a seed decides is drawn from one generator. */
import { seededRandom } from 'rx-informer/testing';

/** Draws of one seed. */
export interface Dice {
  /** In [0, 1). */
  readonly random: () => number;
  /** A whole number in [0, below). */
  below(below: number): number;
  /** True so often. */
  chance(probability: number): boolean;
  pick<V>(values: readonly V[]): V;
  /** One of the names, each as often as its weight says. */
  weighed<N extends string>(weights: Readonly<Record<N, number>>): N;
}

/** The generator of a seed; `salt` gives another stream of the same seed. */
export function diceOf(seed: number, salt = 0): Dice {
  const random = seededRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(salt + 1, 0x85ebca6b));
  const below = (limit: number) => Math.floor(random() * limit);
  return {
    random,
    below,
    chance: (probability) => random() < probability,
    pick: (values) => {
      if (values.length === 0) throw new TypeError('nothing to pick from');
      return values[below(values.length)] as (typeof values)[number];
    },
    weighed: (weights) => {
      const entries = Object.entries(weights) as [keyof typeof weights, number][];
      let left = random() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [name, weight] of entries) {
        left -= weight;
        if (left < 0) return name;
      }
      return (entries[0] as (typeof entries)[number])[0];
    },
  };
}
