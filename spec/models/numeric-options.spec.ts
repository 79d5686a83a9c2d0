/** Every numeric option of an informer and its stages, of queues, limiters, controllers and caches, over its complete range: it is used as documented, or refused by name. */

import type { NatsConnection } from '@nats-io/nats-core';
import {
  addEventHandler,
  bucketRateLimiter,
  createClient,
  createController,
  createDynamicInformerFactory,
  createEventRecorder,
  createExpirationStore,
  createIndexer,
  createInformer,
  createInformerFactory,
  createLeaderElector,
  createMutationCache,
  createPollingListWatch,
  createPriorityQueue,
  createSharedInformer,
  defaultItemBasedRateLimiter,
  deliver,
  exponentialBackoff,
  itemExponentialFailureRateLimiter,
  itemFastSlowRateLimiter,
  reflect,
  untilCondition,
  withMaxWaitRateLimiter,
  workQueue,
} from 'rx-informer';
import { createNatsListWatch, publishToNats } from 'rx-informer/nats';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { scriptedListWatch } from '../support/scripted-list-watch.ts';
import {
  above,
  atLeast,
  isNumber,
  judgeRange,
  NEVER_A_NUMBER,
  type NumericOption,
  neverOrASecond,
  optionsOf,
  sentWhole,
  shown,
  whole,
  wholeOrInfinite,
  within,
} from './numeric-range.ts';

/** The longest Lease, which counts seconds in 32 bits. */
const LONGEST_LEASE_MS = (2 ** 31 - 1) * 1_000;

const informer = (options: object) => createSharedInformer(scriptedListWatch(), options);
const handled = (options: object) => addEventHandler(informer({}), {}, options);
const reflected = (options: object) =>
  reflect(scriptedListWatch(), options).subscribe().unsubscribe();
const created = (options: object) => createInformer(scriptedListWatch(), {}, options);
const worked = (options: object) => workQueue(() => undefined, options);
const cached = (options: object) => createMutationCache(createIndexer(), options);
const waited = (options: { timeoutMs: number }) => {
  const started = informer({});
  const wait = started.whenSynced(options);
  void started.stop();
  return wait.then(
    () => undefined,
    (error: Error) => {
      if (error instanceof TypeError) throw error;
    },
  );
};

const { fetch } = createFakeApiServer();
const client = createClient({ baseUrl: 'http://fake', fetch });
const controller = (options: object) =>
  createController({
    name: 'c',
    for: createSharedInformer(scriptedListWatch()),
    reconcile: () => undefined,
    ...options,
  });
const recorder = (options: object) => createEventRecorder(client, { component: 'c', ...options });
const elector = (options: object) =>
  createLeaderElector({ client, namespace: 'n', name: 'l', identity: 'me', ...options });
const pod = { name: 'web', namespace: 'shop' };
const condition = (options: object) =>
  untilCondition(client, pods, pod, (object) => object === undefined, options).catch(
    (error: Error) => {
      // With a duration of 0 the timeout may come first.
      if (error instanceof TypeError) throw error;
    },
  );

/** The options of functions, with the law of each. */
const of = (
  law: string,
  by: string,
  names: string,
  takes: NumericOption['takes'],
  use: (options: never) => unknown,
  more: Partial<NumericOption> = {},
) => optionsOf(names.split(' '), takes, use, { law, by, ...more });

const finite = within(0, Number.MAX_VALUE);
const fastSlow = (options: object) =>
  itemFastSlowRateLimiter({ fastMs: 1, slowMs: 2, maxFastAttempts: 3, ...options });

const OPTIONS = [
  ...of('I18', 'createSharedInformer', 'resyncPeriodMs', neverOrASecond, informer),
  ...of('I14', 'createInformer', 'resyncPeriodMs', neverOrASecond, created),
  ...of('I18', 'addEventHandler', 'resyncPeriodMs', neverOrASecond, handled),
  ...of('I5', 'createSharedInformer', 'lingerMs', atLeast(0), informer),
  ...of('I24', 'addEventHandler', 'slowAfterMs', atLeast(0), handled),
  ...of('I24', 'addEventHandler', 'slowPending', whole(0), handled),
  ...of('I20', 'addEventHandler', 'limit', atLeast(1), (options: object) =>
    handled({ delivery: { kind: 'drop', ready: () => NEVER, ...options } }),
  ),
  ...of('I11', 'deliver', 'limit', atLeast(1), (options: object) =>
    deliver(informer({}), { kind: 'drop', ...options } as never),
  ),
  ...of('I9', 'whenSynced', 'timeoutMs', atLeast(0), waited),
  ...of('R16', 'reflect', 'pauseLimitMs', atLeast(0), reflected),
  ...of('R12', 'reflect', 'healthyMs', atLeast(0), reflected),
  ...of('R15', 'reflect', 'requestTimeoutMs idleTimeoutMs', above(0), reflected),
  ...of('W3', 'reflect', 'minWatchTimeoutMs', above(0), reflected),
  // A larger number is not sent as the server reads it: 1e21 is not an integer for it.
  ...of('R3', 'reflect', 'pageSize', sentWhole(1), reflected),
  ...of('W5', 'createPollingListWatch', 'intervalMs', above(0), (options: object) =>
    createPollingListWatch(scriptedListWatch(), options),
  ),
  ...of('X4', 'exponentialBackoff', 'baseMs factor capMs jitter', finite, exponentialBackoff),
  ...of('K11', 'itemExponentialFailureRateLimiter', 'baseMs maxMs', atLeast(0), (options: object) =>
    itemExponentialFailureRateLimiter({ baseMs: 1, maxMs: 2, ...options }),
  ),
  ...of('K11', 'itemFastSlowRateLimiter', 'fastMs slowMs maxFastAttempts', atLeast(0), fastSlow),
  ...of('K11', 'withMaxWaitRateLimiter', 'maxMs', atLeast(0), (options: { maxMs: number }) =>
    withMaxWaitRateLimiter(defaultItemBasedRateLimiter(), options),
  ),
  // 0 or less means no limit.
  ...of('K11', 'bucketRateLimiter', 'qps', isNumber, (options: { qps: number }) =>
    bucketRateLimiter({ burst: 1, ...options }),
  ),
  ...of('K11', 'bucketRateLimiter', 'burst', atLeast(0), (options: { burst: number }) =>
    bucketRateLimiter({ qps: 1, ...options }),
  ),
  ...of('K17', 'createPriorityQueue', 'ageingMs', atLeast(0), createPriorityQueue),
  ...of('K18', 'workQueue', 'concurrency', wholeOrInfinite(1), worked),
  ...of('K19', 'workQueue', 'maxRetries', atLeast(0), worked),
  ...of('K18', 'createController', 'concurrency', wholeOrInfinite(1), controller),
  ...of('K19', 'createController', 'maxRetries', atLeast(0), controller),
  ...of('K17', 'createController', 'ageingMs', atLeast(0), controller),
  ...of('N8', 'controller.stop', 'drainMs', atLeast(0), (options: object) =>
    controller({}).stop(options),
  ),
  ...of(
    'N13',
    'createLeaderElector',
    'leaseDurationMs',
    within(10_001, LONGEST_LEASE_MS),
    elector,
    {
      bounds: [10_000, 10_001, LONGEST_LEASE_MS, LONGEST_LEASE_MS + 1],
    },
  ),
  ...of('N13', 'createLeaderElector', 'renewDeadlineMs', within(5_000, 14_999), elector, {
    only: [...NEVER_A_NUMBER, 0, 2_000, 5_000, 14_999],
  }),
  ...of('N13', 'createLeaderElector', 'retryPeriodMs', above(0), elector, {
    only: [...NEVER_A_NUMBER, 0, 0.5, 1, 2_000],
  }),
  ...of('N12', 'createEventRecorder', 'windowMs seriesIntervalMs burst', atLeast(0), recorder),
  ...of('N12', 'createEventRecorder', 'seriesKept limit', wholeOrInfinite(1), recorder),
  ...of('N12', 'createEventRecorder', 'qps', isNumber, recorder),
  ...of('N12', 'recorder.close', 'timeoutMs', atLeast(0), (options: object) =>
    recorder({}).close(options),
  ),
  ...of('N20', 'untilCondition', 'timeoutMs', atLeast(0), condition),
  ...of('S19', 'createExpirationStore', 'ttlMs', isNumber, createExpirationStore),
  ...of('S20', 'createMutationCache', 'ttlMs', above(0), cached),
  ...of('S20', 'createMutationCache', 'size', wholeOrInfinite(1), cached),
];

describe('numeric options', () => {
  it.each(OPTIONS.map(({ law, by, ...row }) => [law, by, row.option, row] as const))(
    '%s: %s accepts the complete range of %s, and refuses other values by name',
    (_law, _by, _option, row) => judgeRange(row),
  );

  it.each([
    'requestTimeoutMs',
    'idleTimeoutMs',
    'pauseLimitMs',
    'healthyMs',
    'minWatchTimeoutMs',
    'pageSize',
  ])('M13: an informer and a factory refuse an invalid %s before anything is started', (name) => {
    const makers = [
      informer,
      created,
      (options: object) => createInformerFactory(client, options),
      (options: object) => createDynamicInformerFactory(client, options),
    ];
    for (const value of NEVER_A_NUMBER) {
      const options = { [name]: value };
      for (const make of makers) {
        expect(() => make(options)).toThrow(TypeError);
        expect(() => make(options)).toThrow(`${name} is ${shown(value)}; it must be `);
      }
    }
  });

  it.each(['audit', 'metrics'])(
    'M13: an informer and a factory refuse %s if it is not a part',
    (name) => {
      for (const value of [null, true, 'audit']) {
        for (const make of [
          informer,
          created,
          (options: object) => createInformerFactory(client, options),
        ]) {
          expect(() => make({ [name]: value })).toThrow(
            `${name} is ${shown(value)}; it must be a part`,
          );
        }
      }
    },
  );

  it('W3: the timeout that a watch requests is an integer of seconds that a server accepts', () => {
    for (const [minWatchTimeoutMs, seconds] of [
      [1, 1],
      [300_000, 300],
      [Number.POSITIVE_INFINITY, 2 ** 31 - 1],
    ] as const) {
      const asked: number[] = [];
      const source = scriptedListWatch();
      source.listed(1);
      reflect(
        {
          ...source,
          watch: ({ timeoutSeconds }) => {
            asked.push(timeoutSeconds);
            return NEVER;
          },
        },
        { minWatchTimeoutMs, random: () => 0 },
      )
        .subscribe()
        .unsubscribe();
      expect(asked).toEqual([seconds]);
    }
  });
});

const connection = {
  status: async function* () {},
} as unknown as NatsConnection;

const reader = (options: object) =>
  createNatsListWatch(connection, pods, { bucket: 'k8s', ...options });

async function publisher(options: object): Promise<void> {
  const informer = createSharedInformer(scriptedListWatch());
  const started = publishToNats(informer as never, {
    ...{ connection, resource: pods as never, bucket: 'k8s' },
    ...options,
  });
  await started.stop();
  await informer.stop();
}

/** The longest period that is sent to a server. */
const LONGEST_MS = 1e12;
const most = { bounds: [LONGEST_MS + 1] };

describe('an option of a publisher or a reader of NATS', () => {
  it.each(
    [
      ...optionsOf(['heartbeatMs'], within(100, LONGEST_MS), publisher, {
        bounds: [99, 100, 333.3, LONGEST_MS + 1],
      }),
      ...optionsOf(['tombstoneMs'], within(1_000, LONGEST_MS), publisher, most),
      ...optionsOf(['idleMs'], within(500, LONGEST_MS), reader, {
        bounds: [499, 500.1, LONGEST_MS + 1],
      }),
      ...optionsOf(['compareEveryMs'], atLeast(1_000), publisher, most),
      ...optionsOf(['batch'], sentWhole(1), reader),
      ...optionsOf(['replicas'], sentWhole(1), publisher),
      ...optionsOf(
        ['batchSize'],
        (value) => whole(2)(value) && (value as number) <= 1_000,
        publisher,
        { bounds: [2.5, 1_001] },
      ),
    ].map((row) => [row.option, row] as const),
  )(
    'M13, J18: %s is used as documented, or refused by name, over its complete range',
    (_option, row) => judgeRange(row),
  );
});
