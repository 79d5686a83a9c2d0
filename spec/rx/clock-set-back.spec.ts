/**
 * Sets every clock that the library reads back by an hour. A reading is either a moment, which is shown or written,
 * or the start or end of a duration, which the change must not affect.
 */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  addEventHandler,
  bucketRateLimiter,
  createDelayingQueue,
  createEventRecorder,
  createExpirationStore,
  createIndexer,
  createLeaderElector,
  createMutationCache,
  createPriorityQueue,
  createRestMapper,
  createWorkQueue,
  type KubeRequest,
  metricsOf,
  type Outcome,
  reflect,
  timeSlice,
  workQueue,
} from 'rx-informer';
import { asyncScheduler, concat, NEVER, of, Subject } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { stopwatch } from '../../lib/rx/stopwatch.ts';
import { leaseServer } from '../controller/lease-server.ts';
import * as fc from '../support/fast-check.ts';
import { pod, scriptedInformer } from '../support/scripted-list-watch.ts';
import { CLOCKS, type SettableClock } from './clock.ts';
import { VirtualTime } from './virtual-time.ts';

const HOUR_MS = 3_600_000;
const kinds = Object.keys(CLOCKS);
let open: SettableClock | undefined;
const clockOf = (kind: string): SettableClock => {
  open = (CLOCKS[kind] as () => SettableClock)();
  return open;
};
afterEach(() => open?.restore());

/** Each case starts something that measures time, sets the clock back, and reads immediately afterwards. */
const CASES: Record<string, (clock: SettableClock) => Promise<void>> = {
  'a delayed key, if another key is due earlier (delaying-queue.ts)': async ({
    scheduler,
    pass,
    set,
  }) => {
    const queue = createDelayingQueue({ scheduler });
    queue.addAfter('late', 10_000);
    set(-HOUR_MS);
    queue.addAfter('soon', 500);
    await pass(500);
    expect(queue.tryGet()).toBe('soon');
    await pass(9_500);
    expect(queue.tryGet()).toBe('late');
  },
  'a key that ages (priority-queue.ts)': async ({ scheduler, pass, set }) => {
    const queue = createPriorityQueue({ scheduler, ageingMs: 1_000 });
    queue.addWithOptions('aged', { priority: -1 });
    set(-HOUR_MS);
    queue.add('first');
    await pass(1_000);
    const turns = [queue.tryGet()];
    queue.add('second');
    turns.push(queue.tryGet());
    expect(turns).toContain('aged');
  },
  'the metrics of a queue (key-queue.ts)': async ({ scheduler, pass, set }) => {
    const queue = createWorkQueue({ scheduler });
    queue.add('a');
    queue.add('b');
    set(-HOUR_MS);
    queue.tryGet();
    expect(queue.queuedMs('a')).toBe(0);
    await pass(2_000);
    const { unfinishedWorkSeconds, longestRunningProcessorSeconds } = queue.metrics;
    expect([unfinishedWorkSeconds, longestRunningProcessorSeconds]).toEqual([2, 2]);
    set(-HOUR_MS);
    queue.tryGet();
    queue.done('a');
    const { queueDurationSeconds, workDurationSeconds } = queue.metrics;
    expect([queueDurationSeconds.sum, workDurationSeconds.sum]).toEqual([2, 2]);
  },
  'the duration of a reconcile (workers.ts)': async ({ scheduler, pass, set }) => {
    const outcomes: Outcome[] = [];
    const answer = new Subject<undefined>();
    of('a')
      .pipe(workQueue(() => answer, { scheduler }))
      .subscribe((outcome) => outcomes.push(outcome));
    await pass(3_000);
    expect(outcomes).toEqual([]);
    set(-HOUR_MS);
    answer.complete();
    expect(outcomes[0]?.workedMs).toBeGreaterThanOrEqual(0);
    if (scheduler === asyncScheduler) expect(outcomes[0]?.workedMs).toBe(3_000);
  },
  'tokens (token-bucket.ts)': async ({ scheduler, pass, set }) => {
    const limiter = bucketRateLimiter({ qps: 1, burst: 2, scheduler });
    expect([1, 2, 3].map(() => limiter.when('a'))).toEqual([0, 0, 1_000]);
    set(-HOUR_MS);
    expect(limiter.when('a')).toBe(2_000);
    await pass(3_000);
    expect(limiter.when('a')).toBe(0);
  },
  'a time slice (demand.ts)': async ({ scheduler, pass, set }) => {
    const demand = timeSlice({ budgetMs: 8, scheduler });
    expect(demand()).toBeNull();
    await pass(5);
    expect(demand()).toBeNull();
    set(-HOUR_MS);
    expect(demand()).toBeNull();
    await pass(3);
    expect(demand()).not.toBeNull();
  },
  'silence (idle-timeout.ts)': async ({ scheduler, pass, set }) => {
    const errors: string[] = [];
    const run = reflect(
      { watchList: false, list: () => NEVER, watch: () => NEVER },
      { scheduler, onError: ({ message }) => void errors.push(message) },
    ).subscribe();
    await pass(25_000);
    set(-HOUR_MS);
    await pass(4_999);
    expect(errors).toEqual([]);
    // With a scheduler's clock, the check after the step back counts no time.
    await pass(scheduler === asyncScheduler ? 1 : 5_001);
    expect(errors).toEqual([
      'the server sent nothing for 30 s (requestTimeoutMs). Is it overloaded, or was the connection lost?',
    ]);
    run.unsubscribe();
  },
  'a pause of the reader (gate.ts)': async ({ scheduler, pass, set }) => {
    const capacity = new Subject<void>();
    const closed: string[] = [];
    const run = reflect(
      {
        watchList: false,
        list: () => of({ items: [], metadata: { resourceVersion: '1' } }),
        // Like a transport, which asks the demand before it reads.
        watch: ({ demand }) =>
          concat(of({ kind: 'opened' as const }), demand?.() ?? of(), NEVER) as never,
      },
      { scheduler, demand: () => capacity, onStatus: ({ phase }) => void closed.push(phase) },
    ).subscribe();
    await pass(0);
    set(-HOUR_MS);
    await pass(70_000);
    expect(closed).toContain('paused');
    run.unsubscribe();
  },
  'the cache of a REST mapper (rest-mapper.ts)': async ({ scheduler, pass, set }) => {
    let asks = 0;
    const served = async () => {
      asks++;
      return { resources: [], failed: [] };
    };
    const mapper = createRestMapper({ served }, { scheduler });
    const look = () => mapper.forKind({ kind: 'Gizmo' }).catch(() => undefined);
    await look();
    set(-HOUR_MS);
    await look();
    expect(asks).toBe(1);
    await pass(1_000);
    await look();
    expect(asks).toBe(2);
  },
  'the expiry of a mutation (mutation-cache.ts)': async ({ scheduler, pass, set }) => {
    const cache = createMutationCache(createIndexer(), {
      ...{ scheduler, ttlMs: 60_000, includeAdds: true },
    });
    cache.mutation(pod('web', 5));
    set(-HOUR_MS);
    expect(cache.getByKey('shop/web')).toBeDefined();
    await pass(60_001);
    expect(cache.getByKey('shop/web')).toBeUndefined();
  },
  'the expiry of an object (expiration-store.ts)': async ({ scheduler, pass, set }) => {
    const store = createExpirationStore({ ttlMs: 60_000, scheduler });
    store.add({ metadata: { name: 'web' } });
    set(-HOUR_MS);
    expect(store.has('web')).toBe(true);
    await pass(60_001);
    expect(store.has('web')).toBe(false);
  },
  'the duration of a batch and of a handler (informer-metrics.ts, handler-feed.ts)': async ({
    scheduler,
    pass,
    set,
  }) => {
    const sums: number[] = [];
    const warnings: number[] = [];
    const { source, informer } = scriptedInformer({
      scheduler,
      onWarning: (warning) => {
        if (warning.type === 'slow-handler') warnings.push(warning.tookMs ?? 0);
      },
    });
    const held = new Subject<void>();
    await addEventHandler(
      informer,
      {
        onAdd: (_object, { key }) => {
          set(-HOUR_MS);
          return key === 'shop/a'
            ? new Promise<void>((resolve) => held.subscribe(() => resolve()))
            : undefined;
        },
      },
      { slowPending: 1 },
    );
    metricsOf(informer).metrics$.subscribe((now) => sums.push(now.processingLatencySeconds.sum));
    source.listed(1, pod('a', 1), pod('b', 1), pod('c', 1));
    informer.start();
    await pass(0);
    expect(sums.at(-1)).toBe(0);
    set(-HOUR_MS);
    await pass(150);
    held.next();
    await pass(0);
    if (scheduler === asyncScheduler) expect(warnings).toEqual([150]);
    const stopped = informer.stop();
    await pass(0);
    await stopped;
  },
  'the window of events (event-recorder.ts)': async ({ scheduler, pass, set }) => {
    const asked: string[] = [];
    const request = async <R>({ method }: KubeRequest) => {
      asked.push(method ?? 'GET');
      return { kind: 'Event' } as R;
    };
    const recorder = createEventRecorder({ request }, { component: 'test', scheduler });
    const about = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' } };
    recorder.event(about, { reason: 'Synced', message: '' });
    set(-HOUR_MS);
    recorder.event(about, { reason: 'Other', message: '' });
    await pass(360_001);
    recorder.event(about, { reason: 'Synced', message: '' });
    await pass(0);
    expect(asked).toEqual(['POST', 'POST', 'POST']);
    const closed = recorder.close();
    await pass(0);
    await closed;
  },
  'the lease duration of a leader (candidacy.ts)': async ({ scheduler, pass, set }) => {
    const server = leaseServer(scheduler);
    const elector = createLeaderElector({
      ...{
        client: server.client('a'),
        onError: () => undefined,
        namespace: 'shop',
        name: 'billing',
        identity: 'a',
        scheduler,
      },
    });
    elector.start();
    await pass(0);
    expect(elector.isLeading).toBe(true);
    server.fate = () => ({ lost: 'request' });
    set(-HOUR_MS);
    expect(elector.isLeading).toBe(true);
    // The clock detects this as well as the timer does, because after a sleep only the clock has moved.
    await pass(9_000);
    set(1_001);
    expect(elector.isLeading).toBe(false);
    server.fate = () => ({});
    const stopped = elector.stop();
    await pass(0);
    await stopped;
  },
};

/** The files that read moments, which are written or shown as the clock has them. */
const MOMENTS: Record<string, string> = {
  'lib/transport/guards/buffering-proxy.ts': 'since when events are held back',
  'lib/transport/response.ts': 'Retry-After may be a date',
  'lib/worker/page/connect-painted-worker.ts': 'when rows were stored, which a later page compares',
  'lib/worker/page/tab.ts': 'when a hello was sent, which a worker compares',
  'lib/worker/page/worker-link.ts': 'when a worker was last heard, which a user reads',
  'lib/worker/server/query-server.ts':
    'whether a hello is old; a wrong answer costs one more hello',
  'lib/wire/query-feed.ts': 'from which on the moments of a status are told',
  'lib/wire/remote-view.ts': 'from which on the moments of a status were told',
  'lib/wire/from-wire.ts': 'when the last message came, which a user reads',
  'lib/server/shared/shared-session.ts':
    'since when a user may read nothing, as the status shows it',
  'lib/server/relay/relayed-feed.ts': 'from which on the moments of a status are told',
  'lib/server/page/connect-server.ts':
    'since when rows are not right, as their status says; a wrong answer drops them earlier or later',
  'lib/server/users/user-connection.ts': 'when credentials end',
  'lib/audit/audit.ts': 'when a collection was last compared, for the status',
  'lib/informer/status/describe-status.ts':
    'the age of the data and the time until a retry, in words',
  'lib/informer/metrics-part.ts': 'the age of the data, for a metric',
  'lib/informer/status/status-board.ts': 'since when the informer is idle, for the status',
  'lib/persist/shared-store.ts':
    'how old stored collections are; a clock that is set is tolerated: P12',
  'lib/persist/keeper.ts': 'when objects were stored; a clock that is set is tolerated: P12',
  'lib/reflector/reflector.ts':
    'since when the phase lasts; its rules tolerate a clock that is set back: R8, R12',
  'lib/shards/reflect/shard-reflection.ts': 'since when there are no shards, for the status',
  'lib/factory/clusters/merged-informer.ts': 'since when there are no clusters, for the status',
  'lib/election/lease-lock.ts': 'the times of a Lease, which are never compared',
  'lib/diagnose/bug-report.ts': 'the ages of phases',
  'lib/diagnose/observe.ts': 'the clock that is compared with that of the server',
  'lib/election/candidacy.ts': 'the times of a Lease, which are never compared',
  'lib/shards/ring-server.ts': 'the times of a Lease, which are never compared',
  'lib/controller/events/event-recorder.ts': 'the times of an Event',
  'lib/controller/set-condition.ts': 'the time of a transition',
  'lib/store/caches/expiration-store.ts': 'when an object was written, for a policy',
  'lib/node/credentials.ts':
    'a token expires at a date; durations are read from a clock that cannot be set',
  'lib/query/engine/due-timer.ts': 'how long it is until a moment that a query has named',
  'lib/query/engine/execution.ts': 'the time that the functions of a query are given',
  'lib/rx/stopwatch.ts': 'the stopwatch itself',
};

describe('a stopwatch', () => {
  it.each(kinds)('X5: never decreases, and counts a forward jump, by %s', async (kind) => {
    const step = fc.record({
      passMs: fc.nat(5_000),
      setMs: fc.oneof(fc.constant(0), fc.integer({ min: -1e9, max: 1e9 })),
      looks: fc.integer({ min: 0, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const clock = clockOf(kind);
        try {
          const passedMs = stopwatch(clock.scheduler);
          let [seen, passed, jumped] = [0, 0, 0];
          for (const { passMs, setMs, looks } of steps) {
            await clock.pass(passMs);
            // Read before and after, so that a scheduler's clock loses no time either.
            seen = passedMs();
            clock.set(setMs);
            expect(passedMs()).toBeGreaterThanOrEqual(seen);
            // A jump is seen within a millisecond.
            await clock.pass(1);
            passed += 1;
            for (let look = 0; look < looks + 1; look++) {
              expect(passedMs()).toBeGreaterThanOrEqual(seen);
              seen = passedMs();
            }
            passed += passMs;
            jumped += Math.max(0, setMs);
            // A step back of less than a second may hide a forward jump of the same size.
            expect(seen).toBeGreaterThanOrEqual(passed);
            expect(seen).toBeLessThanOrEqual(passed + jumped);
            expect(seen).toBeGreaterThanOrEqual(passed + jumped - 1_000 * steps.length);
          }
        } finally {
          clock.restore();
        }
      }),
      { numRuns: 50 },
    );
  });

  it('X5: with the clock of the system, loses no time even without readings in between', async () => {
    const clock = clockOf('the clock of the system');
    const passedMs = stopwatch(clock.scheduler);
    await clock.pass(60_000);
    clock.set(-HOUR_MS);
    await clock.pass(60_000);
    expect(passedMs()).toBe(120_000);
  });

  it('X5: reads only the clock of its scheduler, also inside a TestScheduler', async () => {
    const time = new VirtualTime();
    const virtual = stopwatch(time);
    const system = clockOf('the clock of the system');
    await system.pass(5);
    expect(virtual()).toBe(0);
    time.jump(7);
    expect(virtual()).toBe(7);
    new TestScheduler(() => undefined).run(({ flush }) => {
      const passedMs = stopwatch(asyncScheduler);
      asyncScheduler.schedule(() => {
        vi.advanceTimersByTime(5);
        expect(passedMs()).toBe(3);
      }, 3);
      flush();
    });
    expect.assertions(3);
  });

  it('X5: agrees with the clock of the system while that clock is not set', async () => {
    const { scheduler, pass } = clockOf('the clock of the system');
    const passedMs = stopwatch(scheduler);
    const startMs = scheduler.now();
    for (let look = 0; look < 50_000; look++) passedMs();
    await pass(30);
    expect([passedMs(), scheduler.now() - startMs]).toEqual([30, 30]);
  });
});

describe('a clock that is set back an hour', () => {
  for (const [name, run] of Object.entries(CASES)) {
    it.each(kinds)(`X5: does not delay ${name}, by %s`, (kind) => run(clockOf(kind)));
  }

  it('X5: only the stopwatch reads a clock to measure durations', () => {
    const root = fileURLToPath(new URL('../..', import.meta.url));
    const readers = globSync('lib/**/*.ts', { cwd: root })
      .filter((file) => !/^lib\/(testing|command\/templates)\//.test(file))
      .filter((file) =>
        /\.now\(\)|\b(Date|scheduler)\.now\b/.test(
          readFileSync(`${root}${file}`, 'utf8').replace(/^ \*.*$/gm, ''),
        ),
      );
    expect(readers.sort()).toEqual(Object.keys(MOMENTS).sort());
  });
});
