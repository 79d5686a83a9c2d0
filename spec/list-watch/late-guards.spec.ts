/** Watches that begin before the code of their guards was loaded, in virtual time. */
import { createFakeApiServer } from 'rx-informer/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { word } from '../reflector/rig.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import { eventually } from '../support/patience.ts';

const guards = '../../lib/transport/guards/server-guards.ts' as const;

afterEach(() => {
  vi.doUnmock(guards);
  vi.resetModules();
});

/** A new copy of the library, as after a reload of a page, where the code of the guards is loaded by `load`. */
async function reloaded(load: () => Promise<object>, livenessMs = 15_000) {
  vi.resetModules();
  let loads = 0;
  vi.doMock(guards as string, () => {
    loads++;
    return load();
  });
  const { createClient, createListWatch, createSharedInformer } = await import('rx-informer');
  const { pods } = await import('rx-informer/resources');
  const time = new VirtualTime();
  const server = createFakeApiServer({ scheduler: time, random: () => 0.5 });
  server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web' } });
  const client = createClient({
    ...{ baseUrl: 'http://fake', fetch: server.fetch, scheduler: time, livenessMs },
  });
  const follow = () => {
    const source = createListWatch(client, pods, { scheduler: time });
    const informer = createSharedInformer(source, { scheduler: time, random: () => 0.5 });
    informer.start();
    return informer;
  };
  const isPing = ({ query }: (typeof server.requests)[number]) =>
    query['fieldSelector'] === 'metadata.name=rx-informer';
  return {
    ...{ time, server, follow },
    pings: () => server.requests.filter(isPing).length,
    asked: () => server.requests.map(word).join(' '),
    loads: () => loads,
  };
}

/** The same, where the code arrives when the test says so. */
async function waiting(livenessMs?: number) {
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const load = async () => {
    await arrived;
    return vi.importActual(guards);
  };
  const rig = await reloaded(load, livenessMs);
  const loaded = async () => {
    arrive();
    const { loadGuards } = await import('../../lib/transport/guards/watch-guards.ts');
    await loadGuards();
  };
  return { ...rig, loaded };
}

describe('the code of the guards', () => {
  it('T69: a watch does not wait for it, and is guarded when it arrives', async () => {
    const { time, server, follow, pings, loads, loaded } = await waiting();
    const informer = follow();
    await time.advance(30_000);
    expect([informer.status.live, pings(), loads()]).toEqual([true, 0, 1]);
    await loaded();
    await time.advance(16_000);
    expect(pings()).toBe(1);
    server.faults.neverAnswer();
    server.faults.silence();
    await time.advance(25_000);
    expect(informer.status.live).toBe(false);
    await informer.stop();
    expect(time.pending).toBe(0);
  });

  it('T69: what the watch has received before shows that nothing holds its events back', async () => {
    const { time, follow, asked, loaded } = await waiting(Number.POSITIVE_INFINITY);
    const informer = follow();
    await time.advance(1_000);
    await loaded();
    await time.advance(50_000);
    expect([asked(), informer.status.heldBack]).toEqual(['S', undefined]);
    await informer.stop();
  });

  it('T69: if it cannot be loaded, the watch fails with the reason, and the next one requests it again', async () => {
    let fails = true;
    const rig = await reloaded(async () => {
      if (fails) throw new TypeError('Failed to fetch dynamically imported module');
      return vi.importActual(guards);
    });
    const { time, follow, pings, loads } = rig;
    const informer = follow();
    await eventually(() => expect(informer.status.phase).toBe('backoff'));
    expect(informer.status.live).toBe(false);
    expect(informer.status.error?.message).toMatch(
      /^WATCH v1\/pods: the code of the guards could not be loaded: .*reload the page/,
    );
    const retried = () => time.advance(5_000).then(() => loads());
    await eventually(async () => expect(await retried()).toBeGreaterThan(1));
    fails = false;
    await eventually(async () => {
      await time.advance(5_000);
      expect([informer.status.live, informer.status.synced, pings() > 0]).toEqual([
        true,
        true,
        true,
      ]);
    });
    await informer.stop();
    expect(time.pending).toBe(0);
  });

  it('T69: two watches load it once, and one that has ended meanwhile is not guarded', async () => {
    const { time, follow, pings, loads, loaded } = await waiting();
    const [first, second] = [follow(), follow()];
    await time.advance(1_000);
    await first.stop();
    await loaded();
    expect(loads()).toBe(1);
    await second.stop();
    await time.advance(60_000);
    expect([pings(), time.pending]).toEqual([0, 0]);
  });
});
