/** The rules of leader election, one by one. */
import { ApiError, type LeaderElectorOptions } from 'rx-informer';

import { config } from 'rxjs';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { Clock } from '../rx/clock.ts';
import { eventually } from '../support/patience.ts';
import { FALSE_ANSWERS, place, electionRig as rig } from './lease-server.ts';

afterAll(() => {
  config.onUnhandledError = null;
});

describe('leader election', () => {
  it('N13: periods with which two could lead are refused (TestLeaderElectionConfigValidation)', () => {
    const { candidate } = rig();
    const refused = (options: Partial<LeaderElectorOptions>) => () => candidate('a', options);
    expect(refused({ leaseDurationMs: 10_000 })).toThrow(/must be over renewDeadlineMs \(10000\)/);
    expect(refused({ renewDeadlineMs: 2_400 })).toThrow(/over 1.2 times retryPeriodMs \(2000\)/);
    expect(refused({ retryPeriodMs: 0 })).toThrow(/retryPeriodMs is 0/);
    expect(refused({ identity: '' })).toThrow(/identity is ""/);
  });

  it.each<[string, () => number]>([
    [
      'throws',
      () => {
        throw new Error('no random');
      },
    ],
    ['returns NaN', () => Number.NaN],
    ['returns a huge number', () => 1e9],
    ['returns a negative number', () => -5],
  ])(
    'X4: a candidate whose random %s waits as others do, and leads when it may',
    async (_how, random) => {
      const reported: string[] = [];
      config.onUnhandledError = (error) => reported.push((error as Error).message);
      const { scheduler, server, story, candidate } = rig();
      const a = candidate('a');
      const b = candidate('b', { random });
      a.start();
      await scheduler.advance(1);
      b.start();
      const before = server.log.length;
      await scheduler.advance(60_000);
      // Each reads the Lease every 2 s to 4.4 s, and one of them renews it every 2 s.
      expect(server.log.length - before).toBeLessThan(80);
      await a.stop();
      await scheduler.advance(5_000);
      expect(story.map((line) => line.replace(/^[\d.]+ /, ''))).toEqual([
        'a leads',
        'a lost',
        'b leads',
      ]);
      await b.stop();
      await eventually(() =>
        expect(reported[0]).toMatch(
          /^no random$|^what random returned is .*; it must be a number in \[0, 1\)$/,
        ),
      );
    },
  );

  it('N13: a name that no Lease and a namespace that no server can have are refused', () => {
    const { candidate } = rig();
    const refused = (options: Partial<LeaderElectorOptions>) => () => candidate('a', options);
    for (const name of ['', 'A/b', '..', 'UPPER', 'a?b', '-a', 'a'.repeat(254), 5 as never]) {
      expect(refused({ name })).toThrow(
        /createLeaderElector: name is .*; it must be a name of at most 253 /,
      );
    }
    for (const namespace of ['', 'a/../b', '.', 'Shop', 'a'.repeat(64), undefined as never]) {
      expect(refused({ namespace })).toThrow(
        /createLeaderElector: namespace is .*; it must be a name of at most 63 /,
      );
    }
    candidate('a', { name: `${'a'.repeat(126)}.${'b'.repeat(126)}`, namespace: 'a'.repeat(63) });
  });

  it('N13: the first candidate creates the Lease and renews it; the others wait', async () => {
    const { scheduler, server, story, candidate } = rig();
    const a = candidate('a');
    const b = candidate('b');
    const leaders: string[] = [];
    b.leader$.subscribe((leader) => leaders.push(leader));
    a.start();
    a.start();
    await scheduler.advance(1);
    b.start();
    await scheduler.advance(60_000);
    expect(story).toEqual(['0 a leads']);
    expect(leaders).toEqual(['', 'a']);
    expect(server.lease?.spec).toMatchObject({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '1970-01-01T00:00:00.000000Z',
      // The microseconds count the renewals.
      renewTime: '1970-01-01T00:01:00.000030Z',
      leaseTransitions: 0,
    });
    await Promise.all([a.stop(), b.stop()]);
    expect(scheduler.pending).toBe(0);
  });

  it.each(FALSE_ANSWERS)(
    'N13: status 200 with %j in place of the server is no renewal, and wins no Lease',
    async (instead) => {
      const errors: string[] = [];
      const { scheduler, server, story, candidate } = rig();
      const onError = ({ message }: ApiError) => errors.push(message);
      const [a, b] = [candidate('a', { onError }), candidate('b', { onError })];
      a.start();
      await scheduler.advance(1);
      b.start();
      server.fate = (_method, name) => (name === 'b' ? { instead } : {});
      await scheduler.advance(40_000);
      expect(story).toEqual(['0 a leads']);
      server.fate = (_method, name) => (name === 'a' ? { instead } : {});
      await scheduler.advance(60_000);
      expect(story.map((line) => line.replace(/^\d+ /, ''))).toEqual([
        'a leads',
        'a lost',
        'b leads',
      ]);
      expect(errors[0]).toMatch(
        /^GET \S+\/leases\/billing: the response is not the requested Lease; does a proxy answer/,
      );
      server.fate = () => ({});
      await Promise.all([a.stop(), b.stop()]);
    },
  );

  it('N13: a response to a write that has another holder, or is of an earlier write, is no renewal', async () => {
    // A leader that reads another holder gives up immediately.
    const changes = [
      [{ holderIdentity: 'z' }, 2_000],
      [{ renewTime: '1970-01-01T00:00:00.000000Z' }, 10_000],
    ] as const;
    for (const [change, lostMs] of changes) {
      const { scheduler, server, story, candidate } = rig();
      const a = candidate('a');
      a.start();
      await scheduler.advance(1);
      const { lease } = server;
      server.fate = () => ({ instead: { ...lease, spec: { ...lease?.spec, ...change } } });
      await scheduler.advance(30_000);
      expect(story).toEqual(['0 a leads', `${lostMs} a lost`]);
      server.fate = () => ({});
      await a.stop();
    }
  });

  it('N45: without onError an elector warns once about a missing right, and not about a faster candidate', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const { scheduler, server, candidate } = rig();
    const onError = undefined;
    const a = candidate('a', { onError });
    const forbidden = ApiError.fromStatus(
      { message: 'leases is forbidden', reason: 'Forbidden' },
      403,
    );
    server.fate = () => ({ error: forbidden });
    a.start();
    await scheduler.advance(30_000);
    expect(warn.mock.calls).toEqual([
      ['leader election: leases is forbidden (it goes on; pass onError to receive such errors)'],
    ]);
    server.fate = () => ({});
    await scheduler.advance(30_000);
    expect(a.isLeading).toBe(true);
    // The Lease was won, so the next loss is warned of again.
    warn.mockClear();
    server.fate = () => ({ error: forbidden });
    await scheduler.advance(30_000);
    const words = warn.mock.calls.map(([text]) => /forbidden|not renewed/.exec(text)?.[0]);
    expect(words).toEqual(['forbidden', 'not renewed']);
    server.fate = () => ({});
    await scheduler.advance(30_000);
    expect(a.isLeading).toBe(true);
    warn.mockClear();
    const b = candidate('b', { onError });
    server.fate = (method, name) =>
      name === 'b' && method !== 'GET' ? { error: ApiError.fromStatus({}, 409) } : {};
    b.start();
    await a.stop();
    await scheduler.advance(30_000);
    expect(warn).not.toHaveBeenCalled();
    server.fate = () => ({ error: forbidden });
    await scheduler.advance(30_000);
    expect(warn).toHaveBeenCalledTimes(1);
    server.fate = () => ({});
    await b.stop();
    warn.mockRestore();
  });

  it('N16: a renewal is one request; after a conflict the Lease is read again (TestFastPathLeaderElection)', async () => {
    const { scheduler, server, story, candidate } = rig();
    const a = candidate('a');
    a.start();
    await scheduler.advance(2_000);
    expect(server.log).toEqual(['a GET 404', 'a POST', 'a PUT']);
    // Another client labels the Lease.
    const { lease } = server;
    server.lease = { ...lease, metadata: { ...lease?.metadata, resourceVersion: '77' } };
    server.lease.spec = { ...lease?.spec, strategy: 'kept' };
    server.log.length = 0;
    await scheduler.advance(4_000);
    expect(server.log).toEqual(['a PUT 409', 'a GET', 'a PUT', 'a PUT']);
    expect(server.lease?.spec).toMatchObject({ strategy: 'kept', leaseTransitions: 0 });
    expect(story).toEqual(['0 a leads']);
    await a.stop();
  });

  it('N14: a leader that cannot renew stops leading at the deadline, counted from when it sent its last renewal', async () => {
    const { scheduler, server, story, candidate } = rig();
    const errors: string[] = [];
    const a = candidate('a', { onError: (error) => errors.push(error.message) });
    // The response to each request takes three seconds.
    server.fate = () => ({ backMs: 3_000 });
    a.start();
    await scheduler.advance(6_000);
    expect(story).toEqual(['6000 a leads']);
    server.fate = () => ({ error: ApiError.fromStatus({}, 500) });
    await scheduler.advance(60_000);
    // The POST was sent at 3000.
    expect(story).toEqual(['6000 a leads', '13000 a lost']);
    expect(errors).toContain(
      'lease shop/billing: not renewed within 10000 ms; a is no longer the leader',
    );
    server.fate = () => ({});
    await a.stop();
  });

  it('N14: a request without a response is aborted in time for a second one', async () => {
    const { scheduler, server, story, candidate } = rig();
    const a = candidate('a');
    a.start();
    await scheduler.advance(1_999);
    let hung = 0;
    server.fate = () => (hung++ === 0 ? { lost: 'request' } : {});
    await scheduler.advance(30_000);
    expect(story).toEqual(['0 a leads']);
    await a.stop();
  });

  it('N14: isLeading is false after a forward jump of the clock over the deadline', async () => {
    const { scheduler, candidate } = rig();
    const clock = new Clock(scheduler);
    const a = candidate('a', { scheduler: clock });
    a.start();
    await scheduler.advance(1_000);
    expect(a.isLeading).toBe(true);
    clock.set(60_000);
    expect(a.isLeading).toBe(false);
    await a.stop();
  });

  it('N14: setting the clock back during a renewal does not extend the lead', async () => {
    const { scheduler, server, story, candidate } = rig();
    const clock = new Clock(scheduler);
    const a = candidate('a', { scheduler: clock });
    server.fate = (method) => (method === 'POST' ? { backMs: 1_000 } : {});
    a.start();
    await scheduler.advance(500);
    clock.set(-60_000);
    await scheduler.advance(500);
    server.fate = () => ({ error: ApiError.fromStatus({}, 500) });
    await scheduler.advance(60_000);
    expect(story).toEqual(['1000 a leads', '10000 a lost']);
    server.fate = () => ({});
    await a.stop();
  });

  it('N15: a candidate takes the Lease when it has not seen it change for its duration', async () => {
    const { scheduler, server, story, candidate } = rig();
    const a = candidate('a');
    a.start();
    await scheduler.advance(1);
    const b = candidate('b');
    b.start();
    await scheduler.advance(20_999);
    // Candidate a is killed. Its last renewal was at 20000, which b saw at 20001.
    server.fate = (_method, sender) => (sender === 'a' ? { lost: 'request' } : {});
    await scheduler.advance(60_000);
    expect(story).toEqual(['0 a leads', '30000 a lost', '35001 b leads']);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
    server.fate = () => ({});
    await Promise.all([a.stop(), b.stop()]);
  });

  it.each([
    ['without a spec', {}, 0, 'a', 1],
    [
      'that was given up',
      { holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 4 },
      0,
      'a',
      5,
    ],
    [
      'of another',
      { holderIdentity: 'z', leaseDurationSeconds: 20, leaseTransitions: 4 },
      20_000,
      'a',
      5,
    ],
    [
      'of its own, from a life before',
      { holderIdentity: 'a', leaseDurationSeconds: 20 },
      0,
      'a',
      0,
    ],
  ] as const)(
    'N15: a Lease %s is taken when it is free (TestTryAcquireOrRenewLeases)',
    async (_what, spec, afterMs, holder, transitions) => {
      const { scheduler, server, story, candidate } = rig();
      server.lease = { kind: 'Lease', metadata: { ...place, resourceVersion: '1' }, spec };
      const a = candidate('a');
      a.start();
      await scheduler.advance(afterMs);
      expect(story).toEqual([`${afterMs} a leads`]);
      expect(server.lease?.spec).toMatchObject({
        holderIdentity: holder,
        leaseTransitions: transitions,
      });
      await a.stop();
    },
  );

  it.each(['x', null, undefined, 0, -5, {}, '20'])(
    'N15: a Lease of another holder with the duration %j is not taken before the own duration has passed',
    async (duration) => {
      for (const isDeleted of [false, true]) {
        const { scheduler, server, story, candidate } = rig();
        const spec = { holderIdentity: 'z', leaseDurationSeconds: duration as number };
        server.lease = { kind: 'Lease', metadata: { ...place, resourceVersion: '1' }, spec };
        const a = candidate('a');
        a.start();
        await scheduler.advance(1_000);
        if (isDeleted) server.lease = undefined;
        await scheduler.advance(13_999);
        expect(story).toEqual([]);
        await scheduler.advance(3_000);
        expect(story).toEqual([isDeleted ? '17000 a leads' : '15000 a leads']);
        await a.stop();
      }
    },
  );

  it('N15: a Lease whose spec is null is free, and is released', async () => {
    const { scheduler, server, story, candidate } = rig();
    const metadata = { ...place, resourceVersion: '1' };
    server.lease = { kind: 'Lease', metadata, spec: null as never };
    const a = candidate('a');
    const leaders: string[] = [];
    a.leader$.subscribe((leader) => leaders.push(leader));
    a.start();
    await scheduler.advance(1_000);
    expect([story, a.lastError, leaders]).toEqual([['0 a leads'], undefined, ['', 'a']]);
    await a.stop();
    expect(server.lease?.spec?.holderIdentity).toBe('');
  });

  it('N15: neither old times in the Lease nor a clock that is set shorten the wait of a candidate', async () => {
    const { scheduler, server, story, candidate } = rig();
    const a = candidate('a', { scheduler: new Clock(scheduler, -3_600_000) });
    const clock = new Clock(scheduler, 3_600_000);
    const b = candidate('b', { scheduler: clock });
    a.start();
    await scheduler.advance(1);
    b.start();
    await scheduler.advance(10_000);
    clock.set(86_400_000);
    await scheduler.advance(30_000);
    expect(story).toEqual(['0 a leads']);
    expect(server.lease?.spec?.holderIdentity).toBe('a');
    await Promise.all([a.stop(), b.stop()]);
  });

  it.each([
    ['stands still', 0, 0],
    ['stands still, and the candidate sees every second renewal', 0, 1 / 1.2],
    ['goes back and forth, and the candidate sees every second renewal', 1_000, 1 / 1.2],
  ])('N13: one leads while the clock of the leader %s', async (_what, byMs, jitter) => {
    const { scheduler, server, story, candidate } = rig();
    const now = () => byMs * (Math.floor(scheduler.now() / 2_000) % 2);
    const schedule: typeof scheduler.schedule = (...args) => scheduler.schedule(...args);
    const a = candidate('a', { scheduler: { now, schedule } });
    const b = candidate('b', { random: () => jitter });
    const times = new Set<string | undefined>();
    a.start();
    await scheduler.advance(1);
    b.start();
    for (let second = 0; second < 120; second++) {
      await scheduler.advance(1_000);
      times.add(server.lease?.spec?.renewTime);
    }
    expect(story).toEqual(['0 a leads']);
    expect(times.size).toBeGreaterThanOrEqual(60);
    const others = [...times].filter((time) => !/T\d\d:\d\d:\d\d\.\d{6}Z$/.test(time ?? ''));
    expect(others).toEqual([]);
    await Promise.all([a.stop(), b.stop()]);
  });

  it('N22: a Lease that was created again is another one, although the clock of the leader stands still', async () => {
    const { scheduler, server, story, candidate } = rig();
    const schedule: typeof scheduler.schedule = (...args) => scheduler.schedule(...args);
    const a = candidate('a', { scheduler: { now: () => 0, schedule } });
    const b = candidate('b');
    a.start();
    await scheduler.advance(1);
    b.start();
    await scheduler.advance(1);
    const first = server.lease?.spec;
    // The candidate sees none of the renewals.
    const error = ApiError.fromStatus({}, 500);
    server.fate = (_method, who) => (who === 'b' ? { error } : {});
    await scheduler.advance(19_498);
    server.lease = undefined;
    await scheduler.advance(500);
    expect(server.lease).toMatchObject({ spec: first });
    server.fate = () => ({});
    await scheduler.advance(60_000);
    expect(story).toEqual(['0 a leads']);
    await Promise.all([a.stop(), b.stop()]);
  });

  it('N16: stop() releases the Lease after reading it, and another candidate need not wait (TestReleaseMethodCallsGet)', async () => {
    const { scheduler, server, story, candidate } = rig();
    const a = candidate('a');
    const b = candidate('b');
    a.start();
    await scheduler.advance(1);
    b.start();
    await scheduler.advance(5_000);
    server.log.length = 0;
    await a.stop();
    expect(server.log).toEqual(['a GET', 'a PUT']);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
    await scheduler.advance(2_000);
    expect(story).toEqual(['0 a leads', '5001 a lost', '6001 b leads']);
    await b.stop();
  });

  it('N16: a release that conflicts with a renewal in progress is retried (TestReleaseRetriesOnConflict)', async () => {
    const { scheduler, server, candidate } = rig();
    const a = candidate('a');
    a.start();
    await scheduler.advance(1);
    let puts = 0;
    server.fate = (method) => {
      const first = method === 'PUT' && ++puts === 1;
      return first ? { error: ApiError.fromStatus({}, 409) } : {};
    };
    await a.stop();
    expect(server.log.slice(-4)).toEqual(['a GET', 'a PUT 409', 'a GET', 'a PUT']);
    expect(server.lease?.spec?.holderIdentity).toBe('');
  });

  it('N16: a Lease whose renewal lost its response is released; the Lease of another holder is not', async () => {
    const { scheduler, server, candidate } = rig();
    const a = candidate('a');
    const b = candidate('b');
    server.fate = (method) => (method === 'POST' ? { lost: 'answer' } : {});
    a.start();
    await scheduler.advance(1);
    await a.stop();
    expect(server.lease?.spec?.holderIdentity).toBe('');
    a.start();
    await scheduler.advance(1);
    b.start();
    await scheduler.advance(1);
    await b.stop();
    expect(server.lease?.spec?.holderIdentity).toBe('a');
    const c = candidate('c', { releaseOnCancel: false });
    await a.stop();
    c.start();
    await scheduler.advance(1);
    await c.stop();
    expect(server.lease?.spec?.holderIdentity).toBe('c');
    expect(scheduler.pending).toBe(0);
  });

  it('N16: a leader that was cut off while another took over does not release the Lease', async () => {
    const { scheduler, server, candidate } = rig();
    const a = candidate('a');
    a.start();
    await scheduler.advance(1);
    const b = candidate('b');
    b.start();
    await scheduler.advance(1);
    server.fate = (_method, sender) => (sender === 'a' ? { lost: 'request' } : {});
    await scheduler.advance(30_000);
    expect(server.lease?.spec?.holderIdentity).toBe('b');
    server.fate = () => ({});
    await a.stop();
    expect(server.lease?.spec?.holderIdentity).toBe('b');
    await b.stop();
  });

  it('N18: a candidate that lost the lead competes again', async () => {
    const { scheduler, server, story, candidate } = rig();
    const a = candidate('a');
    a.start();
    await scheduler.advance(1_000);
    server.fate = () => ({ error: ApiError.fromStatus({}, 503) });
    await scheduler.advance(19_000);
    server.fate = () => ({});
    await scheduler.advance(10_000);
    expect(story).toEqual(['0 a leads', '10000 a lost', '21000 a leads']);
    await a.stop();
  });

  it('N18: run() calls its work each time it leads, and stop() waits for the work before the release', async () => {
    const { scheduler, server, candidate } = rig();
    const a = candidate('a');
    const log: string[] = [];
    const running = a.run(
      (signal) =>
        new Promise<void>((resolve) => {
          log.push('work');
          signal.addEventListener('abort', () => {
            log.push(`abort, ${server.lease?.spec?.holderIdentity} holds`);
            scheduler.schedule(() => {
              log.push(`done, ${server.lease?.spec?.holderIdentity} holds`);
              resolve();
            }, 500);
          });
        }),
    );
    await scheduler.advance(1_000);
    server.fate = () => ({ error: ApiError.fromStatus({}, 503) });
    await scheduler.advance(19_000);
    server.fate = () => ({});
    await scheduler.advance(1_000);
    expect(log).toEqual(['work', 'abort, a holds', 'done, a holds', 'work']);
    const stopped = a.stop();
    await scheduler.advance(1_000);
    await Promise.all([stopped, running]);
    expect(log.slice(4)).toEqual(['abort, a holds', 'done, a holds']);
    expect(server.lease?.spec?.holderIdentity).toBe('');
  });

  it('N18: run() rejects with the error of its work, and releases the Lease', async () => {
    const { server, candidate } = rig();
    const a = candidate('a');
    await expect(
      a.run(() => {
        throw new Error('boom');
      }),
    ).rejects.toThrow('boom');
    await a.stop();
    expect(server.lease?.spec?.holderIdentity).toBe('');
  });
});
