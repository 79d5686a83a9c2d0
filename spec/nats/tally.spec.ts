import { describe, expect, it } from 'vitest';
import { Tally } from '../../lib/nats/tally.ts';

/** A tally of states, given as pairs. */
function tallyOf(states: Iterable<readonly [key: string, state: string]>): Tally {
  const tally = new Tally();
  for (const [key, state] of states) tally.replace(key, undefined, state);
  return tally;
}

describe('a tally', () => {
  it('J3: has the same digest for the same states, whatever the order of the changes was', () => {
    const changed = new Tally();
    const states = new Map<string, string>();
    let seed = 7;
    const random = (below: number) => {
      seed = (Math.imul(seed, 48271) >>> 0) % 2147483647;
      return seed % below;
    };
    for (let step = 0; step < 5_000; step++) {
      const key = `shop/pod-${random(50)}`;
      const state = random(3) === 0 ? undefined : `uid-${random(4)}/${random(1_000)}`;
      changed.replace(key, states.get(key), state);
      if (state === undefined) states.delete(key);
      else states.set(key, state);
    }
    const fresh = tallyOf([...states].reverse());
    expect(changed.digest).toBe(fresh.digest);
    expect(changed.count).toBe(states.size);
    for (const key of states.keys()) changed.replace(key, states.get(key), undefined);
    expect(changed.digest).toBe('0'.repeat(16));
  });

  it('J3: has another digest for each similar set of states', () => {
    const digests = new Set<string>();
    let sets = 0;
    for (let a = 0; a < 150; a++) {
      for (let b = 0; b < 150; b++) {
        const pair = [
          ['shop/a', `uid-a/${1000 + a}`],
          ['shop/b', `uid-b/${1000 + b}`],
        ] as const;
        digests.add(tallyOf(pair).digest);
        sets++;
      }
    }
    expect(digests.size).toBe(sets);
  });

  it('J3: two objects that exchange their states are found', () => {
    const before = tallyOf([['shop/a', 'u/1'], ['shop/b', 'u/2']]); // biome-ignore format: one line
    const after = tallyOf([['shop/a', 'u/2'], ['shop/b', 'u/1']]); // biome-ignore format: one line
    expect(before.digest).not.toBe(after.digest);
  });

  it('J3: a copy does not follow the changes of the original', () => {
    const tally = tallyOf([['shop/a', 'u/1']]);
    const copy = tally.copy();
    tally.replace('shop/a', 'u/1', 'u/2');
    expect(copy.digest).toBe(tallyOf([['shop/a', 'u/1']]).digest);
    expect(copy.digest).not.toBe(tally.digest);
  });
});
