/**
 * Every numeric option of an informer and its stages, of queues, limiters, controllers and caches, over its complete range: it is used as
 * documented, or refused by name.
 */
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
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { scriptedListWatch } from '../support/scripted-list-watch.ts';
import { shown } from './numeric-range.ts';

type Make = (value: number) => unknown;
const informer = (options: object) => createSharedInformer(scriptedListWatch(), options);
const handled = (options: object) => addEventHandler(informer({}), {}, options);
const reflected = (options: object) =>
  reflect(scriptedListWatch(), options).subscribe().unsubscribe();
const waited = (timeoutMs: number) => {
  const started = informer({});
  const wait = started.whenSynced({ timeoutMs });
  void started.stop();
  return wait.then(
    () => undefined,
    (error: Error) => {
      if (error instanceof TypeError) throw error;
    },
  );
};

const LONG = [2 ** 31, 3e9, Number.MAX_VALUE] as const;
const NEVER_A_NUMBER = [Number.NaN, -1, -0.5, Number.NEGATIVE_INFINITY, '5'] as const;

/** For each option: the code that uses it, the values that it accepts besides long times, and those that it refuses besides non-numbers. */
const OPTIONS: readonly {
  readonly name: string;
  readonly law: string;
  readonly make: Make;
  readonly takes: readonly number[];
  readonly refuses: readonly number[];
}[] = [
  ...[
    {
      name: 'resyncPeriodMs',
      law: 'I18',
      make: (resyncPeriodMs: number) => informer({ resyncPeriodMs }),
    },
    {
      name: 'resyncPeriodMs',
      law: 'I14',
      make: (resyncPeriodMs: number) => createInformer(scriptedListWatch(), {}, { resyncPeriodMs }),
    },
    {
      name: 'resyncPeriodMs',
      law: 'I18',
      make: (resyncPeriodMs: number) => handled({ resyncPeriodMs }),
    },
  ].map((option) => ({
    ...option,
    takes: [0, 1_000, 1_000.5, Number.POSITIVE_INFINITY],
    refuses: [0.5, 1, 10, 999, 999.9],
  })),
  ...[
    { name: 'lingerMs', law: 'I5', make: (lingerMs: number) => informer({ lingerMs }) },
    { name: 'slowAfterMs', law: 'I24', make: (slowAfterMs: number) => handled({ slowAfterMs }) },
    { name: 'timeoutMs', law: 'I9', make: waited },
    {
      name: 'pauseLimitMs',
      law: 'R16',
      make: (pauseLimitMs: number) => reflected({ pauseLimitMs }),
    },
    { name: 'healthyMs', law: 'R12', make: (healthyMs: number) => reflected({ healthyMs }) },
  ].map((option) => ({ ...option, takes: [0, 0.5, 1, Number.POSITIVE_INFINITY], refuses: [] })),
  ...[
    {
      name: 'requestTimeoutMs',
      law: 'R15',
      make: (requestTimeoutMs: number) => reflected({ requestTimeoutMs }),
    },
    {
      name: 'idleTimeoutMs',
      law: 'R15',
      make: (idleTimeoutMs: number) => reflected({ idleTimeoutMs }),
    },
    {
      name: 'minWatchTimeoutMs',
      law: 'W3',
      make: (minWatchTimeoutMs: number) => reflected({ minWatchTimeoutMs }),
    },
    {
      name: 'intervalMs',
      law: 'W5',
      make: (intervalMs: number) => createPollingListWatch(scriptedListWatch(), { intervalMs }),
    },
  ].map((option) => ({ ...option, takes: [0.5, 1, Number.POSITIVE_INFINITY], refuses: [0] })),
  ...(['baseMs', 'factor', 'capMs', 'jitter'] as const).map((name) => ({
    name,
    law: 'X4',
    make: (value: number) => exponentialBackoff({ [name]: value }),
    takes: [0, 0.5, 1],
    refuses: [Number.POSITIVE_INFINITY],
  })),
  {
    name: 'pageSize',
    law: 'R3',
    make: (pageSize) => reflected({ pageSize }),
    // A larger number is not sent as the server reads it: 1e21 is not an integer for it.
    takes: [1, 500, Number.MAX_SAFE_INTEGER],
    refuses: [0, 0.5, 2 ** 53, 1e21, Number.MAX_VALUE, Number.POSITIVE_INFINITY],
  },
  {
    name: 'slowPending',
    law: 'I24',
    make: (slowPending) => handled({ slowPending }),
    takes: [0, 1],
    refuses: [0.5, Number.POSITIVE_INFINITY],
  },
  {
    name: 'limit',
    law: 'I11',
    make: (limit) => deliver(informer({}), { kind: 'drop', limit }),
    takes: [1, 2, Number.POSITIVE_INFINITY],
    refuses: [0, 0.5],
  },
  {
    name: 'limit',
    law: 'I20',
    make: (limit) => handled({ delivery: { kind: 'drop', limit, ready: () => NEVER } }),
    takes: [1, 2, Number.POSITIVE_INFINITY],
    refuses: [0, 0.5],
  },
];

describe('numeric options', () => {
  for (const { name, law, make, takes, refuses } of OPTIONS) {
    it(`${law}: ${name} accepts its complete range, and refuses other values by name`, async () => {
      const long = LONG.filter((value) => !refuses.includes(value));
      for (const value of [...takes, ...long]) await make(value);
      for (const value of [...refuses, ...NEVER_A_NUMBER]) {
        const refusal = (async () => make(value as number))();
        await expect(refusal, String(value)).rejects.toThrow(TypeError);
        await expect(refusal, String(value)).rejects.toThrow(
          `${name} is ${shown(value)}; it must be `,
        );
      }
    });
  }

  it.each([
    'requestTimeoutMs',
    'idleTimeoutMs',
    'pauseLimitMs',
    'healthyMs',
    'minWatchTimeoutMs',
    'pageSize',
  ])('M13: an informer and a factory refuse an invalid %s before anything is started', (name) => {
    const client = createClient({ baseUrl: '' });
    const makers = [
      informer,
      (options: object) => createInformer(scriptedListWatch(), {}, options),
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
      const client = createClient({ baseUrl: '' });
      for (const value of [null, true, 'audit']) {
        for (const make of [
          informer,
          (options: object) => createInformer(scriptedListWatch(), {}, options),
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

const { fetch } = createFakeApiServer();
const client = createClient({ baseUrl: 'http://fake', fetch });
const INFINITE = Number.POSITIVE_INFINITY;
const NO_NUMBERS = [Number.NaN, Number.NEGATIVE_INFINITY, '5' as unknown as number];
const NEGATIVE = [...NO_NUMBERS, -1, -0.5];
/** 0 or more, including Infinity. */
const DURATION = { takes: [0, 0.5, 1, 2 ** 31, INFINITE], refuses: NEGATIVE };
const TIMES = DURATION;
const WHOLE_LIMIT = { takes: [1, 2, 2 ** 31, INFINITE], refuses: [...NEGATIVE, 0, 0.5, 1.5] };
/** 0 or less means no limit and is accepted. */
const RATE = { takes: [-1, 0, 0.5, 50, INFINITE], refuses: [Number.NaN, '5' as unknown as number] };

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

interface Option {
  readonly name: string;
  readonly law: string;
  readonly of: string;
  readonly use: (value: number) => unknown;
  readonly takes: readonly number[];
  readonly refuses: readonly number[];
}

const limiters: readonly Option[] = [
  ...(['baseMs', 'maxMs'] as const).map((name) => ({
    ...{ name, law: 'K11', of: 'itemExponentialFailureRateLimiter', ...DURATION },
    use: (value: number) =>
      itemExponentialFailureRateLimiter({ baseMs: 1, maxMs: 2, [name]: value }),
  })),
  ...(['fastMs', 'slowMs', 'maxFastAttempts'] as const).map((name) => ({
    ...{ name, law: 'K11', of: 'itemFastSlowRateLimiter', ...DURATION },
    use: (value: number) =>
      itemFastSlowRateLimiter({ fastMs: 1, slowMs: 2, maxFastAttempts: 3, [name]: value }),
  })),
  {
    ...{ name: 'maxMs', law: 'K11', of: 'withMaxWaitRateLimiter', ...DURATION },
    use: (maxMs) => withMaxWaitRateLimiter(defaultItemBasedRateLimiter(), { maxMs }),
  },
  {
    ...{ name: 'qps', law: 'K11', of: 'bucketRateLimiter', ...RATE },
    use: (qps) => bucketRateLimiter({ qps, burst: 1 }),
  },
  {
    ...{ name: 'burst', law: 'K11', of: 'bucketRateLimiter', ...TIMES },
    use: (burst) => bucketRateLimiter({ qps: 1, burst }),
  },
];
const queues: readonly Option[] = [
  {
    ...{ name: 'ageingMs', law: 'K17', of: 'createPriorityQueue', ...DURATION },
    use: (ageingMs) => createPriorityQueue({ ageingMs }),
  },
  {
    ...{ name: 'concurrency', law: 'K18', of: 'workQueue', ...WHOLE_LIMIT },
    use: (concurrency) => workQueue(() => undefined, { concurrency }),
  },
  {
    ...{ name: 'maxRetries', law: 'K19', of: 'workQueue', ...TIMES },
    use: (maxRetries) => workQueue(() => undefined, { maxRetries }),
  },
];
const controllers: readonly Option[] = [
  ...[
    { name: 'concurrency', law: 'K18', ...WHOLE_LIMIT },
    { name: 'maxRetries', law: 'K19', ...TIMES },
    { name: 'ageingMs', law: 'K17', ...DURATION },
  ].map((option) => ({
    ...option,
    of: 'createController',
    use: (value: number) => controller({ [option.name]: value }),
  })),
  {
    ...{ name: 'drainMs', law: 'N8', of: 'controller.stop', ...DURATION },
    use: (drainMs) => controller({}).stop({ drainMs }),
  },
  {
    ...{ name: 'leaseDurationMs', law: 'N13', of: 'createLeaderElector' },
    ...{ takes: [10_001, (2 ** 31 - 1) * 1000], refuses: [...NEGATIVE, 0, 10_000, INFINITE] },
    use: (leaseDurationMs) => elector({ leaseDurationMs }),
  },
  {
    ...{ name: 'renewDeadlineMs', law: 'N13', of: 'createLeaderElector' },
    ...{ takes: [5_000, 14_999], refuses: [Number.NaN, -1, 0, 2_000] },
    use: (renewDeadlineMs) => elector({ renewDeadlineMs }),
  },
  {
    ...{ name: 'retryPeriodMs', law: 'N13', of: 'createLeaderElector' },
    ...{ takes: [0.5, 1, 2_000], refuses: [Number.NaN, -1, 0] },
    use: (retryPeriodMs) => elector({ retryPeriodMs }),
  },
  ...[
    { name: 'windowMs', ...DURATION },
    { name: 'seriesIntervalMs', ...DURATION },
    { name: 'seriesKept', ...WHOLE_LIMIT },
    { name: 'limit', ...WHOLE_LIMIT },
    { name: 'qps', ...RATE },
    { name: 'burst', ...TIMES },
  ].map((option) => ({
    ...option,
    ...{ law: 'N12', of: 'createEventRecorder' },
    use: (value: number) => recorder({ [option.name]: value }),
  })),
  {
    ...{ name: 'timeoutMs', law: 'N12', of: 'recorder.close', ...DURATION },
    use: (timeoutMs) => recorder({}).close({ timeoutMs }),
  },
  {
    ...{ name: 'timeoutMs', law: 'N20', of: 'untilCondition', ...DURATION },
    use: (timeoutMs) =>
      untilCondition(client, pods, pod, (object) => object === undefined, { timeoutMs }).catch(
        (error: Error) => {
          // With a duration of 0 the timeout may come first.
          if (error instanceof TypeError) throw error;
        },
      ),
  },
];
const caches: readonly Option[] = [
  {
    ...{ name: 'ttlMs', law: 'S19', of: 'createExpirationStore', ...RATE },
    use: (ttlMs) => createExpirationStore({ ttlMs }),
  },
  {
    ...{ name: 'ttlMs', law: 'S20', of: 'createMutationCache' },
    ...{ takes: [0.5, 1, 2 ** 31, INFINITE], refuses: [...NEGATIVE, 0] },
    use: (ttlMs) => createMutationCache(createIndexer(), { ttlMs }),
  },
  {
    ...{ name: 'size', law: 'S20', of: 'createMutationCache', ...WHOLE_LIMIT },
    use: (size) => createMutationCache(createIndexer(), { size }),
  },
];

describe('numeric options of queues, controllers and caches', () => {
  for (const option of [...limiters, ...queues, ...controllers, ...caches]) {
    const { name, law, of, use, takes, refuses } = option;
    it(`${law}: ${of} accepts the complete range of ${name}, and refuses other values by name`, async () => {
      for (const value of takes) await use(value);
      for (const value of refuses) {
        const refusal = (async () => use(value))();
        await expect(refusal, String(value)).rejects.toThrow(TypeError);
        await expect(refusal, String(value)).rejects.toThrow(
          `${name} is ${shown(value)}; it must be `,
        );
      }
    });
  }
});
