/**
 * The simulated system: an API server, a number of clients that have the same collection, and, if they read through
 * NATS, a publisher and a NATS server between them.
 */
import { exponentialBackoff } from 'rx-informer';
import { seededRandom } from 'rx-informer/testing';
import type { Measured, ServerCosts } from './costs.ts';
import { EventClock } from './events.ts';
import { type ServerSize, type ServerTotals, SimulatedServer } from './server.ts';

/** How the clients get the collection. */
export type Way = 'direct' | 'nats';

export interface Scenario {
  readonly way: Way;
  readonly clients: number;
  readonly costs: Measured;
  readonly server: ServerSize;
  /** The size of the NATS server. */
  readonly broker: ServerSize;
  readonly changesPerSecond: number;
  readonly seed: number;
}

/** A herd: all clients lose their watches, and list again when their server is back. */
export interface HerdScenario extends Scenario {
  readonly outageMs: number;
  /** Whether waits have a random part. */
  readonly jitter: boolean;
  /** Whether clients can resume without a list. */
  readonly resumes?: boolean;
}

/** A production machine: 8 cores, 10 Gbit/s, and kube-apiserver's default of 600 requests in progress. */
export const PRODUCTION: ServerSize = { cores: 8, bytesPerMs: 1_250_000, places: 600 };
/** A NATS server on such a machine. It queues requests instead of refusing them. */
export const BROKER: ServerSize = { ...PRODUCTION, places: Number.POSITIVE_INFINITY };

/** The watch of a client lasts five to ten minutes (W3). */
const WATCH_MS = 300_000;
/** A client relists within a second after a 410 (R9). */
const RELIST_MS = 1000;
/** The wait that a 429 asks for. */
const RETRY_AFTER_MS = 1000;

/** The part of a delivery to one reader that no server computes: the way, batches, and acknowledgements. */
function latencyMs({ anchors, changeMs, deliveryMs, clientDeliveryMs }: ServerCosts): number {
  return Math.max(0, anchors.oneDeliveryMs - changeMs - deliveryMs - clientDeliveryMs);
}

/** The CPU time of the server for one list. */
export function listMs({ listFixedMs, listObjectMs, objects }: ServerCosts): number {
  return listFixedMs + listObjectMs * objects;
}

export interface SteadyResult {
  readonly api: ServerTotals;
  readonly broker: ServerTotals;
  readonly changes: number;
  readonly deliveries: number;
  readonly durationMs: number;
  /** From a change until the last client has it, in milliseconds. */
  readonly medianMs: number;
  readonly p99Ms: number;
  /** The part of the API server's cores that is in use; above 1 the delay grows without end. */
  readonly load: number;
  readonly brokerLoad: number;
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
}

/** Nothing fails: changes are delivered, and watches are renewed. */
export function steady(scenario: Scenario, durationMs = 60_000): SteadyResult {
  const { way, clients, costs, changesPerSecond } = scenario;
  const random = seededRandom(scenario.seed);
  const clock = new EventClock();
  const api = new SimulatedServer(clock, scenario.server);
  const broker = new SimulatedServer(clock, scenario.broker);
  const watchers = way === 'direct' ? clients : 1;
  const delays: number[] = [];
  let changes = 0;
  let deliveries = 0;

  const renew = () => {
    api.request(costs.apiServer.listFixedMs, 0, () => undefined);
    clock.after(WATCH_MS * (1 + random()), renew);
  };
  // Watches were opened at any time before, so their ends are spread over their duration.
  for (let at = 0; at < watchers; at++) clock.after(WATCH_MS * 1.5 * random(), renew);

  const deliver = (server: SimulatedServer, of: ServerCosts, count: number) =>
    server.spread(count * of.deliveryMs, count * of.deliveryBytes) + of.clientDeliveryMs;
  const change = () => {
    changes += 1;
    clock.after(-Math.log(1 - random()) * (1000 / changesPerSecond), change);
    const begunMs = clock.nowMs;
    const written = api.work(costs.apiServer.changeMs, 0);
    clock.after(written, () => {
      const firstMs = deliver(api, costs.apiServer, watchers);
      if (way === 'direct') {
        deliveries += watchers;
        delays.push(clock.nowMs + firstMs + latencyMs(costs.apiServer) - begunMs);
        return;
      }
      clock.after(firstMs + latencyMs(costs.nats), () => {
        clock.after(broker.work(costs.nats.changeMs, 0), () => {
          const lastMs = deliver(broker, costs.nats, clients);
          deliveries += clients;
          delays.push(clock.nowMs + lastMs - begunMs);
        });
      });
    });
  };
  change();
  clock.runUntil(durationMs);
  const loadOf = ({ totals }: SimulatedServer, { cores }: ServerSize) =>
    totals.cpuMs / durationMs / cores;
  return {
    api: api.totals,
    broker: broker.totals,
    changes,
    deliveries,
    durationMs,
    medianMs: quantile(delays, 0.5),
    p99Ms: quantile(delays, 0.99),
    load: loadOf(api, scenario.server),
    brokerLoad: loadOf(broker, scenario.broker),
  };
}

export interface HerdResult {
  readonly api: ServerTotals;
  readonly broker: ServerTotals;
  /** How many clients have the collection again. */
  readonly recovered: number;
  /** From the end of the outage until half of the clients, and until all, are up to date, in milliseconds. */
  readonly halfMs: number;
  readonly allMs: number;
}

/**
 * The API server is away for a while and has lost the history when it is back. Direct clients list again. Readers of
 * NATS keep what they have, and only the publisher lists.
 */
export function herd(scenario: HerdScenario): HerdResult {
  const { way, clients, costs, jitter, outageMs, resumes = false } = scenario;
  const random = seededRandom(scenario.seed);
  const clock = new EventClock();
  const api = new SimulatedServer(clock, scenario.server);
  const broker = new SimulatedServer(clock, scenario.broker);
  const backoff = exponentialBackoff();
  const recoveredAt: number[] = [];
  const chance = () => (jitter ? random() : 0);
  const { apiServer } = costs;

  const client = (recovered: () => void) => {
    let attempt = 0;
    const waitMs = () => backoff(attempt++, chance());
    const send = (cpuMs: number, bytes: number, done: () => void) =>
      api.request(cpuMs, bytes, (how) => {
        if (how === 'done') return done();
        const wait = waitMs();
        const again = how === 'busy' ? Math.max(RETRY_AFTER_MS, wait) : wait;
        clock.after(again, () => send(cpuMs, bytes, done));
      });
    const list = () => send(listMs(apiServer), apiServer.listBytes, recovered);
    const resume = () =>
      send(apiServer.listFixedMs, 0, () => {
        if (resumes) recovered();
        else clock.after(RELIST_MS * chance(), list);
      });
    clock.after(waitMs(), resume);
  };
  api.isUp = false;
  clock.after(outageMs, () => {
    api.isUp = true;
  });
  const note = (delayMs: number) => recoveredAt.push(clock.nowMs - outageMs + delayMs);
  if (way === 'direct') {
    for (let at = 0; at < clients; at++) client(() => note(apiServer.clientListMs));
  } else {
    client(() => {
      // The publisher writes the difference: at most one change per object, and every reader gets it.
      const { objects, changeMs, deliveryMs, deliveryBytes, clientDeliveryMs } = costs.nats;
      const changed = Math.min(objects, (scenario.changesPerSecond * outageMs) / 1000);
      const writtenMs = broker.work(changed * changeMs, 0);
      const count = changed * clients;
      const lastMs = writtenMs + broker.spread(count * deliveryMs, count * deliveryBytes);
      for (let at = 1; at <= clients; at++) {
        note(writtenMs + ((lastMs - writtenMs) * at) / clients + changed * clientDeliveryMs);
      }
    });
  }
  clock.runUntil(Number.MAX_SAFE_INTEGER);
  return {
    api: api.totals,
    broker: broker.totals,
    recovered: recoveredAt.length,
    halfMs: quantile(recoveredAt, 0.5),
    allMs: recoveredAt.reduce((most, each) => Math.max(most, each), 0),
  };
}

/** The measured experiments in the simulation: all readers in one process, on a machine of few cores. */
export function anchored(costs: ServerCosts, readers: number) {
  // The readers' process and the other processes of the machine leave one core to the server.
  const size: ServerSize = { cores: 1, bytesPerMs: 1_000_000, places: Number.POSITIVE_INFINITY };
  const clock = new EventClock();
  const server = new SimulatedServer(clock, size);
  const process = new SimulatedServer(clock, size);
  let herdMs = 0;
  for (let at = 0; at < readers; at++) {
    server.request(listMs(costs), costs.listBytes, () => {
      clock.after(process.work(costs.clientListMs, 0), () => {
        herdMs = clock.nowMs;
      });
    });
  }
  clock.runUntil(Number.MAX_SAFE_INTEGER);
  return {
    herdMs,
    herdCpuMs: server.totals.cpuMs,
    herdBytes: server.totals.bytes,
    lastDeliveryMs:
      latencyMs(costs) +
      costs.changeMs +
      readers * Math.max(costs.deliveryMs, costs.clientDeliveryMs) +
      Math.min(costs.deliveryMs, costs.clientDeliveryMs),
  };
}
