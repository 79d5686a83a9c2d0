/** Reproducible randomness: one generator per seed decides everything that depends on the seed. */
import { seededRandom } from 'rx-informer/testing';

/** The random draws of one seed. */
export interface Dice {
  /** A number in [0, 1). */
  readonly random: () => number;
  /** An integer in [0, below). */
  below(below: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  pick<V>(values: readonly V[]): V;
  /** One of the names, each with the probability of its weight. */
  weighed<N extends string>(weights: Readonly<Record<N, number>>): N;
}

/** Creates the generator of a seed; `salt` gives another stream of the same seed. */
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
