/**
 * The phase `virtual`: an hour of virtual time with 1,000 changes per second, two faults per minute, and all
 * consumers.
 */
import { seededRandom } from 'rx-informer/testing';
import { VirtualTime } from '../rx/virtual-time.ts';
import { brief, flat, mb, type PhaseResult, type Reading, read, thousands } from './measure.ts';
import { createScene } from './scene.ts';
import { troubles } from './troubles.ts';

const PER_SECOND = 1_000;
const TICK_MS = 20;
/** The time in which everything must recover: a silence of 85 s, the longest wait after it, and the end of a watch. */
const HEALS_WITHIN_MS = 700_000;

export async function virtualPhase(minutes: number, seed: number): Promise<PhaseResult> {
  const startedMs = performance.now();
  const time = new VirtualTime();
  const random = seededRandom(seed);
  const scene = await createScene({ scheduler: time, random, keys: 2_000, haste: 1 });
  const trouble = troubles(scene.server, {
    scheduler: time,
    random: seededRandom(seed + 1),
    meanMs: 30_000,
    maxForMs: 60_000,
  });
  let writing = true;
  let ticks = 0;
  const tick = () => {
    if (!writing) return;
    scene.write((PER_SECOND * TICK_MS) / 1000);
    if (++ticks % (1000 / TICK_MS) === 0) scene.visit();
    time.schedule(tick, TICK_MS);
  };
  tick();
  const readings: Reading[] = [];
  for (let minute = 1; minute <= minutes; minute++) {
    await time.advance(60_000);
    // In the first minute the server's history and the store grow.
    if (minute >= 2) readings.push(await read(time.now()));
  }
  writing = false;
  const seconds = (performance.now() - startedMs) / 1000;
  trouble.heal();
  await time.advance(HEALS_WITHIN_MS);
  const wrong = scene.wrong();
  const thirds = flat(readings, wrong);
  const { relists, reconnects } = scene.informer.status;
  const { mostPending, writes, counts } = scene;
  if (mostPending > 4_000) wrong.push(`${mostPending} changes waited, for at most 2,000 keys`);
  await scene.end();
  await time.advance(120_000);
  if (time.pending > 0) wrong.push(`${time.pending} timers are left`);
  if (scene.server.openWatches.length > 0) wrong.push('a watch is left open');
  return {
    phase: `${minutes} virtual minutes, seed ${seed}`,
    figures: [
      ['changes', `${thousands(writes)}, ${thousands(writes / minutes / 60)} per virtual second`],
      ['throughput', `${thousands(writes / seconds)} changes per second, ${seconds.toFixed(0)} s`],
      ['faults', `${trouble.played}: ${reconnects} reconnects, ${relists} relists`],
      ['heap at minute 2', mb(readings[0]?.heapMb)],
      [`heap at minute ${minutes}`, mb(readings.at(-1)?.heapMb)],
      ['heap, minute by minute', readings.map(({ heapMb }) => heapMb.toFixed(0)).join(' ')],
      ['heap, least of the first and of the last third', thirds],
      ['most waiting changes', thousands(mostPending)],
      ['told', brief(counts)],
    ],
    wrong,
  };
}
