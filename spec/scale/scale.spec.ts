/** Tests the simulation of `npm run scale`: its conservation laws, queueing theory, and the measured points. */
import { readFileSync } from 'node:fs';
import { createClient, createClusters, createListWatch, createSharedInformer } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer, seededRandom } from 'rx-informer/testing';
import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import type { Measured, ServerCosts } from './costs.ts';
import { EventClock } from './events.ts';
import { anchored, BROKER, type HerdScenario, herd, PRODUCTION, steady } from './model.ts';
import { SimulatedServer } from './server.ts';
import { herdCells, measuredTable, simulate, steadyCells } from './tables.ts';

const costs = JSON.parse(
  readFileSync(new URL('./measured.json', import.meta.url), 'utf8'),
) as Measured;
const page = readFileSync(new URL('../../docs/operations/scaling.md', import.meta.url), 'utf8');

const scenario = (clients: number, more: Partial<HerdScenario> = {}): HerdScenario => ({
  way: 'direct',
  clients,
  costs,
  server: PRODUCTION,
  broker: BROKER,
  changesPerSecond: 10,
  seed: 7,
  outageMs: 60_000,
  jitter: true,
  ...more,
});

describe('the simulated server', () => {
  it('runs events in the order of their times, and events of one time in the order of their schedule', () => {
    const random = seededRandom(3);
    const clock = new EventClock();
    const seen: number[] = [];
    const ties: number[] = [];
    for (let at = 0; at < 500; at++) clock.after(random() * 1000, () => seen.push(clock.nowMs));
    for (let at = 0; at < 50; at++) clock.after(500, () => ties.push(at));
    clock.runUntil(2_000);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(ties).toEqual(Array.from({ length: 50 }, (_, at) => at));
    expect([seen.length, clock.pending, clock.nowMs]).toEqual([500, 0, 2_000]);
  });

  it.each([0.3, 0.6, 0.9])('has the mean wait of an M/D/1 queue at a load of %d', (load) => {
    const random = seededRandom(11);
    const clock = new EventClock();
    const places = Number.POSITIVE_INFINITY;
    const server = new SimulatedServer(clock, { cores: 1, bytesPerMs: 1e9, places });
    let waited = 0;
    const jobs = 100_000;
    const arrive = (left: number) => {
      if (left === 0) return;
      waited += server.work(10, 0) - 10;
      clock.after((-Math.log(1 - random()) * 10) / load, () => arrive(left - 1));
    };
    arrive(jobs);
    clock.runUntil(Number.MAX_SAFE_INTEGER);
    const expected = (10 * load) / (2 * (1 - load));
    expect(waited / jobs / expected).toBeGreaterThan(0.9);
    expect(waited / jobs / expected).toBeLessThan(1.1);
  });
});

describe('conservation', () => {
  it.each([
    [1, true],
    [50, true],
    [900, false],
    [2000, true],
  ])(
    'in a herd of %d clients every request has one answer, and every client lists once (jitter: %s)',
    (clients, jitter) => {
      const { api, recovered } = herd(scenario(clients, { jitter }));
      expect(api.requests).toBe(api.answered + api.refused + api.unreachable);
      // A 410, then a list.
      expect([recovered, api.answered]).toEqual([clients, 2 * clients]);
      expect(api.bytes).toBe(clients * costs.apiServer.listBytes);
    },
  );

  it('every change reaches every client, and nothing else is sent', () => {
    for (const way of ['direct', 'nats'] as const) {
      const { api, broker, changes, deliveries } = steady(scenario(200, { way }));
      const [late] = [changes * 200 - deliveries];
      expect(late).toBeGreaterThanOrEqual(0);
      // At most a change that is on its way at the end.
      expect(late).toBeLessThanOrEqual(400);
      const own = way === 'direct' ? deliveries : changes;
      expect(api.bytes / costs.apiServer.deliveryBytes / own).toBeCloseTo(1, 1);
      if (way === 'nats')
        expect(broker.bytes / costs.nats.deliveryBytes).toBeCloseTo(deliveries, 0);
      else expect(broker.bytes).toBe(0);
    }
  });
});

describe('the measured points', () => {
  it.each([
    ['kube-apiserver', costs.apiServer],
    ['nats-server', costs.nats],
  ] as [string, ServerCosts][])(
    '%s: the simulation agrees with the herd and the delay that were measured, within a factor of two',
    (_name, of) => {
      const { readers, herdMs, herdCpuMs, lastDeliveryMs } = of.anchors;
      const simulated = anchored(of, readers);
      const ratios = [
        simulated.herdMs / herdMs,
        simulated.herdCpuMs / herdCpuMs,
        simulated.lastDeliveryMs / lastDeliveryMs,
      ];
      for (const ratio of ratios) {
        expect(ratio).toBeGreaterThan(0.5);
        expect(ratio).toBeLessThan(2);
      }
      expect(simulated.herdBytes / (readers * of.listBytes)).toBeCloseTo(1, 6);
    },
  );
});

describe('docs/operations/scaling.md', () => {
  it('has the measured costs', () => {
    expect(page).toContain(measuredTable(costs));
  });

  it.each([10, 100, 1000])('has the results of the simulation for %d clients', (clients) => {
    const row = simulate(costs, clients);
    for (const cells of [steadyCells(row), herdCells(row)]) {
      expect(page).toContain(`| ${cells.join(' | ')} |`);
    }
  });

  it('says rightly that jitter matters: without it, 3,000 clients need more requests and twice the time', () => {
    const [spread, together] = [true, false].map((jitter) => herd(scenario(3000, { jitter })));
    if (spread === undefined || together === undefined) throw new Error('no result');
    expect(together.api.requests / spread.api.requests).toBeGreaterThan(1.3);
    expect(together.allMs / spread.allMs).toBeGreaterThan(2);
    expect(together.api.refused).toBeGreaterThan(10 * Math.max(1, spread.api.refused));
  });

  it('says rightly that requests upstream do not depend on the number of readers over NATS', () => {
    const results = [10, 1000].map((clients) => {
      const over = scenario(clients, { way: 'nats' });
      return [steady(over).api.requests, herd(over).api.requests];
    });
    expect(results[0]).toEqual(results[1]);
  });

  it('has the requests of an hour that were counted with the fake server', async () => {
    const time = new VirtualTime();
    const server = createFakeApiServer({ scheduler: time });
    const options = { scheduler: time, random: seededRandom(5) };
    const client = () =>
      createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler: time });
    const informer = () => createSharedInformer(createListWatch(client(), pods, options), options);
    const hour = async (run: { start(): void; stop(): Promise<void> }[]) => {
      server.clearRequests();
      for (const each of run) each.start();
      await time.advance(3_600_000);
      const probes = server.requests.filter(
        ({ query }) => query.fieldSelector === 'metadata.name=rx-informer',
      ).length;
      for (const each of run) await each.stop();
      return [server.requests.length - probes, probes] as const;
    };
    const shared = informer();
    const subscribed = {
      start() {
        for (let at = 0; at < 100; at++) shared.changes$.subscribe();
      },
      stop: () => shared.stop(),
    };
    const [one, probes] = await hour([subscribed]);
    const [tabs] = await hour(Array.from({ length: 10 }, informer));
    const clusters = createClusters(of({ east: client(), west: client() }), options);
    clusters.informer(pods);
    const [two] = await hour([clusters]);
    expect(page).toContain(`| one informer with 100 subscribers | ${one} |`);
    expect(page).toContain(`| 10 tabs, or 10 replicas, each with an informer | ${tabs} |`);
    expect(page).toContain(`| one informer over 2 clusters | ${two} |`);
    expect(page).toContain('about 240 small pings an hour');
    expect(probes).toBeGreaterThan(220);
    expect(probes).toBeLessThan(260);
  });
});
