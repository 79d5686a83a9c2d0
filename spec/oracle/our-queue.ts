/** Plays a queue script on our queue, in virtual time. */
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
import { VirtualTime } from '../rx/virtual-time.ts';
import type { LimiterSpec, QueueScript, QueueView } from './queue-script.ts';

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
export interface OurQueueView extends QueueView {
  /** The number of keys that workers hold. */
  readonly held: number;
}

/** Plays a script on our queue or on our limiter. */
export async function playOurs(script: QueueScript): Promise<OurQueueView[]> {
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
