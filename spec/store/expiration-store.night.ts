/** The memory of an expiration store. */
import { createExpirationStore } from 'rx-informer';
import { VirtualTimeScheduler } from 'rxjs';
import { expect, it } from 'vitest';
import { heapMb } from '../soak/heap.ts';

it('S19: keeps nothing of objects that come and go', async () => {
  const store = createExpirationStore<{ readonly id: string; readonly value: string }>({
    ttlMs: 1e9,
    keyOf: ({ id }) => id,
    scheduler: new VirtualTimeScheduler(),
    indexers: { value: ({ value }) => [value] },
  });
  const before = await heapMb();
  for (let at = 0; at < 100_000; at++) {
    const id = `pod-${at}`;
    store.add({ id, value: 'x' });
    store.delete(id);
  }
  // The times of 100,000 keys would take 8 MB or more.
  expect((await heapMb()) - before).toBeLessThan(4);
  expect(store.size).toBe(0);
});
