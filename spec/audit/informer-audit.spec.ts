/** The audit of an informer: its requests, the differences that it finds, and its status. */
import {
  ApiError,
  audit,
  createPollingListWatch,
  type InformerStatus,
  type ListRequest,
  metricsOf,
} from 'rx-informer';
import { BehaviorSubject, defer, EMPTY, Subject, throwError, timer } from 'rxjs';
import { filter, map, mergeMap, take } from 'rxjs/operators';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PendingDeletions } from '../../lib/audit/pending-deletions.ts';
import { compressions } from '../delta/compressions.ts';
import { type Pod, pods } from '../faults/history.ts';
import { auditOf, auditRig, BETWEEN_MS, BOOKMARK_MS, PERIOD_MS, startedAudit } from './rig.ts';

const withoutVersion = {
  ...{ kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' },
  ...{ metadata: { resourceVersion: '' }, items: [] },
};
const unaudited = { compared: 0, differed: 0, ghosts: 0, missing: 0 };

describe('an informer with the audit option', () => {
  for (const change of ['create', 'modify', 'delete'] as const) {
    it(`I90, I92: a lost ${change} is detected and repaired within one period`, async () => {
      const rig = await auditRig();
      const { time, informer } = rig;
      informer.start();
      await time.advance(100_000);
      const { relists } = informer.status;
      rig.lose(change, change === 'create' ? 'new' : 'pod-0');
      // A later event, after which the missing event counts as lost and not as late.
      rig.create('later');
      await time.advance(PERIOD_MS);
      expect(rig.wrong()).toEqual([]);
      expect(auditOf(informer.status)).toMatchObject({
        ...{ differed: 1, ghosts: Number(change === 'delete') },
        missing: Number(change === 'create'),
        differedKeys: [change === 'create' ? 'a/new' : 'a/pod-0'],
      });
      expect(informer.status.relists).toBe(relists + 1);
      await rig.end();
      expect(time.pending).toBe(0);
    });
  }

  it('I90: a loss in a quiet collection is repaired within one period after the next bookmark', async () => {
    const rig = await startedAudit();
    await rig.time.advance(100_000);
    rig.lose('delete', 'pod-2');
    await rig.time.advance(BOOKMARK_MS + PERIOD_MS);
    expect(rig.wrong()).toEqual([]);
    expect(rig.audit?.differed).toBe(1);
  });

  it('I90, I93: rounds begin 70 % of a period apart and spread their pages of 500 objects evenly', async () => {
    const rig = await startedAudit({ objects: 1_700 });
    await rig.time.advance(10 * PERIOD_MS);
    const audits = rig.audits;
    const first = audits.slice(0, 4);
    expect(first.map(({ query }) => [query['limit'], query['resourceVersionMatch']])).toEqual([
      ['500', 'Exact'],
      ['500', undefined],
      ['500', undefined],
      ['500', undefined],
    ]);
    const gaps = first.slice(1).map(({ atMs }, at) => atMs - (first[at]?.atMs ?? 0));
    expect(Math.max(...gaps) - Math.min(...gaps)).toBeLessThan(200);
    expect((audits[4]?.atMs ?? 0) - (audits[0]?.atMs ?? 0)).toBe(BETWEEN_MS);
    expect(audits.length).toBeLessThanOrEqual(4 * 15);
    expect(audits.length).toBeGreaterThanOrEqual(4 * 12);
    expect(rig.audit).toMatchObject({ differed: 0 });
    expect(rig.audit?.compared).toBe((audits.length / 4) * 1_700);
    expect(rig.informer.status.relists).toBe(0);
  });

  it('I90: one list per round repairs all losses, however many there are', async () => {
    const rig = await startedAudit({ objects: 60 });
    await rig.time.advance(100_000);
    const stop = rig.time.now() + 9 * PERIOD_MS;
    for (let at = 0; rig.time.now() < stop; at++) {
      rig.lose('modify', `pod-${(at % 30) * 2}`);
      rig.create(`seen-${at}`);
      await rig.time.advance(1_000);
    }
    expect(rig.audit?.differed).toBeGreaterThan(100);
    const { relists } = rig.informer.status;
    expect(relists).toBeGreaterThanOrEqual(8);
    expect(relists).toBeLessThanOrEqual(13);
  });

  it('I90: each of several scopes has its own audit', async () => {
    const rig = await auditRig({ objects: 8, scopes: [{ namespace: 'a' }, { namespace: 'b' }] });
    rig.create('elsewhere', 'c');
    rig.informer.start();
    await rig.time.advance(100_000);
    rig.lose('modify', 'pod-0');
    rig.create('later');
    await rig.time.advance(PERIOD_MS);
    expect(rig.wrong()).toEqual([]);
    expect(rig.audit).toMatchObject({ differed: 1, differedKeys: ['a/pod-0'] });
    // A later comparison of the other scope hides no key of the first.
    rig.create('other', 'b');
    await rig.time.advance(PERIOD_MS);
    rig.lose('modify', 'other', 'b');
    rig.create('latest', 'b');
    await rig.time.advance(PERIOD_MS);
    expect(rig.audit?.differedKeys).toEqual(['a/pod-0', 'b/other']);
    const lists = rig.requests.filter(({ what }) => what === 'list');
    expect(lists.length).toBeLessThanOrEqual(3);
    await rig.end();
    expect(rig.time.pending).toBe(0);
  });

  it('I90: a difference that lists do not repair is an error, causes lists ever more rarely, and delays no other repair', async () => {
    const hides = ({ metadata }: Pod) => metadata.name === 'pod-0';
    const rig = await startedAudit({
      wrap: (inner) =>
        Object.create(inner, {
          list: {
            value: (request: ListRequest<Pod>) =>
              inner
                .list(request)
                .pipe(map((part) => ({ ...part, items: part.items.filter((pod) => !hides(pod)) }))),
          },
        }),
      informer: { initialList: 'pages' },
    });
    const listsAfter = async (periods: number) => {
      const before = rig.informer.status.relists;
      await rig.time.advance(periods * PERIOD_MS);
      return rig.informer.status.relists - before;
    };
    await rig.time.advance(3 * PERIOD_MS);
    expect(rig.wrong()).toEqual(['a/pod-0']);
    expect(rig.audit?.error?.message).toMatch(/do not repair 1 objects.*a\/pod-0/);
    await listsAfter(10);
    expect(await listsAfter(40)).toBeLessThanOrEqual(3);
    rig.lose('modify', 'pod-2');
    rig.create('later');
    expect(await listsAfter(1)).toBeGreaterThanOrEqual(1);
    expect(rig.wrong()).toEqual(['a/pod-0']);
  });

  it('I91: keeps no deletions of other scopes while the watch of its own is down', async () => {
    const kept = vi.spyOn(PendingDeletions.prototype, 'add');
    onTestFinished(() => kept.mockRestore());
    const rig = await startedAudit({
      objects: 8,
      scopes: [{ namespace: 'a' }, { namespace: 'b' }],
    });
    await rig.time.advance(5_000);
    for (const name of ['pod-0', 'pod-2', 'pod-4']) {
      rig.server.objects.delete(pods, { namespace: 'a', name });
    }
    await rig.time.advance(1_000);
    expect(kept.mock.calls.map(([key]) => key)).toEqual(['a/pod-0', 'a/pod-2', 'a/pod-4']);
  });

  it('I91: ends the audit of a scope that another one replaces', async () => {
    const scopes$ = new Subject<readonly { namespace: string }[]>();
    const rig = await startedAudit({ scopes: [{ namespace: 'a' }], scopes$ });
    scopes$.next([{ namespace: 'a' }]);
    await rig.time.advance(3 * PERIOD_MS);
    scopes$.next([{ namespace: 'b' }]);
    const atMs = rig.time.now();
    await rig.time.advance(5 * PERIOD_MS);
    const audits = rig.requests.filter((each) => each.what === 'audit' && each.atMs > atMs);
    expect(audits.length).toBeGreaterThanOrEqual(5);
    expect(audits.length).toBeLessThanOrEqual(8);
    expect(rig.audit).toMatchObject({ differed: 0 });
    await rig.end();
    expect(rig.time.pending).toBe(0);
  });

  it('I91: requests and compares nothing while the watch is not live, and continues when it is live again', async () => {
    const rig = await startedAudit({ objects: 1_200 });
    await rig.time.advance(20_000);
    const outage = rig.server.faults.refuse();
    rig.server.faults.dropWatches();
    const before = rig.audits.length;
    await rig.time.advance(10 * PERIOD_MS);
    expect(rig.audits).toHaveLength(before);
    expect(rig.audit?.error).toBeUndefined();
    outage.heal();
    await rig.time.advance(3 * PERIOD_MS);
    expect(rig.audits.length).toBeGreaterThan(before + 3);
    expect(rig.audit).toMatchObject({ differed: 0 });
    await rig.end();
    expect(rig.time.pending).toBe(0);
  });

  it.each([
    ['403', { status: 403, reason: 'Forbidden' }],
    ['500', { status: 500, reason: 'InternalError' }],
    ['406', { status: 406, reason: 'NotAcceptable' }],
    ['another list', { status: 200, body: '{"kind":"PodList","metadata":{},"items":[]}' }],
    ['an empty page', { status: 200, body: '' }],
    ['a page without a version', { status: 200, body: JSON.stringify(withoutVersion) }],
  ])(
    'I91: a failed request (%s) is shown in the status, retried after growing waits, and affects nothing else',
    async (_, answer) => {
      const rig = await startedAudit();
      await rig.time.advance(100_000);
      const phases: string[] = [];
      const watching = rig.informer.status$.subscribe(({ phase }) => phases.push(phase));
      const [at] = rig.audits.slice(-1);
      const failing = rig.server.faults.failNext({ use: 'list' }, { ...answer, times: 1e6 });
      await rig.time.advance(10 * PERIOD_MS);
      const audits = rig.requests.filter(
        ({ what, atMs }) => what === 'audit' && atMs > (at?.atMs ?? 0),
      );
      expect(audits.length).toBeGreaterThan(5);
      expect(audits.length).toBeLessThan(20);
      expect(rig.audit?.error).toBeInstanceOf(ApiError);
      expect(phases).not.toContain('backoff');
      expect(rig.informer.status).toMatchObject({ relists: 0 });
      expect(rig.informer.status.error).toBeUndefined();
      failing.heal();
      await rig.time.advance(2 * PERIOD_MS);
      expect(rig.audit?.error).toBeUndefined();
      watching.unsubscribe();
    },
  );

  it.each(['the watch breaks', 'a list is made'])(
    'I91: sends no request before the Retry-After, also if %s in the meantime',
    async (event) => {
      let requests = 0;
      let fails = true;
      const rig = await startedAudit({
        wrap: (listWatch) => ({
          ...listWatch,
          listMetadata: (request) =>
            defer(() => {
              requests++;
              if (!fails) return listWatch.listMetadata?.(request) ?? EMPTY;
              if (event.startsWith('the watch')) rig.server.faults.dropWatches();
              const init = { retryAfterMs: 90_000 };
              return timer(1, rig.time).pipe(
                mergeMap(() => throwError(() => ApiError.fromStatus({ code: 503 }, 503, init))),
              );
            }),
        }),
      });
      while (requests === 0) await rig.time.advance(100);
      await rig.time.advance(10);
      fails = false;
      if (event.startsWith('a list')) void rig.informer.refresh();
      await rig.time.advance(89_000);
      expect([requests, rig.informer.status.live]).toEqual([1, true]);
      await rig.time.advance(2_000);
      expect(requests).toBeGreaterThan(1);
    },
  );

  it('I91: after a request that succeeded the waits begin with the shortest again', async () => {
    let fails = true;
    const failures: number[] = [];
    const rig = await startedAudit({
      wrap: (listWatch) => ({
        ...listWatch,
        listMetadata: (request) =>
          defer(() => {
            if (!fails) return listWatch.listMetadata?.(request) ?? EMPTY;
            failures.push(rig.time.now());
            return throwError(() => ApiError.fromStatus({ code: 500 }, 500));
          }),
      }),
    });
    const untilFailures = async (count: number) => {
      while (failures.length < count) await rig.time.advance(100);
    };
    await untilFailures(6);
    fails = false;
    while (rig.audit?.lastAt === undefined) await rig.time.advance(100);
    fails = true;
    await untilFailures(8);
    const waits = failures.slice(1).map((atMs, at) => atMs - (failures[at] as number));
    expect(waits[4]).toBeGreaterThan(10_000);
    expect(waits[6]).toBe(waits[0]);
  });

  it.each([
    ['it waits for the next round', 10_000, false],
    ['its request has no answer', 60_000, true],
  ])('I91: ends with its informer while %s', async (_, afterMs, isSilent) => {
    const rig = await startedAudit();
    await rig.time.advance(1_000);
    if (isSilent) rig.server.faults.neverAnswer({ use: 'list' });
    await rig.time.advance(afterMs);
    await rig.informer.stop();
    rig.requests.length = 0;
    expect(rig.time.pending).toBe(0);
    await rig.end();
    expect(rig.requests).toEqual([]);
  });

  it('I91: a request without a response fails after the request timeout', async () => {
    const rig = await startedAudit();
    await rig.time.advance(10_000);
    rig.server.faults.neverAnswer({ use: 'list' });
    await rig.time.advance(2 * PERIOD_MS);
    expect(rig.audit?.error).toMatchObject({ reason: 'Silent' });
    expect(rig.informer.status.phase).toBe('watching');
    await rig.end();
    expect(rig.time.pending).toBe(0);
  });

  it('S28: after an expired token the round continues from the same key at a newer version, without differences', async () => {
    const rig = await startedAudit({ objects: 1_700 });
    const pages = () => rig.audits;
    while (pages().length < 2) await rig.time.advance(100);
    rig.create('meanwhile-0', 'a');
    rig.create('meanwhile-1', 'z');
    await rig.time.advance(10);
    rig.server.objects.compact();
    await rig.time.advance(PERIOD_MS / 2);
    const [, , expired, newer] = pages();
    expect(newer?.query['continue']).not.toBe(expired?.query['continue']);
    expect(atob(newer?.query['continue'] ?? '')).toContain('"rv":-1');
    expect(pages().length).toBe(5);
    expect(rig.audit).toMatchObject({ differed: 0 });
    expect(rig.audit?.lastAt).toBeDefined();
    expect(rig.audit?.compared).toBeGreaterThan(1_700);
  });

  it('S28: a server that answers every token with another token receives no immediate retries', async () => {
    const rig = await startedAudit({ objects: 600 });
    await rig.time.advance(5_000);
    let tokens = 0;
    const expired = () => ({
      kind: 'Status',
      code: 410,
      reason: 'Expired',
      metadata: { continue: `token-${tokens++}` },
    });
    const pages = () => rig.audits;
    while (pages().length < 1) await rig.time.advance(100);
    for (let at = 0; at < 100; at++) {
      rig.server.faults.failNext(
        { use: 'list' },
        { status: 410, body: JSON.stringify(expired()), contentType: 'application/json' },
      );
    }
    const before = pages().length;
    await rig.time.advance(PERIOD_MS);
    expect(pages().length - before).toBeLessThan(20);
    expect(rig.audit?.error).toMatchObject({ code: 410 });
    expect(rig.informer.status.phase).toBe('watching');
  });

  it('S28: a compacted version costs one more request, for the newest version, which is compared once the store has reached it', async () => {
    const rig = await startedAudit();
    await rig.time.advance(5_000);
    // The store learns of these versions only from the next bookmark.
    rig.server.objects.advance(10);
    rig.server.objects.compact();
    rig.lose('modify', 'pod-0');
    await rig.time.advance(40_000);
    const audits = rig.audits;
    expect(audits.map(({ query }) => query['resourceVersionMatch'])).toEqual(['Exact', undefined]);
    expect(rig.audit).toEqual(unaudited);
    await rig.time.advance(BOOKMARK_MS / 2);
    expect(rig.audit).toMatchObject({ compared: 3, differed: 1 });
    expect(rig.wrong()).toEqual([]);
  });

  it('I90: a server that was restored to a version before that of the store is listed again', async () => {
    const rig = await startedAudit();
    await rig.time.advance(5_000);
    const backup = rig.server.objects.snapshot();
    rig.create('lost');
    rig.server.objects.modify(pods, { namespace: 'a', name: 'pod-0' }, (draft) => {
      (draft as { status?: object }).status = { phase: 'Running' };
    });
    await rig.time.advance(1_000);
    // After the restore the same versions are used for other objects.
    rig.server.objects.restoreSnapshot(backup);
    rig.create('other');
    rig.create('another');
    rig.create('third');
    await rig.time.advance(2 * PERIOD_MS);
    expect(rig.wrong()).toEqual([]);
  });

  it('S27: different content under the same UID and version is not detected, but repaired if another object differs', async () => {
    const rig = await startedAudit();
    await rig.time.advance(5_000);
    const phaseOf = (pod: object | undefined) =>
      (pod as { status?: { phase?: string } }).status?.phase;
    const write = (phase: string) =>
      rig.server.objects.modify(pods, { namespace: 'a', name: 'pod-0' }, (draft) => {
        (draft as { status?: object }).status = { phase };
      });
    const backup = rig.server.objects.snapshot();
    write('Running');
    await rig.time.advance(1_000);
    rig.server.objects.restoreSnapshot(backup);
    write('Failed');
    expect(rig.wrong()).toEqual([]);
    await rig.time.advance(3 * PERIOD_MS);
    expect(rig.audit).toMatchObject({ differed: 0 });
    expect(phaseOf(rig.informer.indexer.getByKey('a/pod-0'))).toBe('Running');
    rig.lose('create', 'other');
    rig.create('later');
    await rig.time.advance(PERIOD_MS);
    expect(rig.audit).toMatchObject({ differed: 1 });
    expect(phaseOf(rig.informer.indexer.getByKey('a/pod-0'))).toBe('Failed');
  });

  it('S27: an object that is created and deleted while the queue folds its changes is not a difference', async () => {
    const open = new BehaviorSubject(true);
    const rig = await startedAudit({
      informer: {
        compression: compressions.latest,
        demand: () => (open.value ? null : open.pipe(filter(Boolean), take(1))),
      },
    });
    await rig.time.advance(5_000);
    open.next(false);
    rig.create('brief');
    rig.create('lasting');
    rig.server.objects.delete(pods, { namespace: 'a', name: 'brief' });
    await rig.time.advance(1_000);
    open.next(true);
    // The store has reached the version of 'lasting', at which 'brief' existed.
    await rig.time.advance(50_000);
    expect(rig.audit).toMatchObject({ compared: 5, differed: 0 });
  });

  it('S27: an object that is recreated while the queue folds its changes is not a difference', async () => {
    const open = new BehaviorSubject(true);
    const rig = await startedAudit({
      informer: {
        compression: compressions.latest,
        demand: () => (open.value ? null : open.pipe(filter(Boolean), take(1))),
      },
    });
    const key = { namespace: 'a', name: 'pod-2' };
    const touch = (phase: string) =>
      rig.server.objects.modify(pods, { namespace: 'a', name: 'pod-0' }, (draft) => {
        (draft as { status?: object }).status = { phase };
      });
    const audits = () => rig.audits.length;
    while (audits() === 0) await rig.time.advance(100);
    open.next(false);
    touch('Pending');
    rig.server.objects.delete(pods, key);
    rig.create(key.name);
    touch('Running');
    await rig.time.advance(1_000);
    // The next page shows these changes, and waits until the store has them.
    rig.server.objects.compact();
    await rig.time.advance(BETWEEN_MS);
    expect(audits()).toBe(3);
    open.next(true);
    await rig.time.advance(10);
    expect(rig.audit).toMatchObject({ compared: 6, differed: 0 });
  });

  it('I92: status.audit is unsupported if a ListerWatcher cannot list metadata, and absent without the option', async () => {
    const polled = await auditRig({ wrap: (listWatch) => createPollingListWatch(listWatch) });
    expect(polled.informer.status.audit).toBe('unsupported');
    const off = await startedAudit({ informer: { audit: undefined } as object });
    expect(off.informer.status.audit).toBeUndefined();
    await off.time.advance(10 * PERIOD_MS);
    expect(off.audits).toEqual([]);
  });

  it('I92: before the first comparison, status$ emits the same transitions as without an audit', async () => {
    const transitions: string[][] = [];
    for (const options of [{}, { informer: { audit: undefined } }]) {
      const rig = await auditRig(options);
      const seen: string[] = [];
      rig.informer.status$.subscribe(({ phase, generation }) =>
        seen.push(`${phase} ${generation}`),
      );
      for (let run = 0; run < 2; run++) {
        rig.informer.start();
        await rig.time.advance(10_000);
        await rig.informer.stop();
      }
      transitions.push(seen);
      await rig.end();
    }
    const [audited, plain] = transitions;
    expect(plain).toContain('watching 2');
    expect(audited).toEqual(plain);
  });

  it('I92: each comparison is one emission of status$, and the metrics count its objects', async () => {
    const rig = await auditRig();
    const audits: InformerStatus['audit'][] = [];
    rig.informer.status$.subscribe(({ audit }) => {
      if (audits.at(-1) !== audit) audits.push(audit);
    });
    expect(audits).toEqual([unaudited]);
    rig.informer.start();
    await rig.time.advance(3 * BETWEEN_MS);
    const times = audits.slice(1).map((audit) => (typeof audit === 'object' ? audit.lastAt : 0));
    expect(times).toHaveLength(3);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBe(BETWEEN_MS);
    let figures: object = {};
    metricsOf(rig.informer)
      .metrics$.subscribe((metrics) => (figures = metrics))
      .unsubscribe();
    expect(figures).toMatchObject({ auditCompared: 9, auditDiffered: 0 });
    await rig.end();
  });

  it('I93: a period that is not a number or is shorter than a minute is refused', async () => {
    for (const periodMs of [Number.NaN, -1, 0, 59_999, '60000', undefined]) {
      expect(() => audit({ periodMs } as { periodMs: number })).toThrow(
        /audit: periodMs is .*; it must be 60000 or more milliseconds/,
      );
    }
    const never = await startedAudit({
      informer: { audit: audit({ periodMs: Number.POSITIVE_INFINITY }) },
    });
    await never.time.advance(100 * PERIOD_MS);
    expect(never.audits).toEqual([]);
  });
});
