/** Tests edits that are sent in turn: their order is tested with the edits of hooks and of workers, and here what they keep. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { deployments } from 'rx-informer/resources';
import { asyncScheduler } from 'rxjs';
import { expect, it } from 'vitest';
import { SentEdits } from '../../../lib/factory/edits/sent-edits.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

it('B12: edits of one object that overlap without end keep no answers', async () => {
  const edits = new SentEdits(asyncScheduler);
  const answers: WeakRef<object>[] = [];
  const edit = (released?: Promise<void>) =>
    edits.add({
      ...{ resource: deployments, target: 'shop/web', signal: undefined, draft: undefined },
      timeoutMs: Number.POSITIVE_INFINITY,
      send: async () => {
        await released;
        const answer = { large: 'x' };
        answers.push(new WeakRef(answer));
        return answer;
      },
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
