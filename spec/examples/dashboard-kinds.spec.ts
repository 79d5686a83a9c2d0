/** Tests the kinds of the dashboard: their states in words, and the joins of nodes, events and the tree. */
import { type ChangeSet, liveMap, type Stored, toView, type View } from 'rx-informer';
import { changeSet } from 'rx-informer/testing';
import { Subject } from 'rxjs';
import { afterEach, describe, expect, test } from 'vitest';
import { autoscalerKind, targetsOf } from '../../examples/dashboard/page/kinds/autoscalers.ts';
import { claimKind, withEvents } from '../../examples/dashboard/page/kinds/claims.ts';
import { configMapKind } from '../../examples/dashboard/page/kinds/config-maps.ts';
import { withJobs } from '../../examples/dashboard/page/kinds/cron-jobs.ts';
import { eventKind } from '../../examples/dashboard/page/kinds/events.ts';
import { kindGroups } from '../../examples/dashboard/page/kinds/index.ts';
import { withServices } from '../../examples/dashboard/page/kinds/ingresses.ts';
import type { Kind, Row, Tone } from '../../examples/dashboard/page/kinds/kind.ts';
import { nodeKind } from '../../examples/dashboard/page/kinds/nodes.ts';
import { orderOf } from '../../examples/dashboard/page/kinds/order.ts';
import { rolledUp } from '../../examples/dashboard/page/kinds/roll-up.ts';
import { expanded$, toggle, treeKind } from '../../examples/dashboard/page/kinds/tree.ts';
import {
  deploymentKind,
  replicaSetKind,
  workloadState,
} from '../../examples/dashboard/page/kinds/workloads.ts';
import { shownKinds } from '../../examples/dashboard/shared/kinds.ts';

afterEach(() => expanded$.next(new Set()));

interface Given {
  readonly metadata: { readonly uid: string; readonly name: string };
}

/** A cluster whose objects the test changes, by their plural. */
function open(kind: Kind) {
  const changes = new Map<string, Subject<ChangeSet<Given>>>();
  const changesOf = (plural: string) => {
    const known = changes.get(plural) ?? new Subject<ChangeSet<Given>>();
    changes.set(plural, known);
    return known;
  };
  const rows = ({ resource, row }: Kind) =>
    changesOf(resource.plural).pipe(liveMap((object: Stored<Given>) => row(object as never)));
  const joined$ = kind.join?.(rows(kind) as never, rows as never) ?? (rows(kind) as never);
  const view = toView(kind.show?.(joined$) ?? joined$);
  const leave = view.subscribe(() => undefined);
  return { view: view as View<Row>, changesOf, leave };
}

const owned = (uid: string, by: string) => ({
  uid,
  name: uid,
  namespace: 'shop',
  ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Owner', name: by, uid: by, controller: true }],
});

const pod = (uid: string, by: string, waiting?: string) => {
  const state = waiting === undefined ? { running: {} } : { waiting: { reason: waiting } };
  const status = { name: 'c', image: '', imageID: '', ready: waiting === undefined, state };
  return {
    metadata: owned(uid, by),
    spec: { nodeName: 'n1', containers: [{ name: 'c' }] },
    status: { phase: 'Running', containerStatuses: [{ ...status, restartCount: 2 }] },
  };
};

test.each([
  [
    'the new template is not observed everywhere',
    { updated: 2 },
    '2 of 3 Pods are of the new version',
  ],
  ['old pods remain', { updated: 3, existing: 4 }, 'old Pods to stop: 1'],
])('a rollout is not complete while %s', (_, counts, why) => {
  const state = workloadState({ desired: 3, ready: 3, ...counts });
  expect(state).toEqual({ status: 'Rolling out', tone: 'busy', why });
});

test('a Deployment with one pod more than desired is ready with all of them', () => {
  const row = deploymentKind.row({
    spec: { replicas: 14 },
    status: { replicas: 15, readyReplicas: 15, updatedReplicas: 14 },
  } as never);
  expect([row.status, row['ready']]).toEqual(['Rolling out', '14/14']);
});

describe('the worst reason of the pods', () => {
  const state = (uid: string, status: string, tone: Tone, why = '', phase = 'Running') =>
    ({ uid, status, tone, why, phase }) as unknown as Row;
  const pulling = 'Back-off pulling image "x:2"';
  const pods = [
    state('a', 'Running', 'good'),
    state('b', 'Error', 'bad', 'last exit code 1'),
    state('c', 'ImagePullBackOff', 'bad', pulling),
    state('d', 'ImagePullBackOff', 'bad', pulling),
  ];
  const said = ({ status, tone, why }: Row) => [status, tone, why];
  const reason = `2 of 4 Pods: ImagePullBackOff — ${pulling}`;

  test('is that of their owner', () => {
    const notReady = state('s', 'Not ready', 'busy', '3 of 4 Pods not ready');
    expect(said(rolledUp(notReady, pods))).toEqual(['ImagePullBackOff', 'bad', reason]);
    const stalled = state('s', 'Stalled', 'bad', 'has timed out progressing.');
    expect(said(rolledUp(stalled, pods))).toEqual(['Stalled', 'bad', reason]);
    const failed = state('s', 'FailedCreate', 'bad', 'exceeded quota');
    expect(said(rolledUp(failed, pods))).toEqual([
      'FailedCreate',
      'bad',
      `exceeded quota; ${reason}`,
    ]);
  });

  test('does not make an owner bad that is complete or has replaced them', () => {
    const done = state('j', 'Complete', 'done');
    expect(rolledUp(done, pods)).toBe(done);
    const ready = state('s', 'Ready', 'good');
    expect(rolledUp(ready, [state('e', 'Evicted', 'bad', '', 'Failed')])).toBe(ready);
  });

  test('says "Not ready" for pods that run and are restarted again and again', () => {
    const restarted = state('r', 'Not ready', 'bad', 'restarted 6 times');
    const why = '1 of 1 Pod: Not ready — restarted 6 times';
    expect(said(rolledUp(state('s', 'Not ready', 'busy'), [restarted]))).toEqual([
      ...['Not ready', 'bad', why],
    ]);
  });

  test('is in the rows of ReplicaSets and Deployments', () => {
    for (const [kind, plural] of [
      [replicaSetKind, 'replicasets'],
      [deploymentKind, 'deployments'],
    ] as const) {
      const { view, changesOf, leave } = open(kind);
      const meta = { uid: 'd', name: 'web', namespace: 'shop' };
      changesOf('deployments').next(changeSet({ added: [{ metadata: meta }] }));
      changesOf('replicasets').next(changeSet({ added: [{ metadata: owned('s', 'd') }] }));
      changesOf('pods').next(changeSet({ added: [pod('p', 's', 'ErrImagePull')] }));
      expect(view.getSnapshot().rows, plural).toMatchObject([
        {
          status: 'ErrImagePull',
          tone: 'bad',
          why: '1 of 1 Pod: ErrImagePull — restarted 2 times',
        },
      ]);
      leave();
    }
  });
});

test('the reason of a workload counts all of its Pods, and goes with the last one in trouble', () => {
  const { view, changesOf, leave } = open(deploymentKind);
  const meta = { uid: 'd', name: 'web', namespace: 'shop' };
  changesOf('deployments').next(changeSet({ added: [{ metadata: meta }] }));
  changesOf('replicasets').next(
    changeSet({ added: ['s', 't'].map((uid) => ({ metadata: owned(uid, 'd') })) }),
  );
  const pods = [pod('p', 's', 'ErrImagePull'), pod('q', 's'), pod('r', 't', 'ErrImagePull')];
  changesOf('pods').next(changeSet({ added: [...pods, pod('other', 'elsewhere', 'Error')] }));
  const why = () => String(view.getSnapshot().rows[0]?.why).split(' — ')[0];
  expect(why()).toBe('2 of 3 Pods: ErrImagePull');
  const [failing, , other] = pods as [(typeof pods)[0], unknown, (typeof pods)[0]];
  changesOf('pods').next(changeSet({ updated: [{ previous: failing, object: pod('p', 's') }] }));
  expect(why()).toBe('1 of 3 Pods: ErrImagePull');
  changesOf('pods').next(changeSet({ added: [pod('u', 't')] }));
  expect(why()).toBe('1 of 4 Pods: ErrImagePull');
  changesOf('pods').next(changeSet({ deleted: [other] }));
  expect(why()).not.toContain('ErrImagePull');
  leave();
});

describe('the tree', () => {
  const deployment = {
    metadata: { uid: 'd', name: 'web', namespace: 'shop' },
    spec: { replicas: 2 },
    status: { readyReplicas: 2, updatedReplicas: 2 },
  };
  const set = { metadata: owned('s', 'd'), spec: { replicas: 2 }, status: { readyReplicas: 2 } };

  function openTree() {
    const opened = open(treeKind);
    opened.changesOf('deployments').next(changeSet({ added: [deployment] }));
    opened.changesOf('replicasets').next(changeSet({ added: [set] }));
    const pods = [pod('p1', 's'), pod('p2', 's')];
    opened.changesOf('pods').next(changeSet({ added: pods }));
    const order = orderOf(treeKind.sort, treeKind.columns);
    const shown = () =>
      opened.view
        .getSnapshot()
        .rows.toSorted(order)
        .map(({ name, status, depth }) => `${' '.repeat(Number(depth))}${name}: ${status}`);
    return { ...opened, shown, first: pods[0] as ReturnType<typeof pod> };
  }

  test('rolls the health of the pods up, and shows children on demand', () => {
    const { shown, changesOf, first, leave } = openTree();
    expect(shown()).toEqual(['web: Ready']);
    const crashed = pod('p1', 's', 'CrashLoopBackOff');
    changesOf('pods').next(changeSet({ updated: [{ previous: first, object: crashed }] }));
    expect(shown()).toEqual(['web: CrashLoopBackOff']);
    toggle('d');
    toggle('s');
    expect(shown()).toEqual([
      'web: CrashLoopBackOff',
      ' s: CrashLoopBackOff',
      '  p1: CrashLoopBackOff',
      '  p2: Running',
    ]);
    toggle('d', false);
    expect(shown()).toEqual(['web: CrashLoopBackOff']);
    leave();
  });

  test('finds a pod in a closed branch, and replaces only the rows of the changed branch', () => {
    const { view, changesOf, first, leave } = openTree();
    const other = { ...deployment, metadata: { ...deployment.metadata, uid: 'e', name: 'other' } };
    changesOf('deployments').next(changeSet({ added: [other] }));
    const before = view.select('e/e').getSnapshot();
    expect(view.select('d/d').getSnapshot()?.text).toContain('p2');
    changesOf('pods').next(
      changeSet({ updated: [{ previous: first, object: pod('p1', 's', 'Error') }] }),
    );
    expect(view.select('d/d').getSnapshot()?.tone).toBe('bad');
    expect(view.select('e/e').getSnapshot()).toBe(before);
    leave();
  });
});

test('a node has the number of its pods and what they request', () => {
  const { view, changesOf, leave } = open(nodeKind);
  const metadata = { uid: 'n', name: 'n1' };
  const status = {
    allocatable: { cpu: '4', memory: '8Gi' },
    conditions: [{ type: 'Ready', status: 'True' }],
  };
  changesOf('nodes').next(changeSet({ added: [{ metadata, status }] }));
  // Before the list of pods, and without the right to read it, no number is known.
  const unknown = { name: 'n1', status: 'Ready', pods: '', cpu: '', memory: '' };
  expect(view.getSnapshot().rows).toMatchObject([unknown]);
  changesOf('pods').next(changeSet({ synced: false }));
  expect(view.getSnapshot().rows).toMatchObject([unknown]);
  const requests = { cpu: '1500m', memory: '2Gi' };
  const asking = {
    ...pod('p', 's'),
    spec: { nodeName: 'n1', containers: [{ name: 'c', resources: { requests } }] },
  };
  const ended = { ...asking, metadata: owned('q', 's'), status: { phase: 'Succeeded' } };
  changesOf('pods').next(changeSet({ added: [asking, ended] }));
  expect(view.getSnapshot().rows).toMatchObject([
    {
      name: 'n1',
      status: 'Ready',
      pods: 1,
      cpu: 0.375,
      cpuText: '1.5 of 4 CPU',
      memoryText: '2 of 8 GiB',
    },
  ]);
  leave();
});

test('an event says in which state its ReplicaSet is now', () => {
  const { view, changesOf, leave } = open(eventKind);
  const metadata = { uid: 'e', name: 'e', namespace: 'shop' };
  const about = { involvedObject: { kind: 'ReplicaSet', name: 's', uid: 's' }, type: 'Warning' };
  changesOf('events').next(changeSet({ added: [{ metadata, ...about }] }));
  const status = {
    conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' }],
  };
  changesOf('replicasets').next(changeSet({ added: [{ metadata: owned('s', 'd'), status }] }));
  expect(view.getSnapshot().rows.map((row) => row['objectNow'])).toEqual(['FailedCreate']);
  leave();
});

test('an event says in which state its pod is now, and when the pod is gone', () => {
  const { view, changesOf, leave } = open(eventKind);
  const metadata = { uid: 'e', name: 'e', namespace: 'shop' };
  const about = {
    involvedObject: { kind: 'Pod', name: 'p', uid: 'p' },
    reason: 'BackOff',
    type: 'Warning',
  };
  changesOf('events').next(changeSet({ added: [{ metadata, ...about }] }));
  const now = () => view.getSnapshot().rows.map((row) => row['objectNow']);
  const gone = pod('p', 's');
  changesOf('pods').next(changeSet({ added: [gone] }));
  expect(now()).toEqual(['Running']);
  changesOf('pods').next(changeSet({ deleted: [gone] }));
  // A list that may not be read says nothing about what exists.
  expect(now()).toEqual(['']);
  for (const plural of ['replicasets', 'deployments']) changesOf(plural).next(changeSet({}));
  expect(now()).toEqual(['deleted']);
  const { uid: _, ...named } = about.involvedObject;
  const nameless = { ...about, metadata: { ...metadata, uid: 'f' }, involvedObject: named };
  changesOf('events').next(changeSet({ added: [nameless] }));
  expect(now()).toEqual(['deleted', '']);
  leave();
});

test('the state of a workload is that of its conditions before that of its replicas', () => {
  const failed = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' };
  const stalled = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' };
  const unavailable = { type: 'Available', status: 'False', reason: 'MinimumReplicasUnavailable' };
  const state = (replicas: Parameters<typeof workloadState>[0]) => workloadState(replicas).status;
  expect(workloadState({ desired: 3, ready: 0, conditions: [unavailable] })).toEqual({
    status: 'Unavailable',
    tone: 'bad',
    why: '3 of 3 Pods not ready',
  });
  expect(state({ desired: 0, ready: 0, conditions: [unavailable] })).toBe('Scaled to zero');
  expect(state({ desired: 3, ready: 3 })).toBe('Ready');
  expect(state({ desired: 3, ready: 2 })).toBe('Not ready');
  expect(state({ desired: 3, ready: 3, updated: 1 })).toBe('Rolling out');
  expect(state({ desired: 3, ready: 3, updated: 1, paused: true })).toBe('Paused');
  expect(state({ desired: 0, ready: 0 })).toBe('Scaled to zero');
  expect(state({ desired: 3, ready: 1, conditions: [failed] })).toBe('FailedCreate');
  expect(state({ desired: 3, ready: 1, updated: 1, conditions: [stalled] })).toBe('Stalled');
});

test('the page lists only the metadata of the kinds whose lists have nothing else', () => {
  const forwarded = new Map(
    shownKinds.map(({ plural, listsMetadataOnly = false }) => [plural, listsMetadataOnly]),
  );
  const kinds = kindGroups.flatMap((group) => group.kinds);
  for (const { id, resource, as } of kinds) {
    expect([id, as === 'metadata']).toEqual([id, forwarded.get(resource.plural)]);
  }
  expect(kinds.map(({ resource }) => resource.plural)).toContain('configmaps');
  expect(forwarded.has('secrets')).toBe(false);
});

test('a config map shows its labels, and is found by them', () => {
  const row = configMapKind.row({
    apiVersion: 'meta.k8s.io/v1',
    kind: 'PartialObjectMetadata',
    metadata: { ...owned('settings', 'web'), labels: { app: 'web', tier: 'front' } },
  } as never);
  expect(row).toMatchObject({
    name: 'settings',
    labels: 'app=web, tier=front',
    owner: 'Owner/web',
  });
  expect(row.text).toContain('tier=front');
});

describe('what is beside workloads', () => {
  const row = (fields: Partial<Row>) => ({ status: '', tone: 'good', why: '', ...fields }) as Row;

  test('a claim waits for what the newest of its Events says, and is in trouble if that is a warning', () => {
    const claim = claimKind.row({
      ...{ metadata: { name: 'data', uid: 'c' }, spec: { storageClassName: 'ssd' } },
      status: { phase: 'Pending' },
    } as never);
    expect(claim).toMatchObject({
      ...{ status: 'Pending', tone: 'busy' },
      why: 'waits for a volume of the storage class ssd',
    });
    const early = row({ seenMs: 1, tone: 'done', message: 'waiting for first consumer' });
    const late = row({ seenMs: 2, tone: 'bad', message: 'class "ssd" not found' });
    expect(withEvents(claim, [early])).toMatchObject({ tone: 'busy', why: early['message'] });
    const inTrouble = { status: 'Not bound', tone: 'bad', why: late['message'] };
    for (const told of [
      [early, late],
      [late, early],
    ]) {
      expect(withEvents(claim, told)).toMatchObject(inTrouble);
    }
    const bound = row({ status: 'Bound' });
    expect(withEvents(bound, [late])).toBe(bound);
  });

  test('a CronJob fails with the last of its Jobs that has ended', () => {
    const cronJob = row({ status: 'Scheduled' });
    const well = row({ name: 'a', createdMs: 1, tone: 'done' });
    const failed = row({ name: 'b', createdMs: 2, tone: 'bad', why: 'too many retries' });
    const runs = row({ name: 'c', createdMs: 3, tone: 'busy' });
    expect(withJobs(cronJob, [failed, runs, well])).toMatchObject({
      ...{ status: 'Failing', tone: 'bad' },
      why: 'the last Job b failed: too many retries',
    });
    expect(withJobs(cronJob, [{ ...well, createdMs: 4 }, failed])).toBe(cronJob);
  });

  test('an Ingress misses a Service only if all of them are known', () => {
    const ingress = row({ services: 'web, api' });
    const services = [row({ name: 'web' })];
    expect(withServices(false)(ingress, services)).toBe(ingress);
    expect(withServices(true)(ingress, services)).toMatchObject({
      ...{ status: 'No Service', tone: 'bad', why: 'no such Service: api' },
    });
  });

  test('an autoscaler that cannot measure says why, and one without metrics of its own is disabled', () => {
    const stateOf = (...conditions: object[]) =>
      autoscalerKind.row({
        metadata: { name: 'web' },
        spec: { maxReplicas: 5, scaleTargetRef: { kind: 'Deployment', name: 'web' } },
        status: { conditions },
      } as never);
    const blind = { type: 'ScalingActive', status: 'False', message: 'no metrics' };
    expect(stateOf(blind)).toMatchObject({
      status: 'Not measured',
      tone: 'bad',
      why: 'no metrics',
    });
    expect(stateOf({ ...blind, reason: 'ScalingDisabled' })).toMatchObject({ tone: 'done' });
    const limited = { type: 'ScalingLimited', status: 'True', reason: 'TooManyReplicas' };
    expect(stateOf(limited)).toMatchObject({ tone: 'busy', why: 'it would run more than 5 Pods' });
    expect(stateOf({ ...limited, reason: 'TooFewReplicas' })).toMatchObject({ status: 'Active' });
  });

  test('a metric of any type is compared with its target', () => {
    const metric = { name: 'queue_length' };
    const spec = {
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 70 } } },
        { type: 'External', external: { metric, target: { averageValue: '30' } } },
      ],
    };
    const external = { metric, current: { averageValue: '12' } };
    const status = { currentMetrics: [{ type: '' }, { type: 'External', external }] };
    expect(targetsOf({ spec, status } as never)).toBe('cpu unknown of 70 %, queue_length 12 of 30');
  });
});
