/** The memory that the items of a list retain. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { list } from './decoder.ts';

it('D8: a stored item retains neither the other items nor the text of its list (TestReflectorListExtract)', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heapOf = () => {
    for (let times = 0; times < 3; times++) collect();
    return process.memoryUsage().heapUsed;
  };
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
  const before = heapOf();
  for (let page = 1; page <= 10; page++) {
    const out = read(page);
    // Keeps one object, and the name of another one.
    kept.push(out[0], out[1]?.metadata?.name);
  }
  // Of 20 MB, ten objects of 100 kB are kept.
  expect(heapOf() - before).toBeLessThan(5_000_000);
  expect(kept).toHaveLength(20);
});
