/** One seed in process and on virtual time: ten minutes of writes and faults, then peace, then the judgement. */
import { type Fault, seededRandom } from 'rx-informer/testing';
import { Subscription } from 'rxjs';
import { VirtualTime } from '../rx/virtual-time.ts';
import type { Outcome } from './outcome.ts';
import { createScene } from './scene.ts';

/**
 * By then everything is right again, without luck: a lost connection is noticed after 85 s, the wait after it is
 * 60 s at most; a server may have asked for a minute; and a watch that goes round by itself takes five minutes.
 */
const HEALS_WITHIN_MS = 280_000;

export async function runVirtual(seed: number): Promise<Outcome> {
  const time = new VirtualTime();
  // Drawn by itself, so that the other seeds are what they were.
  const dice = seededRandom(seed * 101 + 10);
  const hasProxy = dice() < 0.2;
  const scene = await createScene({
    seed,
    scheduler: time,
    speed: 1,
    depths: ['http', 'stream'],
    // Two events that changed places, and a watch that is left while one of them is held back: nobody could know.
    ...(hasProxy ? { without: ['swap'] } : {}),
  });
  const { random, consumers, machine, wrong, informer, server } = scene;
  const lengthMs = 300_000 + random() * 300_000;
  const stopWriting = scene.write(500 + random() * 4_000);
  scene.start();
  // Half of the runs begin in peace: trouble from the first request on is another story.
  time.schedule(() => machine.start(), random() < 0.5 ? 0 : 5_000);
  for (let visits = Math.floor(random() * 3); visits > 0; visits--) {
    const forMs = random() * 200_000;
    time.schedule(() => consumers.visit(forMs), random() * lengthMs);
  }
  // The consumer's own door: what comes meanwhile gathers, and after a minute the watch is closed.
  for (let doors = random() < 0.5 ? 1 + Math.floor(random() * 8) : 0; doors > 0; doors--) {
    const atMs = random() * lengthMs;
    time.schedule(() => scene.shut(true), atMs);
    time.schedule(() => scene.shut(false), atMs + 90_000 * random() ** 3);
  }
  const impatient = seededRandom(seed * 101 + 13);
  for (let calls = impatient() < 0.5 ? Math.floor(impatient() * 6) : 0; calls > 0; calls--) {
    time.schedule(() => void scene.refresh(), impatient() * lengthMs);
  }
  // A proxy with buffers on the way, for a while.
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
  const asked = scene.observed.seen.length;
  const told = consumers.told;
  scene.history.step();
  await time.advance(200_000);
  if (scene.observed.seen.length !== asked) wrong.push('asked the server after it was stopped');
  if (consumers.told !== told) wrong.push('told somebody after it was stopped');
  if (time.pending > 0) wrong.push(`${time.pending} timers are left`);
  if (scene.server.openWatches.length > 0) wrong.push('a watch is left open');
  return {
    seed,
    what: scene.what,
    wrong,
    writes: scene.history.writes,
    faults: machine.played.map(({ atMs, fault }) => `${Math.round(atMs)} ${JSON.stringify(fault)}`),
    requests: scene.observed.seen.length,
    told,
    load,
  };
}
