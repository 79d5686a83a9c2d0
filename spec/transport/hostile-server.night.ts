/** A hostile or broken server takes only a bounded amount of memory. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createListWatch } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import type { Observable } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/patience.ts';
import {
  bombed,
  ENDLESS,
  endAll,
  flooded,
  headOf,
  interimOnly,
  LIST,
  longestPiece,
  MiB,
  refusal,
  serving,
  WATCH,
  ways,
} from './hostile-rig.ts';

afterEach(endAll);

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

/** The memory in use, in MiB, after garbage collection. */
function heldMiB(): number {
  gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 2 ** 20;
}

/** How much more memory is in use after `act`, in MiB. */
async function grownMiB(act: () => Promise<unknown>): Promise<number> {
  const before = heldMiB();
  await act();
  return heldMiB() - before;
}

describe.each(ways)('over %s', (way) => {
  it.each(ENDLESS)(
    'T7, D8: %s is refused with no more than its limit in memory',
    async (...endless) => {
      expect(await grownMiB(() => refusal(way, endless))).toBeLessThan(30);
    },
  );

  it('T7: a body of one byte per chunk costs little more memory than its bytes', async () => {
    const count = 1_500_000;
    const chunks = Buffer.from('1\r\nx\r\n'.repeat(count));
    const client = await serving(way, (socket) => {
      socket.write(`${headOf()}1\r\n"\r\n`);
      socket.write(chunks);
    });
    const before = heldMiB();
    const calls: Observable<unknown>[] = [
      createListWatch(client, pods).watch(WATCH),
      createListWatch(client, pods).list(LIST),
    ];
    for (const call of calls) {
      let most = 0;
      const subscription = call.subscribe({ error: () => {} });
      for (let turn = 0; turn < 6; turn++) {
        await new Promise((resolve) => setTimeout(resolve, 250));
        most = Math.max(most, heldMiB() - before);
      }
      subscription.unsubscribe();
      // Keeping each byte by itself would cost many times as much.
      expect(most).toBeLessThan(40);
    }
  });

  it('C10: a log without line breaks is not kept', async () => {
    // 160 pieces of 1 MiB were received. The amount in flight depends on the pace of server and
    // reader, which share this process.
    expect(await grownMiB(() => longestPiece(way, 160))).toBeLessThan(120);
  });
});

it('T7: endless interim responses take no memory', async () => {
  expect(await grownMiB(() => interimOnly(64 * MiB))).toBeLessThan(30);
});

it('T7: a decompression bomb takes no more memory than the limit of a line', async () => {
  expect(await grownMiB(bombed)).toBeLessThan(40);
});

it('T7: a flood of bookmarks takes no memory', async () => {
  const { informer, sent } = await flooded();
  const from = sent();
  const grown = await grownMiB(() => eventually(() => sent() - from > 100 * MiB));
  expect(grown).toBeLessThan(30);
  await informer.stop();
});
