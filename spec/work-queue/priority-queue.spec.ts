import {
  createPriorityQueue,
  metered,
  type PriorityQueue,
  type PriorityQueueOptions,
} from 'rx-informer';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';

function prioritised(options: PriorityQueueOptions = {}): {
  time: VirtualTime;
  queue: PriorityQueue;
} {
  const time = new VirtualTime();
  return { time, queue: createPriorityQueue({ scheduler: time, ...options }) };
}

function take(queue: PriorityQueue, most = Number.POSITIVE_INFINITY): string[] {
  const keys: string[] = [];
  while (keys.length < most) {
    const key = queue.tryGet();
    if (key === undefined) break;
    keys.push(key);
    queue.done(key);
  }
  return keys;
}

describe('a priority queue', () => {
  it('K14: returns an item to a waiting worker as soon as one is added', async () => {
    const { queue } = prioritised();
    const waiter = queue.get();
    queue.addWithOptions('foo', {});
    expect(await waiter).toBe('foo');
  });

  it('K14: does not hang in get on shutdown', async () => {
    const { queue } = prioritised();
    const waiter = queue.get();
    queue.addAfter('foo', 1000);
    queue.shutDown();
    expect(await waiter).toBeUndefined();
    expect([await queue.get(), queue.waiting, queue.priorityOf('foo')]).toEqual([
      undefined,
      0,
      undefined,
    ]);
  });

  it('K14: retains the highest priority, and never decreases it', () => {
    const { queue } = prioritised();
    queue.addWithOptions('foo', { priority: 1 });
    queue.addWithOptions('foo', { priority: 2 });
    queue.addWithOptions('foo', { priority: 1 });
    expect(queue.priorityOf('foo')).toBe(2);
    queue.addWithOptions('bar', { priority: 1 });
    expect(take(queue)).toEqual(['foo', 'bar']);
    expect(queue.priorityOf('foo')).toBeUndefined();
  });

  it('K14: returns an item only after its time has come, several in the order of their times', async () => {
    const { time, queue } = prioritised();
    queue.addWithOptions('bar', { afterMs: 1000 });
    queue.addWithOptions('foo', { afterMs: 200 });
    await time.advance(199);
    expect(queue.tryGet()).toBeUndefined();
    await time.advance(1);
    expect(take(queue)).toEqual(['foo']);
    await time.advance(800);
    expect(take(queue)).toEqual(['bar']);
  });

  it('K14: takes the shorter of afterMs and the wait of the rate limiter', async () => {
    const { time, queue } = prioritised();
    expect(queue.addWithOptions('foo', { rateLimited: true, afterMs: 60_000 })).toBe(5);
    expect(queue.addWithOptions('bar', { rateLimited: true, afterMs: 2 })).toBe(2);
    expect([queue.addRateLimited('foo'), queue.numRequeues('foo')]).toEqual([10, 2]);
    await time.advance(5);
    expect(take(queue)).toEqual(['bar', 'foo']);
    queue.forget('foo');
    expect(queue.numRequeues('foo')).toBe(0);
  });

  it('K14: updates metrics for an item added with a delay, then without, then with a priority', async () => {
    const { time, queue } = prioritised();
    queue.addAfter('foo', 60_000);
    expect([queue.metrics.depth, queue.metrics.addsTotal]).toEqual([0, 0]);
    queue.addWithOptions('foo', {});
    expect([queue.metrics.depth, queue.metrics.addsTotal, queue.waiting]).toEqual([1, 1, 0]);
    queue.addWithOptions('foo', { priority: 100 });
    queue.addWithOptions('foo', { priority: 100, afterMs: 10 });
    expect([queue.metrics.depth, queue.metrics.addsTotal, queue.waiting]).toEqual([1, 1, 0]);
    expect([take(queue), queue.metrics.depth, time.pending]).toEqual([['foo'], 0, 0]);
  });

  it('K14: an item that is added again while it is cancelled keeps its new priority', () => {
    const { time, queue } = prioritised();
    queue.addWithOptions('foo', { afterMs: 10, priority: 9 });
    const listening = queue.ready$.subscribe(() => {
      listening.unsubscribe();
      queue.addWithOptions('foo', { afterMs: 10, priority: 5 });
    });
    expect(queue.cancelAfter('foo')).toBe(true);
    expect(queue.priorityOf('foo')).toBe(5);
    queue.addWithOptions('bar', { priority: 1 });
    time.elapse(10);
    expect(take(queue)).toEqual(['foo', 'bar']);
  });

  it('K14: drain() does not resolve when a delayed add becomes an immediate one', async () => {
    const { time, queue } = prioritised();
    const log: string[] = [];
    queue.addAfter('foo', 50);
    void queue.drain({ delayed: true }).then(() => log.push('drained'));
    queue.add('foo');
    await time.advance(100);
    expect(log).toEqual([]);
    take(queue);
    await time.advance(0);
    expect(log).toEqual(['drained']);
  });

  it('K14: throws for NaN', () => {
    const { queue } = prioritised();
    expect(() => queue.addWithOptions('foo', { priority: Number.NaN })).toThrow(TypeError);
    expect(() => queue.addAfter('foo', Number.NaN)).toThrow(TypeError);
  });

  it('K2: keeps nothing of an item for which the limiter returns NaN', () => {
    const rateLimiter = { when: () => Number.NaN, forget: () => {}, numRequeues: () => 0 };
    const { queue } = prioritised({ rateLimiter });
    expect(() => queue.addRateLimited('foo')).toThrow(TypeError);
    expect([queue.priorityOf('foo'), queue.len, queue.waiting]).toEqual([undefined, 0, 0]);
  });

  it('K2: returns an item as soon as it is done, with its new priority and its old place', async () => {
    const { queue } = prioritised();
    queue.addWithOptions('foo', { priority: 5 });
    queue.tryGet();
    queue.addWithOptions('foo', { priority: 1 });
    const waiter = queue.get();
    queue.done('foo');
    expect(await waiter).toBe('foo');
    expect(queue.priorityOf('foo')).toBe(1);
    queue.addWithOptions('foo', { priority: 0 });
    queue.add('bar');
    queue.done('foo');
    expect(take(queue)).toEqual(['foo', 'bar']);
  });

  it('K2: remembers the priority with which an item is processed', async () => {
    const { time, queue } = prioritised();
    queue.addWithOptions('foo', { priority: -100 });
    queue.tryGet();
    expect(queue.priorityOf('foo')).toBe(-100);
    queue.addWithOptions('foo', { rateLimited: true, priority: queue.priorityOf('foo') ?? 0 });
    queue.done('foo');
    await time.advance(5);
    expect(queue.priorityOf('foo')).toBe(-100);
  });

  it('K17: no key starves: keys that have waited for ageingMs get every second turn, the oldest first', async () => {
    const { time, queue } = prioritised({ ageingMs: 1000 });
    queue.addWithOptions('old', { priority: -100 });
    queue.addWithOptions('older', { priority: -200 });
    const seen: string[] = [];
    for (let round = 0; round < 60; round++) {
      for (const each of ['x', 'y', 'z']) queue.addWithOptions(`${each}-${round}`, { priority: 1 });
      seen.push(...take(queue, 1));
      await time.advance(50);
    }
    expect(seen.slice(0, 20).some((key) => key.startsWith('old'))).toBe(false);
    expect(seen.indexOf('old')).toBe(20);
    expect(seen.indexOf('older')).toBe(22);
  });

  it('K17: an urgent key waits for one aged key at most', async () => {
    const { time, queue } = prioritised({ ageingMs: 1000 });
    for (let each = 0; each < 1000; each++) queue.addWithOptions(`${each}`, { priority: -100 });
    await time.advance(5000);
    queue.add('urgent');
    expect(take(queue, 2)).toEqual(['0', 'urgent']);
    expect(take(queue).length).toBe(999);
  });

  it('K17: is off with an infinite ageingMs', async () => {
    const { time, queue } = prioritised({ ageingMs: Number.POSITIVE_INFINITY });
    queue.addWithOptions('old', { priority: -1 });
    await time.advance(1e9);
    queue.add('new');
    expect(take(queue)).toEqual(['new', 'old']);
  });

  it('K2: a key that a metrics provider takes while it is added is given out again after done', () => {
    const taken: (string | undefined)[] = [];
    const none = () => undefined;
    const gauge = { addCallback: none, removeCallback: none };
    const { queue } = prioritised({
      metrics: metered({
        createCounter: (name) => ({
          add(value) {
            if (!name.endsWith('retries_total') || value === 0) return;
            queue.add('web');
            taken.push(queue.tryGet());
          },
        }),
        createUpDownCounter: () => ({ add: none }),
        createHistogram: () => ({ record: none }),
        createObservableGauge: () => gauge,
      }),
      rateLimiter: { when: () => 0, forget: none, numRequeues: () => 0 },
    });
    queue.addRateLimited('web');
    expect([taken, queue.tryGet()]).toEqual([['web'], undefined]);
    queue.done('web');
    expect(take(queue)).toEqual(['web']);
  });
});
