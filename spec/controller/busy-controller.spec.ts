/** Controllers whose reconciles block the event loop or never end: how that affects the lead, and the other replicas. */
import {
  type ApiError,
  type Controller,
  type ControllerOptions,
  createClient,
  createController,
  createLeaderElector,
  createListWatch,
  createResourceClient,
  createShardMember,
  createSharedInformer,
  type LeaderElector,
  type ShardMember,
} from 'rx-informer';
import { type ConfigMap, configMaps, leases } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';

type Mode = 'election' | 'shards';
const MODES: readonly Mode[] = ['election', 'shards'];
const LEASE_MS = 3_000;
const PERIODS = { leaseDurationMs: LEASE_MS, renewDeadlineMs: 2_000, retryPeriodMs: 200 };
/** A time in which replicas have joined, and a lost lead is won by another. */
const SETTLED_MS = 4 * LEASE_MS;

interface Replica {
  readonly controller: Controller;
  readonly permission: LeaderElector | ShardMember;
  /** The keys that it has reconciled. */
  readonly keys: string[];
  readonly errors: ApiError[];
  holds(): boolean;
}

function rig(objects: number) {
  const time = new VirtualTime();
  const server = createFakeApiServer({ resources: [leases, configMaps], scheduler: time });
  const names = Array.from({ length: objects }, (_, at) => `c${String(at).padStart(3, '0')}`);
  for (const name of names)
    server.objects.create(configMaps, { metadata: { namespace: 'shop', name } });
  const all = names.map((name) => `shop/${name}`);
  const replicas: Replica[] = [];
  const replica = (
    mode: Mode,
    reconcile: (key: string, identity: string, signal: () => AbortSignal) => unknown,
    options: Partial<ControllerOptions<ConfigMap>> = {},
  ): Replica => {
    const identity = `r${replicas.length}`;
    const client = createClient({ baseUrl: 'http://fake', scheduler: time, fetch: server.fetch });
    const errors: ApiError[] = [];
    const place = { client, identity, namespace: 'shop', name: 'lock', scheduler: time };
    const watch = { ...PERIODS, onError: (error: ApiError) => errors.push(error) };
    const elector = createLeaderElector({ ...place, ...watch, random: () => 0 });
    const member = createShardMember({ ...place, ...watch, drainMs: 1_000 });
    const keys: string[] = [];
    const controller = createController<ConfigMap>({
      name: identity,
      for: createSharedInformer(createListWatch(client, configMaps), { scheduler: time }),
      scheduler: time,
      ...(mode === 'election' ? { leaderElection: () => elector } : { shards: member }),
      reconcile: (key, context) => {
        keys.push(key);
        return reconcile(key, identity, () => context.signal) as undefined;
      },
      ...options,
    });
    controller.start();
    const permission = mode === 'election' ? elector : member;
    const holds = () => (mode === 'election' ? elector.isLeading : member.status.owned.length > 0);
    const made = { controller, permission, keys, errors, holds };
    replicas.push(made);
    return made;
  };
  const stop = () =>
    Promise.all([
      ...replicas.map(({ controller }) => controller.stop({ drainMs: 100 })),
      time.advance(30_000),
    ]);
  return { time, server, all, replica, replicas, stop };
}

describe('reconciles that compute without a pause', () => {
  const results: readonly (readonly [string, () => unknown])[] = [
    ['return', () => undefined],
    ['return settled Promises', () => Promise.resolve()],
    ['return Observables of values', () => of(undefined)],
  ];

  describe.each(MODES)('with %s', (mode) => {
    it.each(results)(
      'N47: a thousand reconciles that %s cost neither the lead nor the membership',
      async (_how, result) => {
        const { time, all, replica, replicas, stop } = rig(1_000);
        const led: boolean[] = [];
        for (let at = 0; at < 2; at++) {
          const own = replica(mode, () => {
            led.push(own.holds());
            time.jump(30);
            return result();
          });
        }
        await time.advance(60_000);
        const keys = replicas.flatMap((each) => each.keys);
        expect(keys.toSorted()).toEqual(all);
        expect(new Set(led)).toEqual(new Set([true]));
        expect(replicas.flatMap(({ errors }) => errors).map(({ code }) => code)).not.toContain(0);
        await stop();
      },
    );

    it('N47: after a reconcile that outlasts the lead none begins, and its signal has aborted', async () => {
      const { time, server, all, replica, stop } = rig(10);
      const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler: time });
      const maps = createResourceClient(client, configMaps);
      const story: string[] = [];
      const writes: Promise<string>[] = [];
      let isSlow = true;
      const own = replica(mode, (key, _identity, signal) => {
        story.push(`${key} ${own.holds()} ${signal().aborted}`);
        if (key !== 'shop/c003' || !isSlow) return;
        isSlow = false;
        const given = signal();
        time.jump(PERIODS.renewDeadlineMs);
        story.push(`late ${given.aborted}`);
        const late = { metadata: { namespace: 'shop', name: 'late' } };
        writes.push(
          maps.create(late, { signal: given }).then(
            () => 'written',
            ({ message }: Error) => message,
          ),
        );
      });
      await time.advance(SETTLED_MS * 3);
      expect(story.slice(0, 5)).toEqual([
        ...all.slice(0, 4).map((key) => `${key} true false`),
        'late true',
      ]);
      expect(await Promise.all(writes)).toEqual([expect.stringContaining('aborted')]);
      // The next term goes on behind the last key, and then repeats the others, as each term reconciles every object.
      expect(own.keys).toEqual([...all.slice(0, 4), ...all.slice(4), ...all.slice(0, 4)]);
      expect(story.slice(5).every((each) => each.endsWith('true false'))).toBe(true);
      await stop();
    });

    it('N47: terms that are lost after one reconcile each reach the end of the list', async () => {
      const { time, all, replica, stop } = rig(8);
      const own = replica(mode, () => time.jump(PERIODS.renewDeadlineMs));
      for (let term = 0; term < 2 * all.length; term++) await time.advance(SETTLED_MS);
      expect(own.keys.slice(0, 2 * all.length)).toEqual([...all, ...all]);
      await stop();
    });
  });

  it('N47: after a lost lead an object that was deleted or changed meanwhile is reconciled as it is', async () => {
    const { time, server, all, replica, stop } = rig(4);
    const states: string[] = [];
    let isSlow = true;
    replica('election', () => undefined, {
      reconcile: (key, { object, reasons }) => {
        states.push(`${key} ${object?.data?.['a'] ?? 'old'} ${reasons.join()}`);
        if (isSlow) time.jump(PERIODS.renewDeadlineMs);
        isSlow = false;
      },
    });
    await time.advance(10);
    expect(states).toEqual(['shop/c000 old for:added']);
    server.objects.delete(configMaps, { namespace: 'shop', name: 'c002' });
    server.objects.update(configMaps, {
      metadata: { namespace: 'shop', name: 'c003' },
      data: { a: 'new' },
    });
    await time.advance(SETTLED_MS);
    expect(states.slice(1)).toEqual([
      'shop/c001 old for:added',
      'shop/c003 new for:added',
      'shop/c000 old for:added',
    ]);
    expect(all).toHaveLength(4);
    await stop();
  });
});

describe.each(MODES)('a reconcile that never ends, with %s', (mode) => {
  it('N18: after an outage of the Leases another replica does the work, and this one says why it does not', async () => {
    const { time, server, all, replica, replicas, stop } = rig(20);
    let end = () => {};
    const hung = new Promise<void>((resolve) => {
      end = resolve;
    });
    const hangs = replica(mode, (key) => (key === hungKey ? hung : undefined), { concurrency: 2 });
    const hungKey = 'shop/c000';
    await time.advance(SETTLED_MS);
    expect([hangs.holds(), hangs.controller.working]).toEqual([true, [hungKey]]);
    const healthy: boolean[] = [];
    hangs.controller.healthy$.subscribe((value) => healthy.push(value));
    const other = replica(mode, () => undefined);
    await time.advance(SETTLED_MS);
    const outage = server.faults.refuse({ resource: leases });
    await time.advance(LEASE_MS);
    outage.heal();
    for (const each of replicas) each.keys.length = 0;
    await time.advance(SETTLED_MS);
    expect([hangs.holds(), other.holds()]).toEqual([false, true]);
    expect(other.keys.toSorted()).toEqual(all);
    expect(hangs.controller.status).toMatchObject({
      phase: 'standby',
      leading: false,
      unfinished: [hungKey],
    });
    expect(healthy).toEqual([true, false]);
    expect(hangs.permission.lastError?.message).toMatch(
      /does not (compete|join), because work of its last (lead|membership), whose signals? ha(s|ve) aborted, has not ended/,
    );
    expect(hangs.errors.map(({ message }) => message)).toContain(
      hangs.permission.lastError?.message,
    );
    if (mode === 'shards') expect(hangs.controller.status.shards).toMatch(/^does not join/);
    await expect(
      Promise.all([hangs.controller.whenReady({ timeoutMs: 100 }), time.advance(100)]),
    ).rejects.toThrow('earlier reconciles still run: shop/c000');
    end();
    await time.advance(SETTLED_MS);
    expect(healthy).toEqual([true, false, true]);
    expect(hangs.controller.status.unfinished).toEqual([]);
    await Promise.all([other.controller.stop(), time.advance(1_000)]);
    await time.advance(SETTLED_MS);
    expect([hangs.holds(), hangs.controller.status.phase]).toEqual([true, 'running']);
    await stop();
  });

  it('N18: a controller that is started again while a former reconcile runs does not compete', async () => {
    const { time, replica, stop } = rig(3);
    let end = () => {};
    const hung = new Promise<void>((resolve) => {
      end = resolve;
    });
    const first = replica(mode, () => hung, { onUnhandledError: () => undefined });
    await time.advance(SETTLED_MS);
    await Promise.all([first.controller.stop({ drainMs: 100 }), time.advance(30_000)]);
    expect(first.controller.status).toMatchObject({ phase: 'stopped', unfinished: ['shop/c000'] });
    first.controller.start();
    await time.advance(SETTLED_MS);
    expect([first.holds(), first.controller.status.phase]).toEqual([false, 'standby']);
    expect(first.controller.status.unfinished).toEqual(['shop/c000']);
    const other = replica(mode, () => undefined);
    await time.advance(SETTLED_MS);
    expect(other.keys).toHaveLength(3);
    await Promise.all([other.controller.stop(), time.advance(1_000)]);
    end();
    await time.advance(SETTLED_MS);
    expect([first.holds(), first.controller.status.phase]).toEqual([true, 'running']);
    await stop();
  });

  it('N18: a stopped controller names the reconciles that it has abandoned until they have ended', async () => {
    const { time, replica } = rig(3);
    let end = () => {};
    const hung = new Promise<void>((resolve) => {
      end = resolve;
    });
    const { controller } = replica(mode, () => hung, { onUnhandledError: () => undefined });
    await time.advance(SETTLED_MS);
    await Promise.all([controller.stop({ drainMs: 100 }), time.advance(30_000)]);
    expect(controller.status.unfinished).toEqual(['shop/c000']);
    end();
    await time.advance(10);
    expect(controller.status).toMatchObject({ phase: 'stopped', unfinished: [] });
  });
});
