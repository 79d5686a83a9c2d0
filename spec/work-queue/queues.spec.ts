/** Queues of keys, and those with priorities. */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  type Backlog,
  createPriorityQueue,
  createWorkQueue,
  metered,
  type PriorityQueue,
  type PriorityQueueOptions,
  type WorkQueue,
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

describe('a work queue', () => {
  /** Whether a promise has resolved so far. */
  async function settled(promise: Promise<unknown>): Promise<boolean> {
    let done = false;
    void promise.then(() => {
      done = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    return done;
  }

  function take<K>(queue: WorkQueue<K>): K[] {
    const keys: K[] = [];
    for (let key = queue.tryGet(); key !== undefined; key = queue.tryGet()) keys.push(key);
    return keys;
  }

  it('K1: calls touch() when a key that waits is added again, and only then (TestCollapse)', () => {
    const log: string[] = [];
    const keys: string[] = [];
    const backlog: Backlog = {
      get len() {
        return keys.length;
      },
      push: (key) => keys.push(key),
      pop: () => keys.pop() ?? '',
      touch: (key) => log.push(`touch ${key}`),
    };
    const queue = createWorkQueue({ backlog });
    queue.add('bar');
    expect(log).toEqual([]);
    queue.add('bar');
    expect(log).toEqual(['touch bar']);
    queue.tryGet();
    queue.add('bar');
    queue.add('bar');
    expect(log).toEqual(['touch bar']);
    queue.add('foo');
    expect(queue.tryGet()).toBe('foo');
  });

  it('K1: compares keys as by a Map', () => {
    const queue = createWorkQueue<unknown>();
    const object = {};
    for (const key of [object, {}, object, Number.NaN, Number.NaN, 0, '']) queue.add(key);
    expect(queue.len).toBe(5);
  });

  it('K2: gives a key to one worker at a time (TestCollapseWhileProcessing)', async () => {
    const queue = createWorkQueue();
    queue.add('foo');
    expect(await queue.get()).toBe('foo');
    queue.add('foo');
    const second = queue.get();
    expect(await settled(second)).toBe(false);
    expect([queue.len, queue.processing]).toEqual([0, 1]);
    queue.done('foo');
    expect(await second).toBe('foo');
  });

  it('K3: serves waiting workers in order, and gives each of them undefined once it is shut down and empty', async () => {
    const queue = createWorkQueue();
    const [one, two, three] = [queue.get(), queue.get(), queue.get()];
    queue.add('a');
    queue.add('b');
    expect(await Promise.all([one, two])).toEqual(['a', 'b']);
    queue.shutDown();
    expect(await Promise.all([three, queue.get()])).toEqual([undefined, undefined]);
  });

  it('K5: shutDownWithDrain waits for queued keys, too', async () => {
    const queue = createWorkQueue();
    queue.add('foo');
    const drained = queue.shutDownWithDrain();
    expect(await settled(drained)).toBe(false);
    queue.done(queue.tryGet() ?? '');
    await drained;
    expect(await settled(createWorkQueue().shutDownWithDrain())).toBe(true);
  });

  it('K5: a later shutDown resolves shutDownWithDrain immediately (TestForceQueueShutdownUsingShutDown)', async () => {
    const queue = createWorkQueue();
    queue.add('foo');
    queue.tryGet();
    const drained = queue.shutDownWithDrain();
    expect(await settled(drained)).toBe(false);
    queue.shutDown();
    await drained;
  });

  it('K5: each of several calls of shutDownWithDrain waits until every key is done (TestQueueDrainageUsingShutDownWithDrain)', async () => {
    const queue = createWorkQueue();
    queue.add('foo');
    queue.tryGet();
    const drains = [queue.shutDownWithDrain(), queue.shutDownWithDrain()];
    for (const drained of drains) expect(await settled(drained)).toBe(false);
    queue.done('foo');
    await Promise.all(drains);
  });

  it('K5: shutDownWithDrain waits for keys added again while they were in progress (TestQueueDrainageUsingShutDownWithDrainWithDirtyItem)', async () => {
    const queue = createWorkQueue();
    queue.add('foo');
    const key = queue.tryGet() ?? '';
    queue.add(key);
    const drained = queue.shutDownWithDrain();
    queue.done(key);
    expect(await settled(drained)).toBe(false);
    expect(queue.tryGet()).toBe('foo');
    queue.done(key);
    await drained;
  });

  it('K5: drain() refuses no keys, and shutDown does not resolve it', async () => {
    const queue = createWorkQueue();
    expect(await settled(queue.drain())).toBe(true);
    queue.add('foo');
    const drained = queue.drain();
    queue.add('bar');
    for (const key of take(queue)) queue.done(key);
    await drained;

    queue.add('foo');
    const still = queue.drain();
    queue.shutDown();
    expect(await settled(still)).toBe(false);
    queue.done(queue.tryGet() ?? '');
    await still;
  });

  it('K2: keeps nothing of a key that is done (TestGarbageCollection)', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const queue = createWorkQueue<object>();
    const seen = (() => {
      const key = { name: 'foo' };
      // Other keys follow it, because an empty list would prove nothing.
      for (const each of [{}, {}, key, {}, {}, {}, {}]) queue.add(each);
      for (let times = 0; times < 3; times++) queue.done(queue.tryGet() ?? {});
      return new WeakRef(key);
    })();
    for (let round = 0; round < 20 && seen.deref() !== undefined; round++) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
    expect([queue.len, seen.deref()]).toEqual([4, undefined]);
  });
});
