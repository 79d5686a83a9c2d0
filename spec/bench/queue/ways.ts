/** How a work queue is used, as a controller uses it. client-go's counterpart is contestants/client-go/queue.go. */
import { createRateLimitingQueue, type RateLimitingQueue, workQueue } from 'rx-informer';
import { lastValueFrom, Subject } from 'rxjs';

type Way = (keys: readonly string[]) => void | Promise<void>;

/** Keys that a producer adds before it lets others run, as one batch of an informer. */
const BATCH = 1_000;

const turn = () => new Promise((resolve) => setImmediate(resolve));

function newQueue(): RateLimitingQueue {
  return createRateLimitingQueue({
    rateLimiter: { when: () => 0, forget: () => undefined, numRequeues: () => 0 },
  });
}

async function consume(queue: RateLimitingQueue, count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) {
    const key = await queue.get();
    if (key !== undefined) queue.done(key);
  }
}

async function produce(keys: readonly string[], add: (key: string) => void): Promise<void> {
  for (let at = 0; at < keys.length; at += BATCH) {
    for (const key of keys.slice(at, at + BATCH)) add(key);
    await turn();
  }
}

export const ways: Readonly<Record<string, Way>> = {
  /** One program adds a key, takes it and is done with it. */
  turns(keys) {
    const queue = newQueue();
    for (const key of keys) {
      queue.add(key);
      queue.done(queue.tryGet() ?? key);
    }
    queue.shutDown();
  },
  /** One producer and one worker. */
  async pair(keys) {
    const queue = newQueue();
    await Promise.all([produce(keys, (key) => queue.add(key)), consume(queue, keys.length)]);
    queue.shutDown();
  },
  /** A key that already waits is added again. */
  duplicate(keys) {
    const queue = newQueue();
    const [key = ''] = keys;
    queue.add(key);
    for (const _ of keys) queue.add(key);
    queue.shutDown();
  },
  /** One producer that adds with the rate limiter, and one worker. */
  async limited(keys) {
    const queue = newQueue();
    const add = (key: string) => {
      queue.addRateLimited(key);
      queue.forget(key);
    };
    await Promise.all([produce(keys, add), consume(queue, keys.length)]);
    queue.shutDown();
  },
  /** The operator `workQueue` with a reconciler that does nothing. client-go has no counterpart; it is compared with `pair`. */
  async operator(keys) {
    const keys$ = new Subject<string>();
    const last = lastValueFrom(keys$.pipe(workQueue(() => undefined)));
    await produce(keys, (key) => keys$.next(key));
    keys$.complete();
    await last;
  },
};
