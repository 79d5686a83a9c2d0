/** Hours of virtual time: the audit finds no difference if nothing was lost, and repairs every loss in time. */
import { exponentialBackoff } from 'rx-informer';
import { createFaultMachine, seededRandom } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { compressions } from '../delta/compressions.ts';
import { createHistory } from '../faults/history.ts';
import { Truth } from '../faults/judge.ts';
import { campaign, seedsOf } from '../support/campaign.ts';
import { type AuditRig, auditRig, BOOKMARK_MS, PERIOD_MS } from './rig.ts';

/** CI plays more worlds, with `AUDIT_SEEDS`. */
const HOURS = { name: 'AUDIT', seeds: 2, command: 'spec/audit/hours.spec.ts' };
const SEEDS = seedsOf('AUDIT', HOURS.seeds).length;

const HOUR_MS = 3_600_000;
const auditOf = ({ informer }: AuditRig) => {
  const { audit } = informer.status;
  const none = { compared: 0, differed: -1, differedKeys: [] };
  return typeof audit === 'object' ? audit : none;
};

async function world(seed: number) {
  const random = seededRandom(seed * 7 + 1);
  const refused = new Map<string, number>();
  const rig = await auditRig({
    seed,
    objects: 20,
    scopes: random() < 0.3 ? [{ namespace: 'a' }, { namespace: 'b' }] : [{}],
    informer: {
      backoff: exponentialBackoff({ baseMs: 100, capMs: 2_000 }),
      compression: compressions[random() < 0.5 ? 'latest' : 'none'],
      // An index function that sometimes refuses an object three times and then accepts it.
      indexers: {
        unreliable: ({ metadata }) => {
          const key = metadata.name;
          const left = refused.get(key) ?? (random() < 0.05 ? 3 : 0);
          refused.set(key, Math.max(0, left - 1));
          if (left > 0) throw new Error('refused by the index');
          return [];
        },
      },
      resyncPeriodMs: 30_000,
    },
  });
  const history = createHistory({
    server: rig.server,
    truth: new Truth(),
    random,
    restores: false,
    huge: false,
  });
  const meanMs = 200 + random() * 5_000;
  const write = () => {
    history.step();
    rig.time.schedule(write, -Math.log(1 - random()) * meanMs);
  };
  rig.time.schedule(write, 0);
  return { rig, random, history };
}

describe('hours of an informer with an audit', () => {
  it('S27: an hour of writes and faults causes no difference', async () => {
    let compared = 0;
    const { wrong } = await campaign(HOURS, async (seed) => {
      const { rig, random } = await world(seed);
      const machine = createFaultMachine(rig.server, {
        seed,
        scheduler: rig.time,
        depths: ['http', 'stream'],
        meanMs: 20_000,
        maxForMs: 100_000,
      });
      rig.informer.start();
      if (seed > 1) machine.start();
      await rig.time.advance(HOUR_MS * (0.9 + random() * 0.2));
      const { differed, differedKeys } = auditOf(rig);
      compared += auditOf(rig).compared;
      machine.heal();
      await rig.informer.stop();
      return { wrong: differed === 0 ? [] : (differedKeys ?? []).map((key) => `${key} differs`) };
    });
    expect(wrong).toEqual([]);
    expect(compared).toBeGreaterThan(160 * SEEDS);
  }, 120_000);

  it('I90: every event that a watch loses silently is repaired within one period after a later version', async () => {
    let lost = 0;
    let repaired = 0;
    const { wrong } = await campaign(HOURS, async (seed) => {
      const { rig } = await world(seed);
      rig.informer.start();
      await rig.time.advance(5_000);
      const loss = rig.server.faults.loseEvents(25);
      const wrongSince = new Map<string, number>();
      for (let second = 0; second < 3_600; second++) {
        await rig.time.advance(1_000);
        const now = new Set(rig.wrong().filter((key) => !rig.informer.indexer.refused.get(key)));
        for (const key of [...wrongSince.keys()]) if (!now.has(key)) wrongSince.delete(key);
        for (const key of now) {
          const sinceMs = wrongSince.get(key) ?? rig.time.now();
          wrongSince.set(key, sinceMs);
          const forMs = rig.time.now() - sinceMs;
          expect(forMs, `${key} is wrong`).toBeLessThan(BOOKMARK_MS + PERIOD_MS);
        }
      }
      lost += loss.hits;
      repaired += auditOf(rig).differed;
      await rig.informer.stop();
      return { wrong: [] };
    });
    expect(wrong).toEqual([]);
    expect(lost).toBeGreaterThan(16 * SEEDS);
    expect(repaired).toBeGreaterThan(5 * SEEDS);
  }, 120_000);
});
