/** Audits whose server or watch changes while they wait. */

import type { AuditStatus } from 'rx-informer';
import {
  createIndexer,
  type ListPart,
  type ListRequest,
  type PartialObjectMetadata,
} from 'rx-informer';
import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { Auditor } from '../../lib/audit/audit.ts';
import type { Pod } from '../faults/history.ts';
import { VirtualTime } from '../rx/virtual-time.ts';

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
