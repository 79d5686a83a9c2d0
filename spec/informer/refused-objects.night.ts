/** What refused objects cost that come and go one at a time. */
import { describe, expect, it } from 'vitest';
import { deleted, modified, pod, scriptedInformer } from '../support/scripted-list-watch.ts';

const COUNT = 6_000;

describe('an informer that refuses every object', () => {
  it('I63: refusals one by one in a watch cost in proportion to their number', async () => {
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
});
