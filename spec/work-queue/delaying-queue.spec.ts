import { createDelayingQueue, createRateLimitingQueue, type DelayingQueue } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';

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
