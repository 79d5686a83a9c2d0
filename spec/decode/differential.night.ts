/** The memory of a differential decoder. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { Difference } from '../../lib/decode/differential/difference.ts';
import { KeptDocument } from '../../lib/decode/differential/document.ts';
import { Shapes } from '../../lib/decode/differential/shapes.ts';
import { eventually } from '../support/patience.ts';
import { bytes } from './decoder.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

/** The bytes of the buffers in use, after garbage collection. */
function buffered(): number {
  gc();
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
