/**
 * Controllers in shards on a real kube-apiserver, four replicas as processes: kills, replicas that come and go under changes, and
 * processes that are stopped for two leases. The long form: `RING_FOOS=5000 RING_STOPS=100`.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { figures } from './figures.ts';
import type { ShardReplica } from './shard-replicas.ts';
import { ShardRing } from './shard-ring.ts';

const FOOS = Number(process.env['RING_FOOS'] ?? 1_000);
const STOPS = Number(process.env['RING_STOPS'] ?? 6);
const LEASE_MS = 4_000;
/** After a kill. A slot that waits for a second lease comes 8 s later than the law's lease and 2 s, so a pause tells nothing. */
const KILL_LEASE_MS = 10_000;
/** How many keys are written again and again while processes are stopped. */
const BUSY_FOOS = 200;

describe('a controller in shards', () => {
  let ring: ShardRing;
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  beforeAll(async () => {
    ring = await ShardRing.open();
  });
  beforeEach(() => ring.begin());
  afterEach(() => ring.end());
  afterAll(() => ring?.close());

  it(
    `H20: of 4 replicas with ${FOOS} Foos one is killed: within a lease and 2 s every slot is owned again; replicas come and go; no write is made by a member that does not own the slot`,
    async () => {
      const made = ring.createFoos(FOOS);
      for (let at = 0; at < 4; at++) ring.start(KILL_LEASE_MS);
      await ring.allOwned();
      await made;
      await ring.allWritten();
      await pause(1_000);

      const { replicas, judge } = ring;
      const killedMs = performance.now();
      await replicas[0]?.kill();
      await ring.allOwned();
      const afterKillMs = performance.now() - killedMs;
      expect(afterKillMs).toBeLessThan(2 * KILL_LEASE_MS - 500);
      await ring.change(FOOS, async () => {
        ring.start(KILL_LEASE_MS);
        await pause(2_500);
        expect(await replicas[1]?.end()).toBe(0);
        ring.start(KILL_LEASE_MS);
        await pause(1_500);
        await replicas[2]?.kill();
      });
      figures('four replicas, one killed', {
        'leases until all slots were owned again': afterKillMs / KILL_LEASE_MS,
        seconds: afterKillMs / 1000,
        writes: judge.writes.length,
        'changes of the ring': judge.changes,
      });
    },
    900_000 + FOOS * 100,
  );

  it(
    `H13: ${STOPS} times a process is stopped for two leases: no write is accepted after the first write of the new owner`,
    async () => {
      const { judge } = ring;
      await ring.createFoos(BUSY_FOOS);
      for (let at = 0; at < 4; at++) ring.start(LEASE_MS, 150);
      await ring.allOwned();
      const stopped = new Set<ShardReplica>();
      let left = STOPS;
      // Three at a time, at different moments, so that one replica always runs.
      const stopper = async () => {
        while (left-- > 0) {
          await pause(Math.random() * LEASE_MS);
          const running = ring.living.filter((replica) => !stopped.has(replica));
          const victim = running[Math.floor(Math.random() * running.length)];
          if (victim === undefined) throw new Error('no replica runs');
          stopped.add(victim);
          victim.freeze();
          await pause(2 * LEASE_MS);
          victim.thaw();
          stopped.delete(victim);
        }
      };
      await Promise.all([stopper(), stopper(), stopper()]);
      expect(judge.late).toEqual([]);
      await ring.allOwned();
      expect(judge.late).toEqual([]);
      expect(new Set(judge.writes.map(({ by }) => by)).size).toBeGreaterThan(4);
      figures('processes that were stopped for two leases', {
        stops: STOPS,
        writes: judge.writes.length,
        'writes before the first one of the new owner': judge.foreign.length,
        'changes of the ring': judge.changes,
      });
    },
    600_000 + STOPS * 6_000,
  );
});
