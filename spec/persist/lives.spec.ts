/** Tests warm starts with random lives: restarts, crashes, restored servers, expired versions, refusals and changed settings. */
import { describe, expect, it } from 'vitest';
import { live } from './lives.ts';

const SEEDS = 150;

describe('random lives', () => {
  it('P21: the informer and its store equal the server after healing, at every version that is shown as synced', async () => {
    const seen = new Map<string, number>();
    const wrong: string[] = [];
    const only = Number(process.env['PERSIST_SEED'] ?? 0);
    const seeds = only > 0 ? [only] : Array.from({ length: SEEDS }, (_, at) => at + 1);
    for (const seed of seeds) {
      const lived = await live(seed);
      wrong.push(...lived.wrong);
      for (const [what, times] of lived.seen) seen.set(what, (seen.get(what) ?? 0) + times);
    }
    expect(wrong.slice(0, 5)).toEqual([]);
    if (only > 0) return;
    // Otherwise the test would show nothing about them.
    for (const what of [
      'warm',
      'cold',
      'restored',
      'compacted',
      'expired',
      'aged',
      'faults',
      'crash',
      'forbidden',
      'revoked',
      'ended while forbidden',
    ]) {
      expect([what, (seen.get(what) ?? 0) > 10]).toEqual([what, true]);
    }
  });
});
