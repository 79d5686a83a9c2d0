/** Overlapping stops and starts of an elector, also by its own work, a Lease that is deleted, and a client with many other requests. */
import {
  ApiError,
  createClient,
  createLeaderElector,
  type LeaderElectorOptions,
} from 'rx-informer';
import { leases, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { type LeaseServer, leaseServer, place, electionRig as rig } from './lease-server.ts';

describe('an elector that is stopped and started', () => {
  it('N21: a start during a release does not release the Lease of its next candidacy', async () => {
    const { scheduler, server, candidate } = rig();
    const [a, b] = [candidate('a'), candidate('b')];
    a.start();
    await scheduler.advance(1);
    b.start();
    await scheduler.advance(1_000);
    // The release takes two seconds and has a conflict.
    let conflict = true;
    server.fate = (method, sender) => {
      if (sender !== 'a') return {};
      if (method !== 'PUT' || !conflict) return { thereMs: 1_000, backMs: 1_000 };
      conflict = false;
      return { thereMs: 1_000, backMs: 1_000, error: ApiError.fromStatus({}, 409) };
    };
    const wrong: string[] = [];
    const leading = new Set<string>();
    for (const elector of [a, b]) {
      const follow = () => {
        elector.leading$.subscribe({
          next: (leads) => {
            if (leads) leading.add(elector.identity);
            else leading.delete(elector.identity);
            if (leading.size > 1) wrong.push(`${scheduler.now()} both lead`);
          },
          complete: () => {
            // A listener would never be notified of the loss.
            if (leading.has(elector.identity)) wrong.push(`${elector.identity} ends as leader`);
            follow();
          },
        });
      };
      follow();
    }
    const stopped = a.stop();
    await scheduler.advance(1_500);
    a.start();
    for (let second = 0; second < 60; second++) {
      await scheduler.advance(1_000);
      if (a.isLeading && b.isLeading) wrong.push(`${scheduler.now()} both lead`);
    }
    await stopped;
    expect(wrong).toEqual([]);
    expect([...leading]).toEqual([server.lease?.spec?.holderIdentity]);
    server.fate = () => ({});
    await Promise.all([a.stop(), b.stop()]);
    await scheduler.advance(1_000);
    expect(scheduler.pending).toBe(0);
  });

  it('N18, N21: calls work that was passed to run() during a stop, unless it was stopped again', async () => {
    const { scheduler, candidate } = rig();
    const a = candidate('a');
    const log: string[] = [];
    const work = (name: string) => (signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        log.push(`${name} begins`);
        signal.addEventListener('abort', () => {
          log.push(`${name} ends`);
          scheduler.schedule(() => resolve(), 500);
        });
      });
    const first = a.run(work('one'));
    await scheduler.advance(1_000);
    const stopped = a.stop();
    const second = a.run(work('two'));
    await scheduler.advance(1_000);
    await Promise.all([stopped, first]);
    expect(log).toEqual(['one begins', 'one ends', 'two begins']);
    void a.stop();
    const third = a.run(work('three'));
    const last = a.stop();
    await scheduler.advance(1_000);
    await Promise.all([second, third, last]);
    expect(log.slice(3)).toEqual(['two ends']);
    expect([a.isLeading, scheduler.pending]).toEqual([false, 0]);
  });

  it('N18: does not call work again before the other work has ended', async () => {
    const { scheduler, server, candidate } = rig();
    const a = candidate('a');
    const log: string[] = [];
    const quick = a.run(() => void log.push('quick'));
    const slow = a.run(
      (signal) =>
        new Promise<void>((resolve) => {
          log.push('slow');
          signal.addEventListener('abort', () => scheduler.schedule(() => resolve(), 40_000));
        }),
    );
    await scheduler.advance(1_000);
    const stopped = a.stop();
    // The lead is lost and won again while the slow work still runs.
    server.fate = () => ({ error: ApiError.fromStatus({}, 503) });
    await scheduler.advance(19_000);
    server.fate = () => ({});
    await scheduler.advance(30_000);
    await Promise.all([stopped, quick, slow]);
    expect(log).toEqual(['quick', 'slow']);
  });
});

describe('a Lease that is deleted', () => {
  it('N22: a deleted Lease is not created again by a candidate that has seen its holder, until its duration has passed', async () => {
    const { scheduler, server, candidate } = rig();
    const [a, b] = [candidate('a'), candidate('b')];
    a.start();
    await scheduler.advance(1);
    b.start();
    await scheduler.advance(4_000);
    // The leader is cut off now, and leads until 14000.
    server.fate = (_method, sender) => (sender === 'a' ? { lost: 'request' } : {});
    server.lease = undefined;
    await scheduler.advance(9_000);
    expect([a.isLeading, b.isLeading]).toEqual([true, false]);
    await scheduler.advance(1_000);
    expect([a.isLeading, b.isLeading]).toEqual([false, false]);
    // The candidate noticed at 6001 that the Lease is gone.
    await scheduler.advance(6_999);
    expect(b.isLeading).toBe(false);
    await scheduler.advance(1);
    const { lease } = server as LeaseServer;
    expect([b.isLeading, lease?.spec?.holderIdentity]).toEqual([true, 'b']);
    server.fate = () => ({});
    await Promise.all([a.stop(), b.stop()]);
    expect(scheduler.pending).toBe(0);
  });

  it('N22: a deleted Lease is created again immediately by its holder, which continues to lead', async () => {
    const { scheduler, server, candidate } = rig();
    const [a, b] = [candidate('a'), candidate('b')];
    const lost: boolean[] = [];
    a.start();
    await scheduler.advance(1);
    a.leading$.subscribe((leads) => lost.push(!leads));
    b.start();
    await scheduler.advance(4_000);
    server.lease = undefined;
    await scheduler.advance(60_000);
    expect([lost, a.isLeading, b.isLeading]).toEqual([[false], true, false]);
    await Promise.all([a.stop(), b.stop()]);
  });

  it('N22: a candidate that was stopped meanwhile waits for a deleted Lease, too', async () => {
    const { scheduler, server, candidate } = rig();
    const [a, b] = [candidate('a'), candidate('b')];
    a.start();
    await scheduler.advance(1);
    b.start();
    await scheduler.advance(1_000);
    await b.stop();
    server.fate = (_method, sender) => (sender === 'a' ? { lost: 'request' } : {});
    server.lease = undefined;
    b.start();
    await scheduler.advance(8_000);
    expect([a.isLeading, b.isLeading]).toEqual([true, false]);
    await scheduler.advance(8_000);
    expect([a.isLeading, b.isLeading]).toEqual([false, true]);
    server.fate = () => ({});
    await Promise.all([a.stop(), b.stop()]);
  });

  it('N22: a Lease that no candidate has seen is created immediately', async () => {
    const { scheduler, candidate } = rig();
    const a = candidate('a');
    a.start();
    await scheduler.advance(0);
    expect(a.isLeading).toBe(true);
    await a.stop();
  });
});

describe('a client that is busy', () => {
  it('T10: a busy client does not cost the lead, because requests for Leases do not wait for others', async () => {
    const scheduler = new VirtualTime();
    const server = createFakeApiServer({ resources: [leases, pods], scheduler });
    const options = { baseUrl: 'http://fake', fetch: server.fetch, scheduler };
    const client = createClient({ ...options, qps: 5, burst: 5 });
    const lost: number[] = [];
    const elector = createLeaderElector({ ...place, client, identity: 'a', scheduler });
    elector.start();
    await scheduler.advance(100);
    elector.leading$.subscribe((leads) => {
      if (!leads) lost.push(scheduler.now());
    });
    let answered = 0;
    for (let call = 0; call < 500; call++) {
      void client.request({ path: '/api/v1/pods' }).then(() => answered++);
    }
    await scheduler.advance(60_000);
    expect([lost, elector.isLeading]).toEqual([[], true]);
    // The others wait as long as before.
    expect(answered).toBeLessThanOrEqual(5 + 60 * 5);
    await elector.stop();
  });
});

describe('work that stops its elector', () => {
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
