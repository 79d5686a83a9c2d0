/** Leases at the limits of their times: a late response, a fractional duration, a stop during a write. */
import { createLeaderElector, type LeaderElectorOptions } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import { Clock } from '../rx/clock.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import { leaseServer } from './lease-server.ts';

const place = { namespace: 'shop', name: 'billing' };

function rig(options: Partial<LeaderElectorOptions> = {}) {
  const scheduler = new VirtualTime();
  const server = leaseServer(scheduler);
  const client = server.client('a');
  const elector = createLeaderElector({
    ...place,
    client,
    identity: 'a',
    scheduler,
    random: () => 0,
    ...options,
  });
  const story: string[] = [];
  elector.leading$.subscribe((leads) => story.push(`${scheduler.now()} ${leads}`));
  return { scheduler, server, client, elector, story };
}

describe('a lease', () => {
  it.each([
    ['', 0],
    [', also if the clock was set back meanwhile', -60_000],
  ])(
    'N14: a response that arrives after the renew deadline of its write makes no leader%s',
    async (_when, byMs) => {
      const { scheduler, server, client } = rig();
      const clock = new Clock(scheduler);
      // A client that ignores the signal and delivers the response anyway.
      const deaf: typeof client = { request: ({ signal: _, ...rest }) => client.request(rest) };
      const elector = createLeaderElector({
        ...place,
        client: deaf,
        identity: 'a',
        scheduler: clock,
      });
      const led: boolean[] = [];
      elector.leading$.subscribe((leads) => led.push(leads));
      server.fate = (method) => (method === 'POST' ? { backMs: 10_500 } : {});
      elector.start();
      await scheduler.advance(5_000);
      clock.set(byMs);
      await scheduler.advance(5_600);
      expect(server.lease?.spec?.holderIdentity).toBe('a');
      expect([led, elector.isLeading]).toEqual([[false], false]);
      // It holds the Lease, so the next attempt makes it the leader.
      server.fate = () => ({});
      await scheduler.advance(10_000);
      expect(elector.isLeading).toBe(true);
      await elector.stop();
    },
  );

  it('N14: a response that is read after a sleep past the deadline makes no leader', async () => {
    const { scheduler, server, elector, story } = rig();
    server.fate = (method) => (method === 'POST' ? { backMs: 1_000 } : {});
    elector.start();
    await scheduler.advance(500);
    // The machine sleeps. When it wakes, it reads the response before any timer fires.
    scheduler.jump(20_000);
    await scheduler.advance(0);
    expect(story).toEqual(['0 false']);
    expect(elector.isLeading).toBe(false);
    await scheduler.advance(5_000);
    expect(elector.isLeading).toBe(true);
    await elector.stop();
  });

  it('N15: a duration that is not a multiple of a second is rounded up', async () => {
    const { scheduler, server, elector } = rig({ leaseDurationMs: 10_001 });
    elector.start();
    await scheduler.advance(1);
    expect(server.lease?.spec?.leaseDurationSeconds).toBe(11);
    await elector.stop();
  });

  it.each(['POST', 'PUT'] as const)('N21: a stop during a %s leaves no timer', async (slow) => {
    for (const releaseOnCancel of [true, false]) {
      const { scheduler, server, elector } = rig({ releaseOnCancel });
      server.fate = (method) => (method === slow ? { thereMs: 500, backMs: 500 } : {});
      elector.start();
      await scheduler.advance(slow === 'POST' ? 100 : 2_100);
      expect(server.log.at(-1)).toBe(slow === 'POST' ? 'a GET 404' : 'a POST');
      server.fate = () => ({});
      await elector.stop();
      // The aborted request still reaches the server, and its response arrives.
      await scheduler.advance(1_000);
      expect(scheduler.pending).toBe(0);
    }
  });
});
