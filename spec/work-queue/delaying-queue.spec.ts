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
  it('K8: adds a key when its time has come (TestSimpleQueue)', async () => {
    const { time, queue } = delaying();
    queue.addAfter('foo', 50);
    await time.advance(49);
    expect([queue.len, queue.waiting]).toEqual([0, 1]);
    await time.advance(1);
    expect([queue.len, queue.waiting]).toEqual([1, 0]);
    expect(finish(queue)).toBe('foo');
    await time.advance(10_000);
    expect(queue.len).toBe(0);
  });

  it('K8: keeps the earlier of two times, in either order of the adds (TestDeduping)', async () => {
    const { time, queue } = delaying();
    queue.addAfter('foo', 50);
    queue.addAfter('foo', 70);
    await time.advance(60);
    expect(finish(queue)).toBe('foo');
    await time.advance(20);
    expect(queue.len).toBe(0);

    queue.addAfter('foo', 50);
    queue.addAfter('foo', 30);
    await time.advance(40);
    expect(finish(queue)).toBe('foo');
    await time.advance(20);
    expect(queue.len).toBe(0);
  });

  it('K8: a later add can be due earlier (TestAddTwoFireEarly)', async () => {
    const { time, queue } = delaying();
    queue.addAfter('foo', 1000);
    queue.addAfter('bar', 50);
    await time.advance(60);
    expect(finish(queue)).toBe('bar');
    queue.addAfter('baz', 2000);
    await time.advance(1000);
    expect(finish(queue)).toBe('foo');
    await time.advance(2000);
    expect(finish(queue)).toBe('baz');
  });

  it('K8: adds keys in the order of their times, and keys due at the same time in the order of the calls (TestCopyShifting)', async () => {
    const { time, queue } = delaying();
    for (const [key, ms] of Object.entries({ foo: 1000, bar: 500, baz: 250, same: 500 })) {
      queue.addAfter(key, ms);
    }
    // One jump past all of the times: one timer fires late, and every key is due.
    time.jump(2000);
    await time.advance(0);
    expect([finish(queue), finish(queue), finish(queue), finish(queue)]).toEqual([
      'baz',
      'bar',
      'same',
      'foo',
    ]);
  });

  it('K8: adds immediately for 0 or less, and throws for NaN', () => {
    const { time, queue } = delaying();
    queue.addAfter('foo', 0);
    queue.addAfter('bar', -1);
    expect([queue.len, time.pending]).toEqual([2, 0]);
    expect(() => queue.addAfter('baz', Number.NaN)).toThrow(TypeError);
  });

  it('K8: add() leaves a delayed add in place, so the key is queued twice', async () => {
    const { time, queue } = delaying();
    queue.addAfter('foo', 50);
    queue.add('foo');
    expect(finish(queue)).toBe('foo');
    await time.advance(50);
    expect(finish(queue)).toBe('foo');
  });

  it('K9: holds one timer, however many keys wait, and no timer if no key waits', async () => {
    const { time, queue } = delaying();
    for (let each = 0; each < 1000; each++) queue.addAfter(`key-${each}`, 1000 - each);
    expect(time.pending).toBe(1);
    await time.advance(1000);
    expect([queue.len, time.pending]).toEqual([1000, 0]);
  });

  it('K9: a shutdown drops the waiting keys and their timer', async () => {
    const { time, queue } = delaying();
    queue.addAfter('foo', 50);
    queue.shutDown();
    expect([queue.waiting, time.pending]).toEqual([0, 0]);
    queue.addAfter('bar', 10);
    expect(time.pending).toBe(0);
    await time.advance(100);
    expect(queue.tryGet()).toBeUndefined();
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

  it('K9: fires when its timer fires, also if the clock was set back', () => {
    let clockMs = 1_000_000;
    let fire: (() => void) | undefined;
    const queue = createDelayingQueue({
      scheduler: {
        now: () => clockMs,
        schedule: (work) => {
          fire = () => (work as () => void)();
          return { unsubscribe: () => undefined, add: () => undefined } as never;
        },
      },
    });
    queue.addAfter('foo', 50);
    clockMs -= 3_600_000;
    fire?.();
    expect(queue.tryGet()).toBe('foo');
  });

  it('K10: cancels a delayed add, and returns whether there was one', async () => {
    const { time, queue } = delaying();
    for (const [key, ms] of Object.entries({ a: 10, b: 20, c: 30, d: 40, e: 50 })) {
      queue.addAfter(key, ms);
    }
    expect([queue.cancelAfter('a'), queue.cancelAfter('c'), queue.cancelAfter('a')]).toEqual([
      true,
      true,
      false,
    ]);
    await time.advance(100);
    expect([finish(queue), finish(queue), finish(queue), finish(queue)]).toEqual([
      'b',
      'd',
      'e',
      undefined,
    ]);
    queue.addAfter('last', 10);
    queue.cancelAfter('last');
    expect(time.pending).toBe(0);
    queue.add('ready');
    expect([queue.cancelAfter('ready'), queue.len]).toEqual([false, 1]);
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
