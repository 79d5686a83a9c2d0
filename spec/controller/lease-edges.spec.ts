/** Leases at the limits of their times: a late response, a fractional duration, a stop during a write. */
import {
  ApiError,
  createClient,
  createLeaderElector,
  type LeaderElectorOptions,
} from 'rx-informer';
import { leases } from 'rx-informer/resources';
import { createFakeApiServer, createVirtualTime } from 'rx-informer/testing';
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

  it('N22: a candidate waits for a deleted Lease as long as the Lease said', async () => {
    const { scheduler, server, elector, story } = rig();
    const { apiVersion, kind } = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
    const metadata = { ...place, uid: 'u', resourceVersion: '1' };
    const spec = { holderIdentity: 'b', leaseDurationSeconds: 60, renewTime: 'now' };
    server.lease = { apiVersion, kind, metadata, spec };
    elector.start();
    await scheduler.advance(1_000);
    server.lease = undefined;
    // It notices the deletion with its next attempt.
    await scheduler.advance(60_500);
    expect(story).toEqual(['0 false']);
    await scheduler.advance(5_000);
    expect(elector.isLeading).toBe(true);
    await elector.stop();
  });

  it('N16: a release that conflicts again and again ends after the renew deadline', async () => {
    const errors: ApiError[] = [];
    const { scheduler, server, elector } = rig({ onError: (error) => errors.push(error) });
    elector.start();
    await scheduler.advance(1_000);
    server.log.length = 0;
    server.fate = (method) =>
      method === 'PUT' ? { thereMs: 50, error: ApiError.fromStatus({}, 409) } : {};
    const stopping = elector.stop();
    await scheduler.advance(10_000);
    await stopping;
    // Two tries at once, because a renewal may have been in progress, then one each retry period.
    const sent = server.log.length;
    expect(sent).toBe(2 * 6);
    await scheduler.advance(60_000);
    expect([server.log.length, scheduler.pending]).toEqual([sent, 0]);
    // The error says what was in the way, not only that the time was over.
    expect(errors.map(({ code }) => code)).toEqual([409]);
  });

  it.each([
    ['leases', 'leases'],
    ['namespaces', 'leases'],
    ['leases', 'billing'],
  ])(
    'N16: the Lease %s/%s is read, released and taken by another candidate',
    async (namespace, name) => {
      const time = createVirtualTime();
      const { scheduler } = time;
      const server = createFakeApiServer({ resources: [leases], scheduler });
      const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler });
      const errors: ApiError[] = [];
      const onError = (error: ApiError) => errors.push(error);
      const candidate = (identity: string) =>
        createLeaderElector({ client, namespace, name, identity, scheduler, onError });
      const [a, b] = [candidate('a'), candidate('b')];
      a.start();
      await time.advance(1_000);
      b.start();
      await time.advance(1_000);
      expect([a.isLeading, b.isLeading]).toEqual([true, false]);
      const stopped = a.stop();
      await time.advance(5_000);
      await stopped;
      expect([a.isLeading, b.isLeading]).toEqual([false, true]);
      expect(errors).toEqual([]);
      void b.stop();
      await time.advance(1_000);
    },
  );

  it('N14: a renewal that is answered after the deadline of the one before, and before its timer, ends the lead', async () => {
    const { scheduler, client, story } = rig();
    let answer = () => {};
    let isHeld = false;
    const slow: typeof client = {
      request: async (request) => {
        const answered = await client.request(request);
        if (isHeld) {
          await new Promise<void>((resolve) => {
            answer = resolve;
          });
        }
        return answered as never;
      },
    };
    const elector = createLeaderElector({ ...place, client: slow, identity: 'a', scheduler });
    elector.leading$.subscribe((leads) => story.push(`${scheduler.now()} ${leads}`));
    elector.start();
    await scheduler.advance(7_900);
    isHeld = true;
    await scheduler.advance(200);
    // The event loop was blocked, and the response is processed before the timers.
    scheduler.jump(8_500);
    expect(elector.isLeading).toBe(false);
    isHeld = false;
    answer();
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    expect(story.slice(1)).toEqual(['0 false', '0 true', '16600 false']);
    await scheduler.advance(5_000);
    expect(elector.isLeading).toBe(true);
    await Promise.all([elector.stop(), scheduler.advance(1_000)]);
  });

  it('N14: the signal of run() compares the time when it is read', async () => {
    const { scheduler, elector } = rig();
    const signals: AbortSignal[] = [];
    const running = elector.run((signal) => {
      signals.push(signal);
    });
    await scheduler.advance(1_000);
    const [signal] = signals;
    expect(signal?.aborted).toBe(false);
    scheduler.jump(10_000);
    expect([signal?.aborted, `${signal?.reason}`]).toEqual([
      true,
      expect.stringContaining('not renewed within 10000 ms'),
    ]);
    expect(() => signal?.throwIfAborted()).toThrow('a is no longer the leader');
    await Promise.all([elector.stop(), scheduler.advance(1_000)]);
    await running;
  });

  it('N18: a candidate whose work outlasts its lead begins it again when it has returned', async () => {
    const { scheduler, server, elector } = rig();
    const story: string[] = [];
    let finish = () => {};
    const running = elector.run((signal) => {
      story.push(`${scheduler.now()} begins`);
      signal.addEventListener('abort', () => story.push(`${scheduler.now()} aborted`));
      return new Promise<void>((resolve) => {
        finish = resolve;
      });
    });
    await scheduler.advance(1_000);
    server.fate = () => ({ lost: 'request' });
    await scheduler.advance(11_000);
    server.fate = () => ({});
    await scheduler.advance(30_000);
    expect([elector.isLeading, story]).toEqual([false, ['0 begins', '10000 aborted']]);
    expect(elector.lastError?.message).toBe(
      'lease shop/billing: a does not compete, because work of its last lead, whose signal has aborted, has not ended',
    );
    finish();
    await scheduler.advance(2_000);
    expect(story).toEqual(['0 begins', '10000 aborted', '43000 begins']);
    finish();
    await Promise.all([elector.stop(), scheduler.advance(1_000)]);
    finish();
    await running;
  });
});
