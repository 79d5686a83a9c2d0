/** Every numeric option of queues, limiters, controllers and caches, over its complete range. */
import {
  bucketRateLimiter,
  createClient,
  createController,
  createEventRecorder,
  createExpirationStore,
  createIndexer,
  createLeaderElector,
  createMutationCache,
  createPriorityQueue,
  createSharedInformer,
  defaultItemBasedRateLimiter,
  itemExponentialFailureRateLimiter,
  itemFastSlowRateLimiter,
  untilCondition,
  withMaxWaitRateLimiter,
  workQueue,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { scriptedListWatch } from '../support/scripted-list-watch.ts';
import { shown } from './numeric-range.ts';

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
