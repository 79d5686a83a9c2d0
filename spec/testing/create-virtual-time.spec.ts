import {
  createClient,
  createController,
  createInformerFactory,
  createLeaderElector,
  createResourceClient,
} from 'rx-informer';
import { configMaps, leases } from 'rx-informer/resources';
import {
  createFakeApiServer,
  createFaultMachine,
  createVirtualTime,
  seededRandom,
} from 'rx-informer/testing';
import { interval } from 'rxjs';
import { describe, expect, it } from 'vitest';

describe('createVirtualTime', () => {
  it('A93: runs timers in the order of their times, and between two timers the promises that follow the first', async () => {
    const time = createVirtualTime();
    const { scheduler } = time;
    const seen: string[] = [];
    const log = (what: string) => seen.push(`${time.now()} ${what}`);
    scheduler.schedule(() => log('second'), 20);
    scheduler.schedule(() => {
      log('first');
      void new Response('body').text().then((text) => {
        log(text);
        scheduler.schedule(() => log('scheduled by a promise'), 5);
      });
    }, 10);
    const cancelled = scheduler.schedule(() => log('cancelled'), 15);
    cancelled.unsubscribe();
    scheduler.schedule(() => log('later'), 31);
    await time.advance(30);
    expect(seen).toEqual(['10 first', '10 body', '15 scheduled by a promise', '20 second']);
    expect([time.now(), scheduler.now(), time.pending]).toEqual([30, 30, 1]);
    await time.advance(1);
    expect(seen.at(-1)).toBe('31 later');
    expect(time.pending).toBe(0);
  });

  it('A93: calls that overlap, also within a timer, never set the clock back, and each timer has its pause', async () => {
    const time = createVirtualTime();
    const { scheduler } = time;
    const seen: string[] = [];
    const log = (what: string) => seen.push(`${time.now()} ${what}`);
    for (const delay of [20, 40, 80, 140]) {
      const timer = () => {
        log('timer');
        void new Response('body').text().then(log);
      };
      scheduler.schedule(timer, delay);
    }
    await Promise.all([100, 50].map((ms) => time.advance(ms).then(() => log(`advanced by ${ms}`))));
    expect(seen).toEqual([
      ...['20 timer', '20 body', '40 timer', '40 body', '80 timer', '80 body'],
      ...['80 advanced by 50', '100 advanced by 100'],
    ]);
    seen.length = 0;
    scheduler.schedule(() => void time.advance(20).then(() => log('advanced within')), 10);
    await time.advance(30);
    expect(seen).toEqual(['130 advanced within']);
    await time.advance(20);
    expect(seen.slice(1)).toEqual(['140 timer', '140 body']);
    expect([time.now(), time.pending]).toEqual([150, 0]);
  });

  it('A93: a period that has run 20,000 times ends, and leaves no timer', async () => {
    const time = createVirtualTime();
    let runs = 0;
    const running = interval(1_000, time.scheduler).subscribe(() => runs++);
    await time.advance(20_000_000);
    expect([runs, time.pending]).toEqual([20_000, 1]);
    running.unsubscribe();
    expect(time.pending).toBe(0);
  });

  it('A93: a timer that schedules itself again runs after those of the same time, and once if it does so twice', async () => {
    const time = createVirtualTime();
    const { scheduler } = time;
    const seen: string[] = [];
    const again = scheduler.schedule<number>(function (runs = 0) {
      seen.push(`${time.now()} again`);
      if (runs === 2) return;
      this.schedule(runs + 1, 50);
      this.schedule(runs + 1, 10);
    }, 0);
    scheduler.schedule(() => seen.push(`${time.now()} other`), 10);
    await time.advance(100);
    expect(seen).toEqual(['0 again', '10 other', '10 again', '20 again']);
    again.unsubscribe();
    expect(time.pending).toBe(0);
  });

  it('A93: advance() rejects with the error of a timer, and the time can advance further', async () => {
    const time = createVirtualTime();
    time.scheduler.schedule(() => {
      throw new Error('thrown by a timer');
    }, 5);
    await expect(time.advance(10)).rejects.toThrow('thrown by a timer');
    await time.advance(10);
    expect(time.now()).toBe(15);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1])('A93: advance(%s) rejects', async (ms) => {
    await expect(createVirtualTime().advance(ms)).rejects.toThrow(
      /^advance: ms is (NaN|Infinity|-1)/,
    );
  });

  it('A93: a controller that loses its Lease to an outage leads and reconciles again, and leaves no timer', async () => {
    const time = createVirtualTime();
    const { scheduler } = time;
    const random = seededRandom(11);
    const server = createFakeApiServer({ scheduler, random });
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler });
    const factory = createInformerFactory(client, { scheduler, random });
    const maps = createResourceClient(client, configMaps, { scheduler, random });
    const lease = { namespace: 'shop', name: 'approve' };
    const errors: unknown[] = [];
    const controller = createController({
      name: 'approve',
      for: factory.informer(configMaps),
      scheduler,
      leaderElection: () =>
        createLeaderElector({
          ...{ client, identity: 'one', scheduler, random, ...lease },
          onError: (error) => errors.push(error),
        }),
      reconcile: async (_key, { object }) => {
        if (object === undefined || object.data?.['approved'] === 'yes') return;
        await maps.patch(object, { merge: { data: { approved: 'yes' } } });
      },
    });
    const phases: string[] = [];
    const following = controller.status$.subscribe(({ phase }) => phases.push(phase));
    factory.start();
    controller.start();
    const machine = createFaultMachine(server, { scheduler, seed: 11, meanMs: 20_000 });
    await time.advance(60_000);
    expect(server.objects.get(leases, lease)?.spec?.holderIdentity).toBe('one');
    const outage = server.faults.refuse();
    await time.advance(60_000);
    outage.heal();
    machine.start();
    for (let at = 0; at < 10; at++) {
      server.objects.create(configMaps, { metadata: { namespace: 'shop', name: `order-${at}` } });
      await time.advance(60_000);
    }
    machine.heal();
    await time.advance(600_000);
    const approved = server.objects.list(configMaps).filter(({ data }) => data?.['approved']);
    expect(approved).toHaveLength(10);
    expect(errors.length).toBeGreaterThan(0);
    expect(phases.filter((phase) => phase === 'running').length).toBeGreaterThan(1);
    const stopped = controller.stop().then(() => factory.stop());
    await time.advance(60_000);
    await stopped;
    following.unsubscribe();
    await client.close();
    await time.advance(0);
    expect(time.pending).toBe(0);
  });
});
