/** Tests warm starts with random lives: restarts, crashes, restored servers, expired versions, refusals and changed settings. */
import { describe, expect, it } from 'vitest';
import { campaign } from '../support/campaign.ts';
import { live } from './lives.ts';

const LIVES = { name: 'PERSIST', seeds: 150, command: 'spec/persist/lives.spec.ts' };

describe('random lives', () => {
  it('P21: the informer and its store equal the server after healing, at every version that is shown as synced', async () => {
    const { wrong, seen, isReplay } = await campaign(LIVES, live);
    expect(wrong).toEqual([]);
    if (isReplay) return;
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
