/**
 * Tests the dashboard's status of a pod against the output of kubectl, which the conformance suite requests from a
 * real kube-apiserver.
 */
import type { Pod } from 'rx-informer/resources';
import { describe, expect, test } from 'vitest';
import { podRow } from '../../examples/dashboard/page/kinds/pods.ts';
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
  test.each(printedPods)('shows for $what: $columns, but "Not ready"', (pod) => {
    const { ready, status, restarts } = podRow(podOf(pod));
    const [printed, text, count] = pod.columns;
    const [is, of] = printed.split('/');
    const isNotReady = text === 'NotReady' || (text === 'Running' && is !== of);
    expect([ready, status, restarts]).toEqual([printed, isNotReady ? 'Not ready' : text, count]);
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

describe('a pod that kubectl prints like a healthy one', () => {
  const container = { name: 'c', image: '', imageID: '', state: { running: {} } };
  const tone = (status: Pod['status']) =>
    podRow({
      metadata: { uid: 'u' },
      spec: { containers: [{ name: 'c' }] },
      ...(status ? { status } : {}),
    }).tone;

  test('is in trouble if no node has room for it', () => {
    const scheduled = (reason: string) => ({
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', reason }],
    });
    expect(tone(scheduled('Unschedulable'))).toBe('bad');
    expect(tone({ phase: 'Pending' })).toBe('busy');
  });

  test('says what the Pod requests if no node has so much', () => {
    const resources = { requests: { cpu: '20', memory: '2Gi' } };
    const whyFor = (message: string) =>
      podRow({
        metadata: { name: 'p', uid: 'u' },
        spec: { containers: [{ name: 'c', image: 'x', resources }] },
        status: {
          phase: 'Pending',
          conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
        },
      } as Pod).why;
    const tooMuch = '0/3 nodes are available: 3 Insufficient cpu.';
    expect(whyFor(tooMuch)).toBe(`${tooMuch} — the Pod requests 20 CPU, 2 GiB memory`);
    const tainted = '0/3 nodes are available: 3 node(s) had untolerated taint {gpu: }.';
    expect(whyFor(tainted)).toBe(tainted);
  });

  test('is in trouble if it is restarted again and again and is not ready', () => {
    const running = (ready: boolean, restartCount: number) => ({
      phase: 'Running',
      containerStatuses: [{ ...container, ready, restartCount }],
    });
    expect(tone(running(false, 7))).toBe('bad');
    expect(tone(running(false, 1))).toBe('busy');
    expect(tone(running(true, 7))).toBe('good');
  });

  test('says how often it was restarted and how it ended', () => {
    const lastState = { terminated: { exitCode: 143, reason: 'Error' } };
    const row = (restartCount: number) =>
      podRow({
        metadata: { uid: 'u' },
        spec: { containers: [{ name: 'c' }] },
        status: {
          phase: 'Running',
          containerStatuses: [{ ...container, ready: false, restartCount, lastState }],
        },
      });
    // kubectl prints Running.
    expect(row(5)).toMatchObject({
      status: 'Not ready',
      tone: 'bad',
      why: 'restarted 5 times, last exit code 143',
    });
    expect([row(1).status, row(1).why]).toEqual(['Not ready', '']);
  });

  test.each([
    ['an end by itself', { waiting: { reason: 'CrashLoopBackOff' } }, 1, 'shop/p/c/5'],
    ['one that runs again', { running: {} }, 1, 'shop/p/c/5/previous'],
    ['a stop from outside', { running: {} }, 143, ''],
  ])('names the log of a container that fails: %s', (_what, state, exitCode, log) => {
    const lastState = { terminated: { exitCode } };
    const failing = { ...container, ready: false, restartCount: 5, state, lastState };
    const row = podRow({
      metadata: { uid: 'u', namespace: 'shop', name: 'p' },
      spec: { containers: [{ name: 'c' }] },
      status: { phase: 'Running', containerStatuses: [failing] },
    });
    expect([row.tone, row['log']]).toEqual(['bad', log]);
  });

  test('says which probe asks a port that the container does not declare', () => {
    const ports = [{ containerPort: 9090 }];
    const readinessProbe = { httpGet: { path: '/healthz', port: 8080 } };
    const row = podRow({
      metadata: { uid: 'u' },
      spec: { containers: [{ name: 'c', ports, readinessProbe }] },
      status: {
        phase: 'Running',
        containerStatuses: [{ ...container, ready: false, restartCount: 5 }],
      },
    });
    expect(row.why).toBe(
      "port 8080 is not among the container's ports (9090): Readiness probe of c, restarted 5 times",
    );
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

  test('shows its new owner, also in the text of the filter', () => {
    const row = podRow(pod('alpha', '7'));
    expect([row.owner, row.ownerUid]).toEqual(['ReplicaSet/alpha', 'alpha']);
    expect(row.text).toContain('replicaset/alpha');
  });

  test('has an equal row if no column changes', () => {
    const row = podRow(pod('old', '5'));
    expect(podRow(pod('old', '6'))).toEqual(row);
    for (const other of [pod('new', '6'), { ...pod('old', '6'), status: { phase: 'Failed' } }]) {
      expect(podRow(other)).not.toEqual(row);
    }
  });
});
