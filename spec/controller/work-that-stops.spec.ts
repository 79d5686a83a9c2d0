/** Work of an elector that stops its own elector. */
import { createLeaderElector, type LeaderElectorOptions } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { leaseServer } from './lease-server.ts';

function rig() {
  const scheduler = new VirtualTime();
  const server = leaseServer(scheduler);
  const errors: string[] = [];
  const candidate = (identity: string, options: Partial<LeaderElectorOptions> = {}) =>
    createLeaderElector({
      ...{ namespace: 'shop', name: 'billing' },
      client: server.client(identity),
      identity,
      scheduler,
      random: () => 0,
      onError: ({ message }) => errors.push(`${scheduler.now()} ${message}`),
      ...options,
    });
  const pass = (ms: number) => new Promise<void>((resolve) => scheduler.schedule(resolve, ms));
  return { scheduler, server, errors, candidate, pass };
}

describe('work that stops its elector', () => {
  it.each([
    ['as the first thing', 0],
    ['later', 10],
  ])(
    'N18: work that stops its elector %s is waited for before the Lease is released',
    async (_when, afterMs) => {
      const { scheduler, server, candidate, pass } = rig();
      const [a, b] = [candidate('a'), candidate('b')];
      const working = new Set<string>();
      const story: string[] = [];
      const note = (what: string) => story.push(`${scheduler.now()} ${what}; ${[...working]} work`);
      const first = a.run(async (signal) => {
        working.add('a');
        if (afterMs > 0) await pass(afterMs);
        void a.stop();
        note(`a stops, aborted: ${signal.aborted}`);
        await pass(1_000);
        working.delete('a');
        note('a ends');
      });
      b.start();
      const second = b.run(async (signal) => {
        working.add('b');
        note(`b begins, ${server.lease?.spec?.holderIdentity} holds`);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      });
      await scheduler.advance(10_000);
      await first;
      expect(story.map((line) => line.replace(/^\d+ /, ''))).toEqual([
        'a stops, aborted: true; a work',
        'a ends;  work',
        'b begins, b holds; b work',
      ]);
      await b.stop();
      await second;
      expect(scheduler.pending).toBe(0);
    },
  );

  it('N18: work that stops its elector and throws rejects run(), and the Lease is released', async () => {
    const { scheduler, server, candidate } = rig();
    const a = candidate('a');
    const stops: Promise<void>[] = [];
    await expect(
      a.run(() => {
        stops.push(a.stop());
        throw new Error('boom');
      }),
    ).rejects.toThrow('boom');
    await Promise.all(stops);
    expect([server.lease?.spec?.holderIdentity, scheduler.pending]).toEqual(['', 0]);
  });

  it.each([
    ['as the first thing', 0],
    ['later', 10],
  ])(
    'N18: work that awaits the stop of its elector %s is reported, and the Lease is kept',
    async (_when, afterMs) => {
      const { scheduler, server, errors, candidate, pass } = rig();
      const a = candidate('a');
      let giveUp = () => {};
      const running = a.run(async () => {
        if (afterMs > 0) await pass(afterMs);
        await Promise.race([
          a.stop(),
          new Promise<void>((resolve) => {
            giveUp = resolve;
          }),
        ]);
      });
      await scheduler.advance(60_000);
      expect(errors).toEqual([
        expect.stringMatching(
          new RegExp(
            `^${15_000 + afterMs} lease shop/billing: the work of run.. has not ended 15000 ms .* awaits stop.. never`,
          ),
        ),
      ]);
      expect([a.isLeading, server.lease?.spec?.holderIdentity]).toEqual([true, 'a']);
      giveUp();
      await running;
      expect([server.lease?.spec?.holderIdentity, scheduler.pending]).toEqual(['', 0]);
    },
  );

  it('N18: work that ends in time after a stop is not reported', async () => {
    const { scheduler, errors, candidate, pass } = rig();
    const a = candidate('a');
    const running = a.run(async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await pass(14_000);
    });
    await scheduler.advance(1_000);
    const stopped = a.stop();
    await scheduler.advance(60_000);
    await Promise.all([stopped, running]);
    expect([errors, scheduler.pending]).toEqual([[], 0]);
  });
});
