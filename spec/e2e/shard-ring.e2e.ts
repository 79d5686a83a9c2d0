/**
 * A controller in shards on a real kube-apiserver: one of its processes is killed, others come and go. etcd orders the writes of all
 * kinds, so the owner of each slot at each write is known.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/patience.ts';
import { ShardRing } from './shard-ring.ts';

const FOOS = 75;
const LEASE_MS = 10_000;

describe('a controller in shards', () => {
  let ring: ShardRing;
  beforeAll(async () => {
    ring = await ShardRing.open();
  });
  beforeEach(() => ring.begin());
  afterEach(() => ring.end());
  afterAll(() => ring?.close());

  it('H20: of 4 replicas one is killed: every slot is owned again; replicas come and go; no write is made by a member that does not own the slot', async () => {
    const made = ring.createFoos(FOOS);
    for (let at = 0; at < 4; at++) ring.start(LEASE_MS);
    await ring.allOwned();
    await made;
    await ring.allWritten();
    const { replicas } = ring;
    await replicas[0]?.kill();
    await ring.allOwned();
    await ring.change(FOOS, async () => {
      ring.start(LEASE_MS);
      await eventually(() => (replicas[4]?.slots.length ?? 0) > 0, 'the fifth replica has slots');
      expect(await replicas[1]?.end()).toBe(0);
      ring.start(LEASE_MS);
      await replicas[2]?.kill();
    });
  });
});
