/** Rate limiters, and the queues that delay keys. */
import {
  bucketRateLimiter,
  createDelayingQueue,
  createRateLimitingQueue,
  type DelayingQueue,
  defaultControllerRateLimiter,
  defaultItemBasedRateLimiter,
  itemExponentialFailureRateLimiter,
  itemFastSlowRateLimiter,
  maxOfRateLimiter,
  type RateLimiter,
  withMaxWaitRateLimiter,
} from 'rx-informer';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';

function waits(limiter: RateLimiter, key: string, times: number): number[] {
  return Array.from({ length: times }, () => limiter.when(key));
}

describe('a rate limiter', () => {
  it('K11: doubles the wait of a key until the key is forgotten (TestItemExponentialFailureRateLimiter)', () => {
    const limiter = itemExponentialFailureRateLimiter({ baseMs: 1, maxMs: 1000 });
    expect(waits(limiter, 'one', 5)).toEqual([1, 2, 4, 8, 16]);
    expect(limiter.numRequeues('one')).toBe(5);
    expect(waits(limiter, 'two', 2)).toEqual([1, 2]);
    limiter.forget('one');
    expect([limiter.numRequeues('one'), limiter.numRequeues('two')]).toEqual([0, 2]);
    expect(limiter.when('one')).toBe(1);
  });

  it('K11: reaches its maximum and stays there, however often it is called (TestItemExponentialFailureRateLimiterOverFlow)', () => {
    for (const maxMs of [1000, 1_000_000, Number.MAX_VALUE]) {
      const limiter = itemExponentialFailureRateLimiter({ baseMs: 5, maxMs });
      const seen = waits(limiter, 'key', 3000);
      expect(seen.every((wait, at) => wait >= (seen[at - 1] ?? 0) && wait <= maxMs)).toBe(true);
      expect(seen.at(-1)).toBe(Math.min(maxMs, 5 * 2 ** 1000));
    }
    const idle = itemExponentialFailureRateLimiter({ baseMs: 0, maxMs: 1000 });
    expect(waits(idle, 'key', 2000).at(-1)).toBe(0);
  });

  it('K11: is fast for a number of attempts, then slow (TestItemFastSlowRateLimiter)', () => {
    const limiter = itemFastSlowRateLimiter({ fastMs: 5, slowMs: 10_000, maxFastAttempts: 3 });
    expect(waits(limiter, 'one', 5)).toEqual([5, 5, 5, 10_000, 10_000]);
    expect(limiter.when('two')).toBe(5);
    limiter.forget('one');
    expect([limiter.numRequeues('one'), limiter.when('one')]).toEqual([0, 5]);
  });

  it('K11: returns the longest wait of several, and counts in all of them (TestMaxOfRateLimiter)', () => {
    const fastSlow = itemFastSlowRateLimiter({ fastMs: 5, slowMs: 3000, maxFastAttempts: 3 });
    const exponential = itemExponentialFailureRateLimiter({ baseMs: 1, maxMs: 1000 });
    const limiter = maxOfRateLimiter(fastSlow, exponential);
    expect(waits(limiter, 'one', 5)).toEqual([5, 5, 5, 3000, 3000]);
    exponential.when('one');
    expect(limiter.numRequeues('one')).toBe(6);
    limiter.forget('one');
    expect([limiter.numRequeues('one'), limiter.when('one')]).toEqual([0, 5]);
  });

  it('K11: limits the wait to a maximum (TestWithMaxWaitRateLimiter)', () => {
    const inner = itemExponentialFailureRateLimiter({ baseMs: 1, maxMs: 1_000_000 });
    const limiter = withMaxWaitRateLimiter(inner, { maxMs: 5 });
    expect(waits(limiter, 'one', 5)).toEqual([1, 2, 4, 5, 5]);
    expect(limiter.numRequeues('one')).toBe(5);
    limiter.forget('one');
    expect(inner.numRequeues('one')).toBe(0);
  });

  it('K11: shares one bucket among all keys, and refills it with time', async () => {
    const time = new VirtualTime();
    const limiter = bucketRateLimiter({ qps: 10, burst: 2, scheduler: time });
    expect(['a', 'b', 'c', 'd'].map((key) => limiter.when(key))).toEqual([0, 0, 100, 200]);
    await time.advance(1000);
    expect(['a', 'b', 'c'].map((key) => limiter.when(key))).toEqual([0, 0, 100]);
    expect(limiter.numRequeues('a')).toBe(0);
    const free = bucketRateLimiter({ qps: Number.POSITIVE_INFINITY, burst: 1, scheduler: time });
    expect(waits(free, 'a', 3)).toEqual([0, 0, 0]);
  });

  it("K11: has client-go's default values", () => {
    const limiter = defaultControllerRateLimiter({ scheduler: new VirtualTime() });
    expect(waits(limiter, 'one', 3)).toEqual([5, 10, 20]);
    expect(waits(limiter, 'one', 40).at(-1)).toBe(1_000_000);
    for (let each = 0; each < 57; each++) limiter.when(`key-${each}`);
    expect([limiter.when('late'), limiter.when('later')]).toEqual([100, 200]);
    expect(waits(defaultItemBasedRateLimiter(), 'one', 25).slice(-5)).toEqual([
      1_000_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000,
    ]);
    expect(defaultItemBasedRateLimiter().when('one')).toBe(1);
  });
});

function delaying(): { time: VirtualTime; queue: DelayingQueue } {
  const time = new VirtualTime();
  return { time, queue: createDelayingQueue({ scheduler: time }) };
}

function finish(queue: DelayingQueue): string | undefined {
  const key = queue.tryGet();
  if (key !== undefined) queue.done(key);
  return key;
}

const LONG_MS = 40 * 24 * 3600 * 1000;

describe('a delaying queue', () => {
  it('K8: adds immediately for 0 or less, and throws for NaN', () => {
    const { time, queue } = delaying();
    queue.addAfter('foo', 0);
    queue.addAfter('bar', -1);
    expect([queue.len, time.pending]).toEqual([2, 0]);
    expect(() => queue.addAfter('baz', Number.NaN)).toThrow(TypeError);
  });

  it('K9: waits delays over 2^31 ms in full', async () => {
    const { time, queue } = delaying();
    queue.addAfter('foo', LONG_MS);
    await time.advance(LONG_MS - 1);
    expect(queue.len).toBe(0);
    await time.advance(1);
    expect(queue.len).toBe(1);
    queue.addAfter('never', Number.POSITIVE_INFINITY);
    await time.advance(LONG_MS);
    expect(queue.waiting).toBe(1);
    queue.shutDown();
    expect(time.pending).toBe(0);
  });

  it('K5, K10: drain() with `delayed` waits for delayed keys, and not for cancelled ones', async () => {
    const { time, queue } = delaying();
    const log: string[] = [];
    queue.addAfter('foo', 50);
    queue.addAfter('bar', 90);
    void queue.drain().then(() => log.push(`${time.now()} queued`));
    void queue.drain({ delayed: true }).then(() => log.push(`${time.now()} delayed`));
    await time.advance(10);
    expect(log).toEqual(['0 queued']);
    await time.advance(50);
    finish(queue);
    await time.advance(0);
    expect(log).toEqual(['0 queued']);
    queue.cancelAfter('bar');
    await time.advance(0);
    expect(log).toEqual(['0 queued', '60 delayed']);
  });
});

describe('a rate-limiting queue', () => {
  it('K12: waits as long as the limiter returns, and counts until the key is forgotten (TestRateLimitingQueue)', async () => {
    const time = new VirtualTime();
    const queue = createRateLimitingQueue({ scheduler: time });
    const waits = ['one', 'one', 'one', 'two', 'two'].map((key) => queue.addRateLimited(key));
    expect(waits).toEqual([5, 10, 20, 5, 10]);
    expect([queue.numRequeues('one'), queue.numRequeues('two')]).toEqual([3, 2]);
    queue.forget('one');
    expect([queue.numRequeues('one'), queue.numRequeues('two')]).toEqual([0, 2]);
    expect(queue.addRateLimited('one')).toBe(5);
    await time.advance(5);
    expect([finish(queue), finish(queue), finish(queue)]).toEqual(['one', 'two', undefined]);
  });
});
