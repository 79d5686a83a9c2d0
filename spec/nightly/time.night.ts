/** Measures that processor time grows with the size of what a server sends, and no faster. */
import { ApiError } from 'rx-informer';
import { expect, it } from 'vitest';
import { deleted, modified, pod, scriptedInformer } from '../support/scripted-list-watch.ts';

const COUNT = 6_000;

it('I63: an informer that refuses every object: refusals one by one in a watch cost in proportion to their number', async () => {
  const refuse = () => {
    throw new Error('refused');
  };
  const { source, informer } = scriptedInformer({ indexers: { never: refuse } });
  source.listed(1);
  informer.start();
  /** The CPU time of each quarter of the events in milliseconds, sent one at a time. */
  const quarters = (send: (at: number) => void) =>
    [0, 1, 2, 3].map((quarter) => {
      const since = process.threadCpuUsage();
      for (let at = 0; at < COUNT / 4; at++) send(quarter * (COUNT / 4) + at);
      const { user, system } = process.threadCpuUsage(since);
      return (user + system) / 1_000;
    });
  const refusals = quarters((at) => source.send(modified(pod(`p${at}`, 2 + at))));
  expect(informer.status.refused).toBe(COUNT);
  // The latest refused objects, which the status shows, are deleted first.
  const deletions = quarters((at) =>
    source.send(deleted(pod(`p${COUNT - 1 - at}`, COUNT + 2 + at))),
  );
  expect(informer.status.refused).toBe(0);
  // If each event cost time in proportion to the number of refused objects, the slowest quarter would take seven
  // times the fastest.
  expect(refusals[3]).toBeLessThan(4 * (refusals[0] ?? 0) + 200);
  expect(deletions[0]).toBeLessThan(4 * (deletions[3] ?? 0) + 200);
  await informer.stop();
});

/** Texts that a backtracking expression for credentials would read again and again. */
const FORMS: Readonly<Record<string, (length: number) => string>> = {
  'many beginnings of tokens': (length) => 'eyJa-'.repeat(length / 5),
  'beginnings with dots': (length) => 'eyJa.'.repeat(length / 5),
  'a long run': (length) => 'a'.repeat(length),
  'schemes without a credential': (length) => 'Bearer '.repeat(length / 7),
  'line breaks': (length) => '\n'.repeat(length),
};

function msOf(status: object): number {
  const times = Array.from({ length: 15 }, () => {
    const from = performance.now();
    ApiError.fromStatus(status as never, 500);
    return performance.now() - from;
  });
  return Math.min(...times);
}

it.each(Object.entries(FORMS))(
  'M7: %s of 16 kB take at most four times as long per character as those of 1 kB',
  (_, form) => {
    const times = [1, 2, 4, 8, 16].map((kB) => msOf({ message: form(kB * 1_024), code: 500 }) / kB);
    process.stdout.write(`${times.map((ms) => (ms * 1_000).toFixed(0)).join(' ')} µs per kB\n`);
    expect(times.at(-1)).toBeLessThan(4 * Math.max(times[0] as number, 0.002));
  },
);

it('M7: ten thousand causes take no longer than ten times a hundred', () => {
  const causes = (count: number) => ({
    code: 422,
    message: 'invalid',
    details: {
      causes: Array.from({ length: count }, () => ({
        message: 'eyJa-'.repeat(3_000),
        field: 'spec',
      })),
    },
  });
  const [few, many] = [msOf(causes(100)), msOf(causes(10_000))];
  process.stdout.write(`${few.toFixed(1)} and ${many.toFixed(1)} ms\n`);
  expect(many).toBeLessThan(10 * Math.max(few, 1));
});
