/** Measures what is kept in memory: by stores, by queries that come and go, and by decoders. */
import { createExpirationStore } from 'rx-informer';
import { config, VirtualTimeScheduler } from 'rxjs';
import { expect, it, onTestFinished } from 'vitest';
import { Difference } from '../../lib/decode/differential/difference.ts';
import { KeptDocument } from '../../lib/decode/differential/document.ts';
import { Shapes } from '../../lib/decode/differential/shapes.ts';
import { bytes, list } from '../decode/decoder.ts';
import { ComingsAndGoings } from '../query/model/comings-and-goings.ts';
import { collect, heapMb } from '../soak/measure.ts';
import { allReported } from '../support/errors.ts';
import { eventually } from '../support/patience.ts';

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

// The soak test does the same over a million events.
it('Q77: queries that come and go leave no memory behind', async () => {
  // The functions that throw are reported, because no view shows what they refused.
  config.onUnhandledError = () => undefined;
  onTestFinished(async () => {
    await allReported();
    config.onUnhandledError = null;
  });
  const queries = new ComingsAndGoings(7);
  queries.run(2_000);
  const early = await heapMb();
  queries.run(18_000);
  const late = await heapMb();
  expect(queries.queries).toBeGreaterThan(400);
  expect(queries.sets).toBeGreaterThan(20_000);
  expect(late).toBeLessThan(early * 1.05);
  queries.end();
});

it('D8: a stored item retains neither the other items nor the text of its list (TestReflectorListExtract)', async () => {
  const read = (page: number) => {
    const items = Array.from({ length: 20 }, (_, at) => {
      const name = `pod-number-${page}-${at}`;
      const metadata = { name, namespace: 'd', uid: name, resourceVersion: '1' };
      return { metadata, text: `${at}`.padStart(100_000, 'x') };
    });
    const answer = { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '9' }, items };
    return list([JSON.stringify(answer)]).out;
  };
  // The code of the decoder takes memory, too.
  read(0);
  const kept: unknown[] = [];
  const before = await heapMb();
  for (let page = 1; page <= 10; page++) {
    const out = read(page);
    // Keeps one object, and the name of another one.
    kept.push(out[0], out[1]?.metadata?.name);
  }
  // Of 20 MB, ten objects of 100 kB are kept.
  expect((await heapMb()) - before).toBeLessThan(5);
  expect(kept).toHaveLength(20);
});

/** The bytes of the buffers in use, after garbage collection. */
function buffered(): number {
  collect();
  return process.memoryUsage().arrayBuffers;
}

const pod = (version: number, more: object = {}) => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'a', uid: 'u1', resourceVersion: String(version) },
  spec: { containers: [{ name: 'main', image: 'web:1' }] },
  ...more,
});

it('D17: a large text leaves no large buffer behind after smaller ones', async () => {
  const difference = new Difference(new Shapes());
  const document = new KeptDocument();
  const first = bytes(JSON.stringify(pod(1)));
  document.set(first, 0, first.length);
  document.value = pod(1);
  const read = (version: number, more?: object) => {
    const text = bytes(JSON.stringify(pod(version, more)));
    return difference.read(document, text, 0, text.length);
  };
  read(2);
  const before = buffered();
  expect(read(3, { data: 'x'.repeat(2 ** 22) })).toBeUndefined();
  expect(buffered() - before).toBeGreaterThan(2 ** 22);
  for (let version = 4; version < 50; version++) expect(read(version)).toEqual(pod(version));
  // Buffers are swept beside the program, so a collection may end before their memory is given back.
  await eventually(() => expect(buffered() - before).toBeLessThan(2 ** 20));
});
