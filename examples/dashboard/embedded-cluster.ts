/**
 * An embedded cluster: a fake API server on a real socket, with a simulated world of workloads. Its faults are those of
 * real connections.
 */
import { type Pod, pods } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer } from 'rx-informer/testing';
import { interval, Subscription, timer } from 'rxjs';
import { Ledger } from './embedded/ledger.ts';
import { LogWriter } from './embedded/log-writer.ts';
import { metricsFor } from './embedded/metrics.ts';
import { createPace } from './embedded/pace.ts';
import { populate } from './embedded/populate.ts';
import { Random } from './embedded/random.ts';
import { type FaultChoice, seedFaults } from './embedded/seeded-faults.ts';
import { Director } from './embedded/stories.ts';
import { UserWrites } from './embedded/user-writes.ts';
import { World } from './embedded/world.ts';
import type { FaultName, Truth } from './shared/messages.ts';
import { createRoles, type EmbeddedUsers, embeddedUsers } from './users/embedded-users.ts';

export interface EmbeddedClusterOptions {
  readonly objects: number;
  /** Changes per second. */
  readonly rate: number;
  readonly seed: number;
  /** The faults that the cluster contains from the start. @defaultValue 'none' */
  readonly fault?: FaultChoice;
  /** Whether it has users, who sign in by tokens. @defaultValue every request is permitted */
  readonly serveUsers?: boolean | undefined;
}

export interface EmbeddedCluster {
  /** The address of its API server. */
  readonly baseUrl: string;
  readonly server: FakeApiServer;
  readonly users: EmbeddedUsers | undefined;
  readonly pods: number;
  readonly changes: number;
  /** Changes per second; writable. */
  rate: number;
  list(): readonly Pod[];
  /** The seeded faults, each in one or two sentences. */
  readonly explanations: readonly string[];
  /** Must be called with the path of each request, so that the log that it may read exists. */
  prepare(path: string): void;
  /** The answer of its metrics server to a path; `undefined` if the path is not one of it. */
  metrics(path: string): object | undefined;
  hurt(fault: FaultName): void;
  truth(resourceVersion: string): Truth;
  close(): Promise<void>;
}

/** The history of a resource at least: about 1,600 changes of pods. It takes three times as much memory. */
const HISTORY_BYTES = 4 * 2 ** 20;
/**
 * The history for each pod and for each change a second, in bytes. The version of a list must still be there when the watch begins, a
 * list of more pods takes longer, and more changes arrive meanwhile. With 35,000 pods and 1,000 changes a second it is 70 MB, or 28 s.
 */
const HISTORY_BYTES_EACH = 2;
/** How often the status of controllers follows their pods, in milliseconds. */
const ROLLUP_EVERY_MS = 500;
/** How often a log that is followed gets a line, in milliseconds. */
const LOG_EVERY_MS = 1000;
/** How often a seeded fault occurs again, in milliseconds. */
const FAULT_EVERY_MS = 5000;
/** How long a lasting fault lasts, in milliseconds. */
const FAULT_MS = 3000;

/** Injects a fault. Returns a function that ends the fault if it lasts. */
function hurt({ faults, objects }: FakeApiServer, fault: FaultName): (() => void) | undefined {
  const answer = { status: 429, reason: 'TooManyRequests', retryAfterSeconds: 1, times: 2 };
  if (fault === 'half-open') {
    const silent = faults.halfOpen();
    return () => silent.heal();
  }
  const refused = fault === 'restart' ? faults.refuse() : undefined;
  if (fault === 'drop' || fault === 'restart') faults.dropWatches();
  else if (fault === 'throttle') {
    faults.failNext({ resource: pods }, answer);
    faults.closeWatches();
  } else {
    objects.compact();
    faults.expireWatches();
  }
  return refused && (() => refused.heal());
}

export async function createEmbeddedCluster(
  options: EmbeddedClusterOptions,
): Promise<EmbeddedCluster> {
  const { objects, seed, fault = 'none' } = options;
  const chance = new Random(seed + 1);
  const users = options.serveUsers ? embeddedUsers() : undefined;
  const server = createFakeApiServer({
    ...(users && { users: users.tokens, allows: 'rbac' }),
    // Without frequent bookmarks a page could not distinguish a silent connection from a quiet cluster.
    bookmarkIntervalMs: 2000,
    historyLimit: 20_000,
    historyMaxBytes: Math.max(HISTORY_BYTES, HISTORY_BYTES_EACH * objects * options.rate),
    requestsKept: 100,
    random: () => chance.next(),
  });
  const ledger = new Ledger();
  server.objects.onChange(pods, (change) => ledger.record(change));
  const world = new World(server, { objects, seed, isTroubled: fault === 'none' });
  populate(world, objects);
  const seeded = seedFaults(world, fault);
  const logs = new LogWriter(server, chance);
  const director = new Director(world, objects);
  // Some stories run before the page opens, so that it shows pods in every state.
  for (let step = 0; step < objects / 4; step++) director.step();
  world.rollup.flush();
  const writes = new UserWrites(world);
  if (users !== undefined) createRoles(server);
  const served = await server.serve({ port: 0 });
  const pace = createPace(() => director.step(), options.rate);
  const running = new Subscription();
  const each = (everyMs: number, act: () => void) => running.add(interval(everyMs).subscribe(act));
  each(ROLLUP_EVERY_MS, () => {
    writes.step();
    world.rollup.flush();
  });
  each(LOG_EVERY_MS, () => logs.goOn());
  each(FAULT_EVERY_MS, () => {
    // Without changes nothing occurs, faults included.
    if (pace.rate > 0) for (const fault of seeded) fault.again();
  });
  return {
    baseUrl: served.url,
    server,
    users,
    get pods() {
      return ledger.count;
    },
    get changes() {
      return ledger.changes;
    },
    get rate() {
      return pace.rate;
    },
    set rate(rate) {
      pace.rate = rate;
    },
    list: () => server.objects.list(pods),
    explanations: seeded.map(({ explanation }) => explanation),
    metrics: (path) => metricsFor(path, server.objects.list(pods), world.nodes),
    prepare: (path) => logs.prepare(path),
    hurt(fault) {
      const heal = hurt(server, fault);
      if (heal !== undefined) running.add(timer(FAULT_MS).subscribe(heal));
    },
    truth: (resourceVersion) => ledger.truth(resourceVersion),
    async close() {
      pace.stop();
      running.unsubscribe();
      await served.close();
    },
  };
}
