/** Tests the turns of edits: their order is tested with the edits of hooks and of workers, and here what they keep. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { Turns } from '../../../lib/factory/edits/turns.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

it('B12: edits of one object that overlap without end keep no answers', async () => {
  const turns = new Turns();
  const answers: WeakRef<object>[] = [];
  const edit = (released?: Promise<void>) =>
    turns.take('object', async (before) => {
      await before;
      await released;
      const answer = { large: 'x' };
      answers.push(new WeakRef(answer));
      return answer;
    });
  let current: Promise<unknown> = edit();
  for (let at = 0; at < 100; at++) {
    const next = edit();
    await current;
    current = next;
  }
  let release = () => {};
  const last = edit(
    new Promise((resolve) => {
      release = resolve;
    }),
  );
  current = last;
  // A turn of the event loop, because references that were read stay until its end.
  await new Promise(setImmediate);
  gc();
  expect(answers.length).toBeGreaterThan(99);
  expect(answers.filter((each) => each.deref() !== undefined).length).toBeLessThan(5);
  release();
  await last;
});
