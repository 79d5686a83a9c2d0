/** Which request of an audit follows a failure, which version and which keys an audit names, and audits whose server or watch changes. */
import {
  ApiError,
  type AuditStatus,
  createIndexer,
  type ListPart,
  type ListRequest,
  type PartialObjectMetadata,
} from 'rx-informer';
import { BehaviorSubject, concat, defer, EMPTY, NEVER, of, throwError, timer } from 'rxjs';
import { filter, ignoreElements, mergeMap, take } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { Auditor } from '../../lib/audit/audit.ts';
import { compressions } from '../delta/compressions.ts';
import { type Pod, pods } from '../faults/history.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import { type AuditRig, auditOf, auditRig, BETWEEN_MS, PERIOD_MS, startedAudit } from './rig.ts';

const matchesOf = (rig: AuditRig) => rig.audits.map(({ query }) => query['resourceVersionMatch']);

describe('the requests of an audit', () => {
  it.each([401, 403, 404, 405, 406])(
    'S28: the newest version is not requested if the server denies the request (%d)',
    async (status) => {
      const rig = await startedAudit();
      await rig.time.advance(5_000);
      rig.server.faults.failNext({ use: 'list' }, { status, times: 1e6 });
      await rig.time.advance(5 * PERIOD_MS);
      expect(rig.audit?.error).toMatchObject({ code: status });
      expect(matchesOf(rig).length).toBeGreaterThan(3);
      expect(new Set(matchesOf(rig))).toEqual(new Set(['Exact']));
    },
  );

  it.each(['a network error', 'a page of a proxy'])(
    'S28: the newest version is not requested after %s, which says nothing about versions',
    async (failure) => {
      const rig = await startedAudit();
      await rig.time.advance(5_000);
      if (failure === 'a network error') rig.server.faults.refuse({ use: 'list' });
      else rig.server.faults.failNext({ use: 'list' }, { status: 200, body: '<html>', times: 1e6 });
      await rig.time.advance(5 * PERIOD_MS);
      expect(rig.audit?.error).toBeInstanceOf(ApiError);
      expect(matchesOf(rig).length).toBeGreaterThan(3);
      expect(new Set(matchesOf(rig))).toEqual(new Set(['Exact']));
    },
  );

  it('I91: the newest version is requested instead, but not before the Retry-After', async () => {
    const rig = await startedAudit();
    await rig.time.advance(5_000);
    rig.server.faults.failNext({ use: 'list' }, { status: 400, retryAfterSeconds: 20 });
    while (rig.audits.length === 0) await rig.time.advance(100);
    await rig.time.advance(19_000);
    expect(matchesOf(rig)).toEqual(['Exact']);
    await rig.time.advance(1_000);
    expect(matchesOf(rig)).toEqual(['Exact', undefined]);
  });

  it('S28: name the newest version of the store, also if a commit contains its versions in another order', async () => {
    const open = new BehaviorSubject(true);
    const rig = await startedAudit({
      informer: {
        compression: compressions.latest,
        demand: () => (open.value ? null : open.pipe(filter(Boolean), take(1))),
      },
    });
    const touch = (name: string, phase: string) =>
      rig.server.objects.modify(pods, { namespace: 'a', name }, (draft) => {
        (draft as { status?: object }).status = { phase };
      });
    await rig.time.advance(5_000);
    open.next(false);
    touch('pod-0', 'Pending');
    touch('pod-2', 'Pending');
    // Folded with the first change of pod-0, so that it is committed before that of pod-2.
    touch('pod-0', 'Running');
    await rig.time.advance(10);
    open.next(true);
    // Before the first bookmark, which would say the version, too.
    while (rig.audits.length === 0) await rig.time.advance(100);
    const newest = rig.informer.indexer.getByKey('a/pod-0')?.metadata.resourceVersion;
    expect(rig.audits[0]?.query['resourceVersion']).toBe(newest);
  });

  it('I91: a request that fails together with the watch is repeated when the watch is live again, without an error', async () => {
    const errors: unknown[] = [];
    let requests = 0;
    const rig = await auditRig({
      wrap: (listWatch) => ({
        ...listWatch,
        listMetadata: (request) =>
          defer(() => {
            requests++;
            if (requests > 1) return listWatch.listMetadata?.(request) ?? EMPTY;
            const outage = rig.server.faults.refuse();
            rig.server.faults.dropWatches();
            timer(12_000, rig.time).subscribe(() => outage.heal());
            const error = () => ApiError.local('Network', 'the connection was reset');
            return timer(10, rig.time).pipe(mergeMap(() => throwError(error)));
          }),
      }),
    });
    rig.informer.status$.subscribe((status) => errors.push(auditOf(status)?.error));
    rig.informer.start();
    while (requests === 0) await rig.time.advance(100);
    await rig.time.advance(10_000);
    expect([rig.informer.status.live, requests]).toEqual([false, 1]);
    while (!rig.informer.status.live) await rig.time.advance(100);
    await rig.time.advance(1_000);
    expect(requests).toBe(2);
    expect(rig.audit).toMatchObject({ compared: 3, differed: 0 });
    expect(new Set(errors)).toEqual(new Set([undefined]));
    await rig.end();
  });

  it('I91: the time in which a request waits for its turn is no silence of the server, and the time after it is', async () => {
    const QUEUED_MS = 10 * PERIOD_MS;
    let sentMs = Number.POSITIVE_INFINITY;
    const rig = await auditRig({
      wrap: (listWatch) => ({
        ...listWatch,
        listMetadata: ({ onTurn }) => {
          onTurn?.('queued');
          const turn = timer(QUEUED_MS, rig.time).pipe(ignoreElements());
          const sending = defer(() => {
            sentMs = rig.time.now();
            onTurn?.('sending');
            return NEVER;
          });
          return concat(turn, sending);
        },
      }),
    });
    rig.informer.start();
    while (sentMs > rig.time.now()) {
      expect(rig.audit?.error).toBeUndefined();
      await rig.time.advance(1_000);
    }
    await rig.time.advance(2 * PERIOD_MS);
    expect(rig.audit?.error).toMatchObject({ reason: 'Silent' });
    await rig.end();
    expect(rig.time.pending).toBe(0);
  });

  it('I90: an object that is created again after a list has shown its deletion is missed', async () => {
    const rig = await startedAudit();
    await rig.time.advance(5_000);
    rig.lose('delete', 'pod-0');
    void rig.informer.refresh();
    await rig.time.advance(5_000);
    expect(rig.wrong()).toEqual([]);
    rig.lose('create', 'pod-0');
    rig.create('later');
    await rig.time.advance(PERIOD_MS);
    expect(rig.audit).toMatchObject({ differed: 1, differedKeys: ['a/pod-0'] });
    expect(rig.wrong()).toEqual([]);
  });

  it('I92: status.audit.differedKeys names ten of the keys that differed', async () => {
    const rig = await startedAudit({ objects: 40 });
    while (rig.audits.length === 0) await rig.time.advance(100);
    for (let at = 0; at < 24; at += 2) rig.lose('modify', `pod-${at}`);
    rig.create('later');
    await rig.time.advance(BETWEEN_MS);
    expect(rig.audit?.differed).toBe(12);
    expect(rig.audit?.differedKeys).toHaveLength(10);
  });
});

function rig(page: ListPart<PartialObjectMetadata>) {
  const scheduler = new VirtualTime();
  const statuses: AuditStatus[] = [];
  const requests: ListRequest<PartialObjectMetadata>[] = [];
  const auditor = new Auditor<Pod>({
    listMetadata: (request) => {
      requests.push(request);
      return of(page) as never;
    },
    scope: undefined,
    store: createIndexer<Pod>() as never,
    periodMs: 60_000,
    requestTimeoutMs: 30_000,
    timing: { scheduler, random: () => 0 } as never,
    repair: () => undefined,
    publish: (status) => statuses.push(status),
  });
  auditor.live(true);
  const listed = (resourceVersion: string) =>
    auditor.committed([{ type: 'replaced', objects: [], resourceVersion, trustVersions: false }]);
  return { scheduler, auditor, statuses, listed, requests };
}

const metadata = (resourceVersion: string) => ({
  namespace: 'a',
  name: 'x',
  uid: 'u',
  resourceVersion,
});

const item = {
  apiVersion: 'meta.k8s.io/v1',
  kind: 'PartialObjectMetadata',
  metadata: metadata('3'),
} as PartialObjectMetadata;

const deletionAt = (resourceVersion: string) =>
  ({
    type: 'deleted',
    key: 'a/x',
    object: { metadata: metadata(resourceVersion) } as Pod,
    finalStateUnknown: false,
  }) as const;

describe('an audit', () => {
  it('S27: deletions of an earlier history of the server hide no difference', async () => {
    const all = rig({ items: [item], metadata: { resourceVersion: '5' } });
    all.listed('20');
    all.auditor.received([deletionAt('30')]);
    // The server was restored before the deletion was committed.
    all.listed('5');
    await all.scheduler.advance(120_000);
    expect(all.statuses[0]).toMatchObject({ differed: 1, differedKeys: ['a/x'] });
    all.auditor.stop();
  });

  it('S27: nor do deletions that the store has reached, if the server has other versions by the next list', async () => {
    const all = rig({ items: [item], metadata: { resourceVersion: '40' } });
    all.listed('20');
    all.auditor.received([deletionAt('30')]);
    all.auditor.committed([deletionAt('30')]);
    // The server was restored, and has reached later versions since.
    all.listed('40');
    await all.scheduler.advance(120_000);
    expect(all.statuses[0]).toMatchObject({ differed: 1, differedKeys: ['a/x'] });
    all.auditor.stop();
  });

  it('S28: a state without a version leaves the version of the store', async () => {
    const all = rig({ items: [], metadata: { resourceVersion: '10' } });
    all.listed('10');
    all.auditor.committed([{ type: 'added', object: { metadata: metadata('') }, key: 'a/x' }]);
    await all.scheduler.advance(60_000);
    expect(all.requests[0]).toMatchObject({ resourceVersion: '10', resourceVersionMatch: 'Exact' });
    all.auditor.stop();
  });

  it('I91: a page that waits for the store is requested again after a lost watch', async () => {
    const all = rig({ items: [], metadata: { resourceVersion: '20' } });
    all.listed('10');
    while (all.requests.length === 0) await all.scheduler.advance(1_000);
    all.auditor.live(false);
    all.auditor.live(true);
    all.scheduler.elapse(0);
    expect(all.requests.length).toBe(2);
    expect(all.statuses).toEqual([]);
    all.auditor.stop();
    expect(all.scheduler.pending).toBe(0);
  });
});
