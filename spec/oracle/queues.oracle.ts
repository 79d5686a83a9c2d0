/** Runs work queues and rate limiters of client-go and ours through the same scripts. */

import {
  bucketRateLimiter,
  createRateLimitingQueue,
  defaultControllerRateLimiter,
  defaultItemBasedRateLimiter,
  itemExponentialFailureRateLimiter,
  itemFastSlowRateLimiter,
  maxOfRateLimiter,
  type RateLimiter,
  withMaxWaitRateLimiter,
} from 'rx-informer';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { replayOf, seedsOf } from '../support/campaign.ts';
import { ClientGo } from './client-go.ts';
import {
  type LimiterSpec,
  limiterScriptOf,
  type QueueScript,
  type QueueView,
  queueScriptOf,
} from './queue-script.ts';

function limiterFrom(spec: LimiterSpec, scheduler: VirtualTime): RateLimiter {
  switch (spec.kind) {
    case 'default':
      return defaultControllerRateLimiter({ scheduler });
    case 'defaultItemBased':
      return defaultItemBasedRateLimiter();
    case 'exponential':
      return itemExponentialFailureRateLimiter(spec);
    case 'fastSlow':
      return itemFastSlowRateLimiter(spec);
    case 'bucket':
      return bucketRateLimiter({ ...spec, scheduler });
    case 'maxOf':
      return maxOfRateLimiter(...spec.limiters.map((each) => limiterFrom(each, scheduler)));
    case 'maxWait': {
      const [inner] = spec.limiters;
      return withMaxWaitRateLimiter(limiterFrom(inner as LimiterSpec, scheduler), spec);
    }
  }
}

/** The view of our queue, with one more value than client-go shows. */
interface OurQueueView extends QueueView {
  /** The number of keys that workers hold. */
  readonly held: number;
}

/** Plays a script on our queue or on our limiter. */
async function playOurs(script: QueueScript): Promise<OurQueueView[]> {
  const scheduler = new VirtualTime();
  const limiter = limiterFrom(script.limiter, scheduler);
  const queue = createRateLimitingQueue({ scheduler, rateLimiter: limiter });
  const views: OurQueueView[] = [];
  const held: string[] = [];
  let got: string[] = [];
  let ended = 0;
  let drained = 0;
  for (const op of script.ops) {
    let whenMs = 0;
    switch (op.op) {
      case 'add':
        queue.add(op.key);
        break;
      case 'addAfter':
        queue.addAfter(op.key, op.ms);
        break;
      case 'addRateLimited':
        queue.addRateLimited(op.key);
        break;
      case 'forget':
        queue.forget(op.key);
        break;
      case 'when':
        whenMs = limiter.when(op.key);
        break;
      case 'get':
        void queue.get().then((key) => {
          if (key === undefined) ended++;
          else got.push(key);
        });
        break;
      case 'done': {
        const [key] = held.splice(op.nth % Math.max(held.length, 1), 1);
        if (key !== undefined) queue.done(key);
        break;
      }
      case 'advance':
        await scheduler.advance(op.ms);
        break;
      case 'shutDown':
        queue.shutDown();
        break;
      case 'shutDownWithDrain':
        void queue.shutDownWithDrain().then(() => {
          drained++;
        });
        break;
    }
    // Runs everything that is due at this time.
    await scheduler.advance(0);
    await scheduler.advance(0);
    got.sort();
    held.push(...got);
    views.push({
      got,
      ended,
      len: queue.len,
      shuttingDown: queue.shuttingDown,
      drained,
      requeues: Object.fromEntries(script.keys.map((key) => [key, limiter.numRequeues(key)])),
      whenMs,
      held: held.length,
    });
    got = [];
    ended = 0;
  }
  return views;
}

interface Theirs {
  readonly seed: number;
  readonly views: readonly QueueView[];
}

let clientGo: ClientGo<Theirs>;
beforeAll(() => {
  clientGo = new ClientGo(inject('oracle'), 'queues');
});
afterAll(() => clientGo.close());

function playTheirs(script: QueueScript): Promise<Theirs> {
  const answer = clientGo.answer(script.seed);
  clientGo.send(script);
  return answer;
}

/** The part of the views that must be equal, with the operation, so that a difference is readable. */
function comparable({ ops }: QueueScript, views: readonly QueueView[]): unknown[] {
  return views.map(({ got, ended, len, shuttingDown, requeues }, index) => {
    return { index, op: ops[index], got, ended, len, shuttingDown, requeues };
  });
}

/**
 * Checks the drains. client-go's drain waits for workers only, ours also for queued keys. Ours therefore returns no
 * earlier than client-go's, and returns when no key is queued or held, or when shutDown was called.
 */
function drainErrors(
  { ops }: QueueScript,
  theirs: readonly QueueView[],
  ours: readonly OurQueueView[],
): string[] {
  let asked = 0;
  let forced = false;
  let expected = 0;
  return ours.flatMap(({ drained, len, held }, index) => {
    const op = ops[index]?.op;
    if (op === 'shutDownWithDrain') asked++;
    if (op === 'shutDown' && asked > 0) forced = true;
    if ((len === 0 && held === 0) || forced) expected = asked;
    const late = theirs[index]?.drained ?? 0;
    const wrong: string[] = [];
    if (drained !== expected) wrong.push(`op ${index}: ${drained} drained, not ${expected}`);
    if (drained > late) wrong.push(`op ${index}: ${drained} drained before client-go's ${late}`);
    return wrong;
  });
}

function hint(seed: number): string {
  return replayOf('ORACLE', seed, 'npm run test:oracle');
}

describe('a work queue beside client-go', () => {
  it.each(seedsOf('ORACLE', 400))('O3: seed %i', async (seed) => {
    const script = queueScriptOf(seed);
    const [theirs, ours] = await Promise.all([playTheirs(script), playOurs(script)]);
    expect(comparable(script, ours), hint(seed)).toEqual(comparable(script, theirs.views));
    expect(drainErrors(script, theirs.views, ours), hint(seed)).toEqual([]);
  });
});

describe('a rate limiter beside client-go', () => {
  it.each(seedsOf('ORACLE', 200))('K11: seed %i', async (seed) => {
    const script = limiterScriptOf(seed);
    const [theirs, ours] = await Promise.all([playTheirs(script), playOurs(script)]);
    const requeues = (views: readonly QueueView[]) => views.map(({ requeues }) => requeues);
    expect(requeues(ours), hint(seed)).toEqual(requeues(theirs.views));
    // Go counts in nanoseconds. Our bucket counts in whole milliseconds and returns no wait that is too short.
    const slackMs = /bucket|default"/.test(JSON.stringify(script.limiter)) ? 1 : 0;
    ours.forEach(({ whenMs }, index) => {
      const what = `${hint(seed)}, op ${index} of ${JSON.stringify(script.limiter)}`;
      const moreMs = whenMs - (theirs.views[index]?.whenMs ?? Number.NaN);
      expect(moreMs, what).toBeGreaterThan(-0.01);
      expect(moreMs, what).toBeLessThan(slackMs + 0.01);
    });
  });
});
