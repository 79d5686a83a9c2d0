/** Runs a share of the seeds on virtual time. Each share is a file, so that the shares run in parallel. */

import { type Fault, seededRandom } from 'rx-informer/testing';
import { Subscription } from 'rxjs';
import { expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { playSeeds } from '../support/campaign.ts';
import { failures, type Outcome, seedsOfShare, summary } from './outcome.ts';
import { createScene } from './scene.ts';

// Runs one seed in process and on virtual time: ten minutes of writes and faults, then time to recover, then the comparison.

/**
 * The time in which everything must recover: a lost connection is detected after 85 s, the next wait is at most 60 s,
 * a server may have requested a wait of a minute, and a watch that ends by its own timeout takes five minutes.
 */
const HEALS_WITHIN_MS = 280_000;

async function runVirtual(seed: number, sharded = false): Promise<Outcome> {
  const time = new VirtualTime();
  // Has its own source of randomness, so that existing seeds keep all other values.
  const dice = seededRandom(seed * 101 + 10);
  const hasProxy = dice() < 0.2;
  const scene = await createScene({
    seed,
    scheduler: time,
    speed: 1,
    sharded,
    holdsBack: hasProxy,
    depths: ['http', 'stream'],
    // If a watch ends while one of two swapped events is held back, no client can detect the lost event.
    ...(hasProxy ? { without: ['swap'] } : {}),
  });
  const { random, consumers, machine, wrong, informer, server } = scene;
  const lengthMs = 300_000 + random() * 300_000;
  const stopWriting = scene.write(500 + random() * 4_000);
  scene.start();
  scene.moves?.start();
  // Half of the runs begin without faults, because faults from the first request on are another case.
  time.schedule(() => machine.start(), random() < 0.5 ? 0 : 5_000);
  for (let visits = Math.floor(random() * 3); visits > 0; visits--) {
    const forMs = random() * 200_000;
    time.schedule(() => consumers.visit(forMs), random() * lengthMs);
  }
  // Closes the demand: changes gather meanwhile, and after a minute the watch is closed.
  for (let doors = random() < 0.5 ? 1 + Math.floor(random() * 8) : 0; doors > 0; doors--) {
    const atMs = random() * lengthMs;
    time.schedule(() => scene.shut(true), atMs);
    time.schedule(() => scene.shut(false), atMs + 90_000 * random() ** 3);
  }
  const impatient = seededRandom(seed * 101 + 13);
  for (let calls = impatient() < 0.5 ? Math.floor(impatient() * 6) : 0; calls > 0; calls--) {
    time.schedule(() => void scene.refresh(), impatient() * lengthMs);
  }
  // A buffering proxy for a part of the run.
  let proxy: Fault | undefined;
  const buffers = () => {
    proxy = server.faults.holdBack({
      bytes: 2 ** (8 + Math.floor(dice() * 6)),
      head: dice() < 0.5,
    });
  };
  const [fromMs, forMs] = [dice() < 0.5 ? 0 : dice() * lengthMs, dice() * lengthMs];
  const turns = new Subscription();
  if (hasProxy) {
    turns.add(time.schedule(buffers, fromMs));
    turns.add(time.schedule(() => proxy?.heal(), fromMs + forMs));
  }
  let leftMs = lengthMs;
  for (let restarts = random() < 0.3 ? 1 + Math.floor(random() * 2) : 0; restarts > 0; restarts--) {
    const partMs = random() * leftMs;
    leftMs -= partMs;
    await time.advance(partMs);
    await scene.stop();
    await time.advance(random() * 20_000);
    scene.start();
  }
  await time.advance(leftMs);

  machine.heal();
  scene.moves?.stop();
  turns.unsubscribe();
  proxy?.heal();
  scene.recover();
  stopWriting();
  scene.shut(false);
  await time.advance(HEALS_WITHIN_MS);
  scene.compare('healed');
  scene.history.step();
  await time.advance(30_000);
  scene.compare('alive');
  const load = scene.checkBudget();

  consumers.leave();
  await informer.stop();
  const requested = scene.observed.seen.length;
  const notified = consumers.notified;
  scene.history.step();
  await time.advance(200_000);
  if (scene.observed.seen.length !== requested) wrong.push('sent a request after the stop');
  if (consumers.notified !== notified) wrong.push('notified a consumer after the stop');
  if (time.pending > 0) wrong.push(`${time.pending} timers are left`);
  if (scene.server.openWatches.length > 0) wrong.push('a watch is left open');
  return {
    seed,
    what: scene.what,
    wrong,
    writes: scene.history.writes,
    faults: machine.played.map(({ atMs, fault }) => `${Math.round(atMs)} ${JSON.stringify(fault)}`),
    requests: scene.observed.seen.length,
    notified,
    claims: scene.claims(),
    load,
  };
}

export function virtualShare(share: number, shares: number, sharded = false): void {
  const seeds = seedsOfShare(sharded ? 300 : 1000, share, shares);
  it.skipIf(seeds.length === 0)(
    `${seeds.length} seeds${sharded ? ' with moving shards' : ''} on virtual time end in the state of the server, with notifications in order and within the budget`,
    async () => {
      const startedMs = performance.now();
      const outcomes = await playSeeds(seeds, (seed) => runVirtual(seed, sharded));
      process.stdout.write(`share ${share + 1} of ${shares}: ${summary(outcomes, startedMs)}\n`);
      expect(failures(outcomes)).toBe('');
      // Runs without writes, faults or notifications would prove nothing.
      const mean = (of: (outcome: Outcome) => number) =>
        outcomes.reduce((sum, outcome) => sum + of(outcome), 0) / outcomes.length;
      if (outcomes.length < 100) return;
      expect(mean(({ writes }) => writes)).toBeGreaterThan(200);
      expect(mean(({ faults }) => faults.length)).toBeGreaterThan(30);
      expect(mean(({ notified }) => notified)).toBeGreaterThan(500);
      if (!sharded) expect(mean(({ claims = 0 }) => claims)).toBeGreaterThan(1);
    },
  );
}
