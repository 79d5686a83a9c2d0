/** Runs one seed over real HTTP, through a proxy with connection faults, in real time and sixty times as fast. */
import { createTcpProxy, type ScriptedFault } from 'rx-informer/testing';
import { asyncScheduler } from 'rxjs';
import type { Outcome } from './outcome.ts';
import { createScene } from './scene.ts';

const SPEED = 60;
/** As on virtual time, scaled, with a reserve for a busy machine. */
const HEALS_WITHIN_MS = 15_000;

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export async function runHttp(
  seed: number,
  without: readonly ScriptedFault['kind'][] = [],
): Promise<Outcome> {
  const closing: (() => Promise<void>)[] = [];
  const scene = await createScene({
    seed,
    scheduler: asyncScheduler,
    speed: SPEED,
    // If a connection is lost between two swapped events, no client can detect the lost event.
    without: ['swap', ...without],
    depths: ['http', 'stream', 'tcp'],
    backoff: { baseMs: 20, capMs: 500 },
    slack: 0.1,
    idleTimeoutMs: 2_000,
    requestTimeoutMs: 1_000,
    reach: async (server) => {
      const served = await server.serve();
      const proxy = await createTcpProxy({ target: served.url });
      closing.push(
        () => proxy.close(),
        () => served.close(),
      );
      return { baseUrl: `http://127.0.0.1:${proxy.port}`, fetch: globalThis.fetch, proxy };
    },
  });
  const { random, consumers, machine, wrong, informer } = scene;
  const lengthMs = 4_000 + random() * 4_000;
  const stopWriting = scene.write(10 + random() * 60);
  scene.start();
  machine.start();
  if (random() < 0.5) {
    await sleep(random() * lengthMs);
    consumers.visit(random() * 3_000);
  }
  if (random() < 0.3) {
    await scene.stop();
    await sleep(random() * 500);
    scene.start();
  }
  await sleep(lengthMs / 2);
  const refreshed = scene.refresh();
  await sleep(lengthMs / 2);
  machine.heal();
  scene.recover();
  stopWriting();
  await refreshed;

  /** Compares repeatedly until nothing is wrong or the time has passed. */
  const settle = async (when: string) => {
    for (const endMs = Date.now() + HEALS_WITHIN_MS; ; await sleep(50)) {
      // Wrong notifications in between stay recorded.
      const before = wrong.length;
      scene.compare(when);
      if (wrong.length === before) return true;
      if (Date.now() > endMs) return false;
      wrong.length = before;
    }
  };
  if (await settle('healed')) {
    scene.history.step();
    await settle('alive');
  }
  const load = scene.checkBudget();
  consumers.leave();
  await informer.stop();
  const requested = scene.observed.seen.length;
  const notified = consumers.notified;
  scene.history.step();
  await sleep(300);
  if (scene.observed.seen.length !== requested) wrong.push('sent a request after the stop');
  if (consumers.notified !== notified) wrong.push('notified a consumer after the stop');
  for (const close of closing) await close();
  return {
    seed,
    what: scene.what,
    wrong,
    writes: scene.history.writes,
    faults: machine.played.map(({ fault }) => JSON.stringify(fault)),
    requests: scene.observed.seen.length,
    notified,
    load,
  };
}
