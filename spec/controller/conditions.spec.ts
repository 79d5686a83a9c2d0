/** Setting a condition, comparing before a write, and waiting for the condition of one object, through failures. */
import {
  ApiError,
  and,
  ConditionTimeout,
  conditionTrue,
  createClient,
  deleted,
  exists,
  type KubernetesObject,
  type NewCondition,
  not,
  or,
  setCondition,
  untilCondition,
} from 'rx-informer';
import { clusterRoles, type Pod, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';

const web = { namespace: 'shop', name: 'web' };

function rig() {
  const scheduler = new VirtualTime();
  const server = createFakeApiServer({ scheduler });
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler });
  const until = (
    condition: (pod: Pod | undefined) => boolean,
    options: { timeoutMs?: number; signal?: AbortSignal } = {},
  ) => untilCondition(client, pods, web, condition, { scheduler, random: () => 0, ...options });
  return { scheduler, server, client, until };
}
const ready = (status: string, observedGeneration?: number): KubernetesObject['metadata'] =>
  ({
    conditions: [
      {
        type: 'Ready',
        status,
        reason: 'Started',
        ...(observedGeneration && { observedGeneration }),
      },
    ],
  }) as object;

describe('untilCondition', () => {
  it('N20: finds an object whose name has characters of field selectors', async () => {
    const scheduler = new VirtualTime();
    const server = createFakeApiServer({ scheduler, resources: [clusterRoles] });
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler });
    const name = 'system:a,b=c\\d';
    server.objects.create(clusterRoles, { metadata: { name }, rules: [] });
    const wait = untilCondition(client, clusterRoles, { name }, exists, {
      ...{ scheduler, random: () => 0, timeoutMs: 1_000 },
    });
    const found = expect(wait).resolves.toMatchObject({ metadata: { name } });
    await scheduler.advance(1_000);
    await found;
  });

  it('N20: checks the current state immediately (TestUntilWithSync)', async () => {
    const { server, scheduler, until } = rig();
    server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-2' } });
    server.objects.create(pods, { metadata: web });
    const seen: unknown[] = [];
    const wait = until(
      (pod) => {
        seen.push(pod?.metadata?.name);
        return exists(pod);
      },
      { timeoutMs: 60_000 },
    );
    await scheduler.advance(0);
    expect((await wait)?.metadata?.name).toBe('web');
    // Only this object was requested, and nothing is left.
    expect(seen).toEqual(['web']);
    expect(server.requests.every(({ query }) => query.fieldSelector === 'metadata.name=web')).toBe(
      true,
    );
    expect([server.openWatches.length, scheduler.pending]).toEqual([0, 0]);
  });

  it('N20: waits for an object that does not exist yet, and survives a lost connection', async () => {
    const { server, scheduler, until } = rig();
    const wait = until(and(exists, conditionTrue('Ready')));
    await scheduler.advance(1_000);
    server.faults.dropWatches();
    server.objects.create(pods, { metadata: web, status: ready('False') as never });
    await scheduler.advance(5_000);
    server.objects.modify(pods, web, (pod) => {
      pod.status = ready('True') as never;
    });
    await scheduler.advance(5_000);
    expect((await wait)?.status?.conditions?.[0]?.status).toBe('True');
    expect(scheduler.pending).toBe(0);
  });

  it('N20: for a deletion, accepts an absent object or another one of that name', async () => {
    const { server, scheduler, until } = rig();
    const { metadata } = server.objects.create(pods, { metadata: web });
    const gone = until(deleted());
    const notThis = until(deleted(metadata.uid));
    await scheduler.advance(1_000);
    server.objects.delete(pods, web);
    server.objects.create(pods, { metadata: web });
    await scheduler.advance(1_000);
    expect(await gone).toBeUndefined();
    expect((await notThis)?.metadata?.uid ?? 'gone').not.toBe(metadata.uid);
    expect(deleted()({ metadata })).toBe(false);
    expect(deleted(metadata.uid)({ metadata: { ...metadata, uid: 'other' } })).toBe(true);
    expect(deleted(metadata.uid)({ metadata })).toBe(false);
  });

  it('N20: an entry about an older spec does not count', () => {
    const object = (observed: number) => ({
      metadata: { generation: 2 },
      status: ready('True', observed),
    });
    expect([1, 2].map((observed) => conditionTrue('Ready')(object(observed)))).toEqual([
      false,
      true,
    ]);
    expect(conditionTrue('Ready')({ status: ready('True') } as object)).toBe(true);
    // A kind without generations.
    expect(conditionTrue('Ready')({ metadata: {}, status: ready('True', 1) } as object)).toBe(true);
    expect(conditionTrue('Ready')({ status: { conditions: 'none' } } as object)).toBe(false);
  });

  it('N20: the error of the timeout has the last state and the cause (TestUntilTimeout)', async () => {
    const { server, scheduler, until } = rig();
    server.objects.create(pods, { metadata: web, status: ready('False') as never });
    const wait = until(conditionTrue('Ready'), { timeoutMs: 3_000 }).catch((error) => error);
    await scheduler.advance(1_000);
    const fault = server.faults.failNext({ use: 'watch' }, { status: 503, times: 99 });
    server.faults.dropWatches();
    await scheduler.advance(2_000);
    const error: ConditionTimeout = await wait;
    expect(error).toBeInstanceOf(ConditionTimeout);
    expect(error).toBeInstanceOf(ApiError);
    expect(error.message).toMatch(
      /^pods shop\/web did not meet the condition within 3000 ms: last seen at resourceVersion 2, Ready=False \(Started\); .*503/,
    );
    expect(error.lastSeen?.metadata?.name).toBe('web');
    expect((error.cause as ApiError).code).toBe(503);
    fault.heal();
    expect(scheduler.pending).toBe(0);
  });

  it('N20: the error of the timeout does not call an object absent before the first list is complete', async () => {
    const { server, scheduler, until } = rig();
    server.faults.neverAnswer();
    const wait = until(exists, { timeoutMs: 1_000 }).catch((error: Error) => error.message);
    const none = rig();
    const other = none.until(exists, { timeoutMs: 1_000 }).catch((error: Error) => error.message);
    await scheduler.advance(1_000);
    await none.scheduler.advance(1_000);
    expect(await wait).toContain('the first list is not complete yet');
    expect(await other).toContain('there is no such object');
  });

  it('N20: an error of the condition and an abort end it, and nothing is left (TestUntilErrorCondition)', async () => {
    const { server, scheduler, until } = rig();
    const thrown = until(() => {
      throw new RangeError('no replicas');
    }).catch((error: Error) => error.message);
    const controller = new AbortController();
    const aborted = until(exists, { signal: controller.signal }).catch(
      (error: ApiError) => error.reason,
    );
    await scheduler.advance(1_000);
    controller.abort();
    expect(await thrown).toBe('no replicas');
    expect(await aborted).toBe('Aborted');
    await expect(until(exists, { signal: controller.signal })).rejects.toThrow('aborted');
    expect([server.openWatches.length, scheduler.pending]).toEqual([0, 0]);
  });

  it('N20: refuses an invalid target before anything is sent', async () => {
    const { server, client } = rig();
    await expect(untilCondition(client, pods, { name: 'web' }, exists)).rejects.toThrow(TypeError);
    expect(server.requests).toEqual([]);
  });
});

describe('a condition that returns a Promise', () => {
  const pending = (async (pod: Pod | undefined) => pod === undefined) as unknown as (
    pod: Pod | undefined,
  ) => boolean;
  const broken = (async () => {
    throw new Error('later');
  }) as unknown as () => boolean;

  it.each([
    ['by itself', pending],
    ['that rejects', broken],
    ['in and', and<Pod | undefined>(exists, pending)],
    ['in or', or<Pod | undefined>(not<Pod | undefined>(exists), pending)],
    ['in not', not(pending)],
  ])(
    'N20: a condition that returns a Promise is refused, not met: %s',
    async (_where, condition) => {
      const { server, scheduler, until } = rig();
      server.objects.create(pods, { metadata: web });
      const wait = until(condition).then(
        () => 'met',
        (error: Error) => `${error.name}: ${error.message}`,
      );
      await scheduler.advance(0);
      expect(await wait).toMatch(
        /^TypeError: a predicate or condition returned a Promise; it must return synchronously/,
      );
      expect([server.openWatches.length, scheduler.pending]).toEqual([0, 0]);
    },
  );
});

describe('setCondition', () => {
  const ready: NewCondition = {
    type: 'Ready',
    status: 'True',
    reason: 'Started',
    message: 'all runs',
    transitionAtMs: 1_500,
  };
  const job = { metadata: { name: 'import', generation: 3 } };
  const holding = (conditions: ReturnType<typeof setCondition>) => ({
    ...job,
    status: { conditions },
  });
  const first = setCondition(job, ready);

  it('N32: adds a condition of a new type at the end, with the time and the generation', () => {
    expect(first).toEqual([
      {
        type: 'Ready',
        status: 'True',
        reason: 'Started',
        message: 'all runs',
        lastTransitionTime: '1970-01-01T00:00:01Z',
        observedGeneration: 3,
      },
    ]);
    const second = setCondition(holding(first), { type: 'Done', status: 'False', reason: 'Busy' });
    expect(second.map(({ type }) => type)).toEqual(['Ready', 'Done']);
    expect(second[0]).toBe(first[0]);
    expect(second[1]?.message).toBe('');
  });

  it('N32: returns the same array if nothing changes, also at another time', () => {
    expect(setCondition(holding(first), { ...ready, transitionAtMs: 9_000 })).toBe(first);
  });

  it('N32: returns the same array if the server has left an empty message out', () => {
    const { message, ...stored } = { ...first[0], message: '' };
    const object = holding([stored as (typeof first)[0]]);
    expect(setCondition(object, { ...ready, message })).toBe(object.status.conditions);
  });

  it('N32: the transition time changes with the status only, and other fields and entries stay', () => {
    const probed = first.map((each) => ({ ...each, lastProbeTime: '2020-01-01T00:00:00Z' }));
    const other = { type: 'Done', status: 'False' };
    const object = holding([other, ...probed]);
    const [kept, entry] = setCondition(object, {
      ...ready,
      reason: 'Again',
      transitionAtMs: 9_000,
    });
    expect(kept).toBe(other);
    expect(entry).toEqual({ ...probed[0], reason: 'Again' });
    const [, failed] = setCondition(object, { ...ready, status: 'False', transitionAtMs: 9_000 });
    const lastTransitionTime = '1970-01-01T00:00:09Z';
    expect(failed).toEqual({ ...probed[0], status: 'False', lastTransitionTime });
    expect(object.status.conditions[1]).toBe(probed[0]);
  });

  it('N32: each field of the condition is compared', () => {
    for (const change of [{ reason: 'X' }, { message: 'x' }, { observedGeneration: 4 }]) {
      const [entry, ...more] = setCondition(holding(first), { ...ready, ...change });
      expect(entry).toEqual({ ...first[0], ...change });
      expect(more).toEqual([]);
    }
    expect(setCondition({ ...holding(first), metadata: { generation: 4 } }, ready)).not.toBe(first);
  });

  it.each([
    ['type', { type: '' }],
    ['reason', { reason: '' }],
    ['message', { message: 1 }],
    ['status', { status: 'true' }],
  ])('N32: refuses an invalid %s', (field, change) => {
    const wrong = { ...ready, ...change } as NewCondition;
    expect(() => setCondition(job, wrong)).toThrow(
      new RegExp(`^setCondition: ${field} is .*; it must be`),
    );
  });
});
