import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Backlog, createWorkQueue, type WorkQueue } from 'rx-informer';
import { describe, expect, it } from 'vitest';

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

describe('a work queue', () => {
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
