/** A controller with leader election, which reconciles only while it leads. */
import { ApiError, createController, createLeaderElector, type LeaderElector } from 'rx-informer';
import { BehaviorSubject } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { added, pod, scriptedInformer } from '../support/scripted-list-watch.ts';
import { leaseServer } from './lease-server.ts';

function rig() {
  const scheduler = new VirtualTime();
  const { source, informer } = scriptedInformer({ scheduler });
  onTestFinished(() => informer.stop());
  const running: { key: string; signal: AbortSignal; done: () => void }[] = [];
  const options = {
    for: informer,
    scheduler,
    reconcile: (key: string, { signal }: { signal: AbortSignal }) =>
      new Promise<void>((done) => running.push({ key, signal, done })),
  };
  return { scheduler, source, informer, running, options };
}

function elector(leads: boolean) {
  const leading$ = new BehaviorSubject(leads);
  return { leading$, elector: { leading$ } as unknown as LeaderElector };
}

describe('a controller with an election', () => {
  it('N19: fills its caches while another process leads, and begins with every existing object', async () => {
    const { source, running, options } = rig();
    const { leading$, elector: leadership } = elector(false);
    const controller = createController({ ...options, leaderElection: leadership });
    source.listed(1, pod('a', 1));
    controller.start();
    source.send(added(pod('b', 2)));
    expect([controller.status.phase, running.length]).toEqual(['standby', 0]);
    const ready: boolean[] = [];
    controller.ready$.subscribe((value) => ready.push(value));
    leading$.next(true);
    expect(running.map(({ key }) => key)).toEqual(['shop/a']);
    expect([ready, controller.queued]).toEqual([[false, true], 1]);
    for (const { done } of running) done();
    leading$.next(false);
    await controller.stop();
  });

  it('N19: aborts running reconciles when the lead is lost, and begins no key again before its last reconcile has ended', async () => {
    const { scheduler, source, running, options } = rig();
    const { leading$, elector: leadership } = elector(true);
    const controller = createController({ ...options, leaderElection: leadership });
    source.listed(1, pod('a', 1), pod('b', 1));
    controller.start();
    leading$.next(false);
    expect(running.map(({ signal }) => signal.aborted)).toEqual([true]);
    expect([controller.status.phase, controller.working]).toEqual(['standby', ['shop/a']]);
    leading$.next(true);
    await scheduler.advance(10_000);
    // The reconcile does not react to its signal, and nothing begins while it runs.
    expect(running).toHaveLength(1);
    running[0]?.done();
    await scheduler.advance(0);
    expect(running.map(({ key }) => key)).toEqual(['shop/a', 'shop/a']);
    running[1]?.done();
    await scheduler.advance(0);
    expect(running.map(({ key }) => key)).toEqual(['shop/a', 'shop/a', 'shop/b']);
    running[2]?.done();
    await controller.stop();
    expect(leading$.observed).toBe(false);
  });

  it('N8, N19: its own elector competes when the caches are complete, and releases the Lease when all reconciles have ended', async () => {
    const { scheduler, source, informer, running, options } = rig();
    const server = leaseServer(scheduler);
    const controller = createController({
      ...options,
      leaderElection: () =>
        createLeaderElector({
          client: server.client('a'),
          namespace: 'shop',
          name: 'test',
          identity: 'a',
          scheduler,
        }),
    });
    controller.start();
    await scheduler.advance(5_000);
    expect(server.log).toEqual([]);
    source.listed(1, pod('a', 1));
    await scheduler.advance(1_000);
    expect(server.lease?.spec?.holderIdentity).toBe('a');
    expect(controller.status).toMatchObject({ phase: 'running', leading: true });
    const stopped = controller.stop();
    await scheduler.advance(10_000);
    expect(server.lease?.spec?.holderIdentity).toBe('a');
    running[0]?.done();
    await stopped;
    expect(server.lease?.spec?.holderIdentity).toBe('');
    await informer.stop();
    expect(scheduler.pending).toBe(0);
  });

  it('N24: refuses an election that is no elector and no function that creates one', () => {
    const { options } = rig();
    const refused = (leaderElection: unknown) => () =>
      createController({
        ...options,
        name: 'test',
        leaderElection: leaderElection as LeaderElector,
      });
    for (const wrong of [{ namespace: 'shop', name: 'test' }, null, () => ({}), () => null]) {
      expect(refused(wrong)).toThrow(/test: leaderElection is .*; it must be \(\) => createL/);
    }
  });

  it('N1, N19: whenReady says why no process leads', async () => {
    const { scheduler, source, running, options } = rig();
    const server = leaseServer(scheduler);
    const error = ApiError.fromStatus({ message: 'leases is forbidden' }, 403);
    server.fate = () => ({ error });
    const election = { client: server.client('a'), namespace: 'shop', name: 'test', identity: 'a' };
    const leaderElection = createLeaderElector({ ...election, scheduler });
    const controller = createController({ ...options, name: 'test', leaderElection });
    source.listed(1, pod('a', 1));
    const why = async () => {
      const rejected = controller.whenReady({ timeoutMs: 1_000 }).catch((error: ApiError) => error);
      await scheduler.advance(1_000);
      return (await rejected) as ApiError;
    };
    expect((await why()).message).toContain('within 1000 ms: it was not started');
    controller.start();
    expect((await why()).message).toContain('the elector was not started');
    leaderElection.start();
    const late = await why();
    expect([late.message, late.cause]).toEqual([
      'test was not ready within 1000 ms: leases is forbidden',
      error,
    ]);
    server.fate = () => ({});
    await scheduler.advance(10_000);
    expect([controller.status.phase, leaderElection.lastError]).toEqual(['running', undefined]);
    for (const { done } of running) done();
    await controller.stop();
    await leaderElection.stop();
  });

  it('N8: aborts the running reconciles immediately if the lead is lost during a stop', async () => {
    const { scheduler, source, running, options } = rig();
    const { leading$, elector: leadership } = elector(true);
    const controller = createController({ ...options, leaderElection: leadership });
    source.listed(1, pod('a', 1));
    controller.start();
    const stopped = controller.stop({ drainMs: 60_000 });
    await scheduler.advance(1_000);
    expect(running[0]?.signal.aborted).toBe(false);
    leading$.next(false);
    expect(running[0]?.signal.aborted).toBe(true);
    running[0]?.done();
    await stopped;
  });
});
