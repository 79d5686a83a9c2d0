/**
 * The phase `full-speed`: real minutes over real HTTP, with as many changes as the machine sustains and a fault every
 * few seconds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from 'rx-informer/testing';
import { asyncScheduler } from 'rxjs';
import {
  brief,
  countOf,
  flat,
  handles,
  mb,
  type PhaseResult,
  type Reading,
  read,
  thousands,
} from './measure.ts';
import { createScene } from './scene.ts';
import { troubles } from './troubles.ts';

const HASTE = 20;
const BATCH = 100;
/**
 * How many changes the writer may be ahead of the informer. Without this limit only the speed of the server would be
 * measured.
 */
const AHEAD = 1_000n;

async function until(what: string, wrong: string[], done: () => boolean): Promise<void> {
  const deadline = performance.now() + 90_000;
  while (!done() && performance.now() < deadline) await sleep(50);
  if (!done()) wrong.push(`waited 90 s without success: ${what}`);
}

export async function fullSpeedPhase(minutes: number, seed: number): Promise<PhaseResult> {
  const wrong: string[] = [];
  const before = countOf(handles());
  let close = async () => {};
  const random = seededRandom(seed);
  const scene = await createScene({
    scheduler: asyncScheduler,
    random,
    keys: 2_000,
    haste: HASTE,
    async reach(server) {
      const served = await server.serve();
      close = () => served.close();
      return { baseUrl: served.url, fetch: globalThis.fetch };
    },
  });
  const { server, informer } = scene;
  const stir = () =>
    troubles(server, {
      scheduler: asyncScheduler,
      random,
      meanMs: 30_000 / HASTE,
      maxForMs: 60_000 / HASTE,
    });
  const version = () => BigInt(server.objects.resourceVersion);
  const keepsUp = () => version() - BigInt(informer.lastSyncResourceVersion || '0') < AHEAD;
  const readings: Reading[] = [];
  const startedMs = performance.now();
  const parts = Math.max(4, Math.round(minutes * 2));
  /** The most handles of an informer at rest: those after the first part, and two for each of two idle connections. */
  let atRest = Number.POSITIVE_INFINITY;
  let busyMs = 0;
  let played = 0;
  for (let part = 1; part <= parts; part++) {
    const endMs = performance.now() + (minutes * 60_000) / parts;
    const sinceMs = performance.now();
    const trouble = stir();
    let visitedMs = 0;
    while (performance.now() < endMs) {
      if (!keepsUp()) {
        await sleep(1);
        continue;
      }
      scene.write(BATCH);
      await new Promise((resolve) => setImmediate(resolve));
      if (performance.now() - visitedMs < 1_000 / HASTE) continue;
      visitedMs = performance.now();
      scene.visit();
    }
    busyMs += performance.now() - sinceMs;
    played += trouble.played;
    // The heap is measured when nothing is in progress, because work in progress is not a leak.
    trouble.heal();
    const caughtUp = () => scene.lag === 0 && informer.status.phase === 'watching';
    await until('an idle informer', wrong, () => {
      return caughtUp() && informer.lastSyncResourceVersion === server.objects.resourceVersion;
    });
    // Visitors leave within 5 s of the scene's time, their informers stop 2 s later, and idle sockets close after
    // four. A loaded machine needs longer; a leaked handle stays.
    await sleep(5_000);
    const deadline = performance.now() + 30_000;
    while (countOf(handles()) > atRest && performance.now() < deadline) await sleep(250);
    if (part === 1) atRest = countOf(handles()) + 4;
    if (part > 1 || parts <= 4) readings.push(await read(performance.now() - startedMs));
    wrong.push(...scene.wrong());
  }
  const atEnd = handles();
  const thirds = flat(readings, wrong);
  const most = (some: readonly Reading[]) => Math.max(...some.map((reading) => reading.handles));
  const early = most(readings.slice(0, 2));
  const late = most(readings.slice(-2));
  if (late > atRest)
    wrong.push(`handles grew from ${early} to ${late}, at the end ${brief(atEnd)}`);
  const { relists, reconnects } = informer.status;
  await scene.end();
  await close();
  await sleep(5_000);
  const gone = performance.now() + 30_000;
  while (countOf(handles()) > before && performance.now() < gone) await sleep(250);
  const left = handles();
  if (countOf(left) > before) wrong.push(`left behind: ${brief(left)}`);
  const { writes, mostPending, counts } = scene;
  const atMinute2 = readings.find(({ atMs }) => atMs >= 120_000) ?? readings[0];
  return {
    phase: `${minutes} real minutes at full speed, seed ${seed}`,
    figures: [
      ['changes', `${thousands(writes)}, ${thousands(writes / (busyMs / 1000))} per second`],
      ['faults', `${played}: ${reconnects} reconnects, ${relists} relists`],
      [`heap after ${((atMinute2?.atMs ?? 0) / 60_000).toFixed(1)} minutes`, mb(atMinute2?.heapMb)],
      ['heap at the end', mb(readings.at(-1)?.heapMb)],
      ['handles, early and at the end', `${early}, ${late}; after the stop ${brief(left)}`],
      ['heap, least of the first and of the last third', thirds],
      ['most waiting changes', thousands(mostPending)],
      ['notifications', brief(counts)],
    ],
    wrong,
  };
}
