/**
 * Tests the dashboard's status of a pod against the output of kubectl, which the conformance suite requests from a
 * real kube-apiserver.
 */
import { type ChangeSet, conflateByKey } from 'rx-informer';
import type { Pod } from 'rx-informer/resources';
import { changeSet } from 'rx-informer/testing';
import { Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { noFilter } from '../../examples/dashboard/page/pods/filter.ts';
import { PodQueries } from '../../examples/dashboard/page/pods/pod-queries.ts';
import { podRow } from '../../examples/dashboard/page/pods/pod-row.ts';
import { type PrintedPod, printedPods } from '../support/printed-pods.ts';

function podOf({ init, containers, status, deleted }: PrintedPod): Pod {
  const metadata = { uid: 'u', name: 'p', namespace: 'shop', resourceVersion: '5' };
  return {
    metadata: { ...metadata, ...(deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) },
    spec: { initContainers: init, containers },
    status,
  } as Pod;
}

const named = (what: string) => {
  const found = printedPods.find((each) => each.what === what);
  if (found === undefined) throw new Error(`there is no pod: ${what}`);
  return podRow(podOf(found));
};

describe('a row', () => {
  test.each(printedPods)('shows for $what: $columns', (pod) => {
    const { ready, containers, status, restarts } = podRow(podOf(pod));
    expect([`${ready}/${containers}`, status, restarts]).toEqual(pod.columns);
  });

  test('has the tone of its status', () => {
    expect(named('a pod with a native sidecar').tone).toBe('good');
    expect(named('a pod whose native sidecar is not ready').tone).toBe('busy');
    expect(named('a pod with scheduling gates').tone).toBe('busy');
    expect(named('a pod in its second initialization').tone).toBe('busy');
    expect(named('a pod whose initialization failed').tone).toBe('bad');
    expect(named('a deleted pod').tone).toBe('busy');
    expect(named('a deleted pod on a lost node').tone).toBe('bad');
    expect(named('a completed pod').tone).toBe('done');
  });
});

describe('an adopted pod', () => {
  const pod = (owner: string, resourceVersion: string, controller = true): Pod => ({
    metadata: {
      ...{ uid: 'u', name: 'p', namespace: 'shop', resourceVersion },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner, controller },
      ],
    },
    spec: { containers: [{ name: 'c' }] },
    status: { phase: 'Running' },
  });

  test('shows its new owner, also in sort and filter', () => {
    const changes$ = new Subject<ChangeSet<Pod>>();
    const queries = new PodQueries(changes$.pipe(conflateByKey()));
    const { filter$, sort$, table } = queries;
    sort$.next({ key: 'owner', descending: false });
    const stop = queries.start();
    const before = pod('old', '5');
    const beside: Pod = {
      ...pod('middle', '6'),
      metadata: { ...pod('middle', '6').metadata, uid: 'v', name: 'q' },
    };
    changes$.next(changeSet({ added: [before, beside] }));
    const owners = () => table.getSnapshot().rows.map(({ owner }) => owner);
    expect(owners()).toEqual(['ReplicaSet/middle', 'ReplicaSet/old']);
    filter$.next({ ...noFilter, text: 'alpha' });
    expect(owners()).toEqual([]);
    changes$.next(changeSet({ updated: [{ previous: before, object: pod('alpha', '7') }] }));
    expect(owners()).toEqual(['ReplicaSet/alpha']);
    filter$.next(noFilter);
    expect(owners()).toEqual(['ReplicaSet/alpha', 'ReplicaSet/middle']);
    stop();
  });

  test('has an equal row if no column changes', () => {
    const row = podRow(pod('old', '5'));
    expect(podRow(pod('old', '6'))).toEqual(row);
    for (const other of [pod('new', '6'), { ...pod('old', '6'), status: { phase: 'Failed' } }]) {
      expect(podRow(other)).not.toEqual(row);
    }
  });
});
