/** Informers that are run by subscribers or stopped separately, independently of their factory. */
import { nodes, pods, secrets } from 'rx-informer/resources';
import { describe, expect, it, vi } from 'vitest';
import { place, rig } from './rig.ts';

describe('an informer that is stopped separately', () => {
  it.each([
    ['stop(resource)', false],
    ['its last release, after the linger', true],
    ['stop(), without a holder', true],
  ] as const)(
    'I7, G5: its status$ completes if the factory removes it, by %s',
    async (how, isHeld) => {
      const { factory, time, until } = rig();
      const own = factory({ lingerMs: 10_000 });
      own.start();
      const { informer, release } = own.acquire(pods);
      const completed = vi.fn();
      informer.status$.subscribe({ complete: completed });
      await until(own.stop());
      own.start();
      await until(own.whenSynced());
      await until(informer.stop());
      own.start();
      await until(own.whenSynced());
      if (isHeld) release();
      expect(completed).not.toHaveBeenCalled();
      if (how === 'stop(resource)') await until(own.stop(pods));
      else if (how === 'stop(), without a holder') await until(own.stop());
      else await time.advance(10_000);
      expect(completed).toHaveBeenCalledTimes(1);
      expect(own.informers).toEqual([]);
    },
  );

  it('G2: is started again when it is requested, as the same informer', async () => {
    const { server, factory, until } = rig();
    const own = factory();
    own.start();
    for (const ask of [
      () => own.informer(pods),
      () => own.acquire(pods).informer,
      () => {
        own.lister(pods);
        return own.informer(pods);
      },
    ]) {
      const informer = own.informer(pods);
      await until(own.whenSynced());
      await informer.stop();
      expect(server.openWatches).toHaveLength(0);
      server.objects.delete(pods, place('web-0'));
      expect(ask()).toBe(informer);
      expect(informer.isStopped).toBe(false);
      await until(own.whenSynced());
      expect(own.lister(pods).list()).toHaveLength(2);
      expect(server.openWatches).toHaveLength(1);
      server.objects.create(pods, { metadata: place('web-0') });
    }
  });

  it('G2: is started again by the next start() of the factory, and not before', async () => {
    const { server, factory, time, until } = rig();
    const own = factory();
    const informer = own.informer(pods);
    own.informer(nodes);
    own.start();
    await until(own.whenSynced());
    await informer.stop();
    const requests = server.requests.length;
    await time.advance(1_000);
    expect(server.requests).toHaveLength(requests);
    own.start();
    await until(own.whenSynced());
    expect([informer.isStopped, server.openWatches.length]).toEqual([false, 2]);

    await own.stop();
    expect(own.acquire(pods).informer).toBe(informer);
    await time.advance(1_000);
    expect([informer.isStopped, server.openWatches.length]).toEqual([true, 0]);
  });

  it('G3: makes the factory unsynced until it has listed again, as a stop of the factory does', async () => {
    const { server, factory, until } = rig();
    const own = factory();
    const informer = own.informer(pods);
    own.informer(nodes);
    own.start();
    await until(own.whenSynced());
    const said = () =>
      until(
        own.whenSynced().then(
          () => 'synced',
          ({ message }) => message,
        ),
      );
    server.faults.neverAnswer({ resource: secrets });
    own.informer(secrets);
    const waiting = said();
    await informer.stop();
    await own.stop(secrets);
    expect(await waiting).toBe('2 of 3 informers not synced: pods (stopped); secrets (stopped)');
    expect(await said()).toBe('1 of 2 informers not synced: pods (stopped)');
    own.start();
    expect(await said()).toBe('synced');
    await own.stop();
    expect(await said()).toBe('2 of 2 informers not synced: pods (stopped); nodes (stopped)');
    own.start();
    expect(own.informer(pods).status.synced).toBe(false);
    expect(await said()).toBe('synced');
  });
});

describe('a factory that is started again within a callback of its stop', () => {
  it.each([0, 1, 2])(
    'G2: runs all of its informers, if the callback is of number %d',
    async (at) => {
      const { factory, until } = rig();
      const own = factory();
      const informers = [pods, nodes, secrets].map((resource) =>
        own.informer(resource as typeof pods),
      );
      own.start();
      await until(own.whenSynced());
      let starts = 0;
      informers[at]?.status$.subscribe(({ phase }) => {
        if (phase === 'stopped' && starts++ === 0) own.start();
      });
      await until(own.stop());
      await until(own.whenSynced());
      expect(informers.map(({ status }) => status.live)).toEqual([true, true, true]);
      await until(own.stop());
      expect(informers.map(({ status }) => status.phase)).toEqual([
        'stopped',
        'stopped',
        'stopped',
      ]);
    },
  );
});
