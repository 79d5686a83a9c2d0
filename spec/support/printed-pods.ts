/**
 * Pods, and how `kubectl get pods` prints them. The conformance suite checks this against a real kube-apiserver,
 * which formats the table for kubectl, and against the fake API server. The dashboard must show the same.
 */

/** A pod and its columns Ready, Status and Restarts. */
export interface PrintedPod {
  readonly what: string;
  readonly init: readonly object[];
  readonly containers: readonly object[];
  readonly status: object;
  readonly deleted: boolean;
  readonly columns: readonly [ready: string, status: string, restarts: number];
}

const image = 'registry.example/image';
const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };
const waiting = (reason: string) => ({ waiting: { reason } });
const terminated = (exitCode: number, rest: object = {}) => ({ terminated: { exitCode, ...rest } });
const of = (name: string, state: object, rest: object = {}) => ({
  ...{ name, image, imageID: '', ready: false, restartCount: 0, state },
  ...rest,
});
const up = (name: string, restartCount = 0) =>
  of(name, running, { ready: true, started: true, restartCount });
const condition = (type: string, status: string, reason?: string) => ({
  ...{ type, status, lastTransitionTime: '2026-01-01T00:00:00Z' },
  ...(reason === undefined ? {} : { reason }),
});
const ready = condition('Ready', 'True');

interface Case {
  readonly init?: readonly string[];
  readonly containers?: readonly string[];
  readonly phase?: string;
  readonly reason?: string;
  readonly conditions?: readonly object[];
  readonly initStatuses?: readonly object[];
  readonly statuses?: readonly object[];
  readonly deleted?: boolean;
}

/** Creates a case. An init container `s!` is a native sidecar. */
function printed(what: string, columns: PrintedPod['columns'], pod: Case): PrintedPod {
  const { init = [], containers = ['c'], phase = 'Running', deleted = false } = pod;
  const { reason, conditions, initStatuses, statuses } = pod;
  return {
    what,
    columns,
    deleted,
    init: init.map((name) => ({
      ...{ name: name.replace('!', ''), image },
      ...(name.endsWith('!') ? { restartPolicy: 'Always' } : {}),
    })),
    containers: containers.map((name) => ({ name, image })),
    status: {
      phase,
      ...(reason === undefined ? {} : { reason }),
      ...(conditions === undefined ? {} : { conditions }),
      ...(initStatuses === undefined ? {} : { initContainerStatuses: initStatuses }),
      ...(statuses === undefined ? {} : { containerStatuses: statuses }),
    },
  };
}

const gated = condition('PodScheduled', 'False', 'SchedulingGated');
const initialized = condition('Initialized', 'True');

/** One case for each branch of kubectl's `printPod`. */
export const printedPods: readonly PrintedPod[] = [
  printed('a pending pod', ['0/1', 'Pending', 0], { phase: 'Pending' }),
  printed('a pod with scheduling gates', ['0/1', 'SchedulingGated', 0], {
    phase: 'Pending',
    conditions: [gated],
  }),
  printed('a running pod', ['2/2', 'Running', 3], {
    containers: ['c', 'd'],
    statuses: [up('c', 1), up('d', 2)],
  }),
  printed('a pod with one ready container of two', ['1/2', 'Running', 0], {
    containers: ['c', 'd'],
    statuses: [up('c'), of('d', running)],
  }),
  printed('a pod whose container backs off', ['0/1', 'CrashLoopBackOff', 7], {
    statuses: [of('c', waiting('CrashLoopBackOff'), { restartCount: 7 })],
  }),
  printed('a pod whose container failed', ['0/1', 'ExitCode:3', 0], {
    statuses: [of('c', terminated(3))],
  }),
  printed('a pod whose container was killed', ['0/1', 'Signal:9', 0], {
    statuses: [of('c', terminated(137, { signal: 9 }))],
  }),
  printed(
    'a pod whose first container has another reason than its second',
    ['0/2', 'OOMKilled', 0],
    {
      containers: ['c', 'd'],
      statuses: [
        of('c', terminated(137, { reason: 'OOMKilled' })),
        of('d', terminated(1, { reason: 'Error' })),
      ],
    },
  ),
  printed('a completed pod', ['0/1', 'Completed', 0], {
    phase: 'Succeeded',
    statuses: [of('c', terminated(0, { reason: 'Completed' }))],
  }),
  printed('a ready pod with a completed container', ['1/2', 'Running', 0], {
    containers: ['c', 'd'],
    conditions: [ready],
    statuses: [of('c', terminated(0, { reason: 'Completed' })), up('d')],
  }),
  printed('a pod with a completed container that is not ready', ['1/2', 'NotReady', 0], {
    containers: ['c', 'd'],
    statuses: [of('c', terminated(0, { reason: 'Completed' })), up('d')],
  }),
  printed('a pod with a completed and a failed container', ['0/2', 'Error', 0], {
    containers: ['c', 'd'],
    statuses: [
      of('c', terminated(0, { reason: 'Completed' })),
      of('d', terminated(1, { reason: 'Error' })),
    ],
  }),
  printed('an evicted pod', ['0/1', 'Evicted', 0], { phase: 'Failed', reason: 'Evicted' }),
  printed('a pod with a native sidecar', ['2/2', 'Running', 4], {
    init: ['s!'],
    initStatuses: [up('s', 3)],
    statuses: [up('c', 1)],
  }),
  printed('a pod whose native sidecar is not ready', ['1/2', 'Running', 0], {
    init: ['s!'],
    initStatuses: [of('s', running, { started: true })],
    statuses: [up('c')],
  }),
  printed('a pod whose native sidecar has ended', ['1/2', 'Running', 2], {
    init: ['s!'],
    initStatuses: [of('s', terminated(0, { reason: 'Completed' }), { restartCount: 2 })],
    statuses: [up('c')],
  }),
  printed('a pod whose native sidecar starts', ['0/2', 'Init:0/1', 5], {
    init: ['s!'],
    phase: 'Pending',
    initStatuses: [of('s', running, { started: false, restartCount: 5 })],
    statuses: [of('c', waiting('PodInitializing'))],
  }),
  printed('a pod that initializes beside its native sidecar', ['1/2', 'Init:1/2', 3], {
    init: ['s!', 'i'],
    phase: 'Pending',
    initStatuses: [up('s', 1), of('i', running, { started: true, restartCount: 2 })],
    statuses: [of('c', waiting('PodInitializing'))],
  }),
  printed('an initialized pod', ['1/2', 'PodInitializing', 1], {
    init: ['s!', 'i'],
    phase: 'Pending',
    initStatuses: [
      up('s', 1),
      of('i', terminated(0, { reason: 'Completed' }), { restartCount: 2 }),
    ],
    statuses: [of('c', waiting('PodInitializing'))],
  }),
  printed('a pod in its second initialization', ['0/1', 'Init:1/3', 3], {
    init: ['i', 'j', 'k'],
    phase: 'Pending',
    initStatuses: [
      of('i', terminated(0), { restartCount: 1 }),
      of('j', running, { restartCount: 2 }),
      of('k', waiting('PodInitializing'), { restartCount: 4 }),
    ],
  }),
  printed('a pod before its initialization', ['0/1', 'Init:0/1', 0], {
    init: ['i'],
    phase: 'Pending',
    initStatuses: [of('i', waiting('PodInitializing'))],
  }),
  printed('a pod whose initialization backs off', ['0/1', 'Init:CrashLoopBackOff', 6], {
    init: ['i'],
    phase: 'Pending',
    initStatuses: [of('i', waiting('CrashLoopBackOff'), { restartCount: 6 })],
  }),
  printed('a pod whose initialization failed', ['0/1', 'Init:Error', 0], {
    init: ['i'],
    phase: 'Pending',
    initStatuses: [of('i', terminated(1, { reason: 'Error' }))],
  }),
  printed('a pod whose initialization failed without a reason', ['0/1', 'Init:ExitCode:3', 0], {
    init: ['i'],
    phase: 'Pending',
    initStatuses: [of('i', terminated(3))],
  }),
  printed('a pod whose initialization was killed', ['0/1', 'Init:Signal:9', 0], {
    init: ['i'],
    phase: 'Pending',
    initStatuses: [of('i', terminated(137, { signal: 9 }))],
  }),
  printed('a running pod that initializes again', ['1/1', 'Init:0/1', 2], {
    init: ['i'],
    conditions: [initialized],
    initStatuses: [of('i', running, { restartCount: 4 })],
    statuses: [up('c', 2)],
  }),
  printed('a deleted pod', ['1/1', 'Terminating', 0], {
    statuses: [up('c')],
    deleted: true,
  }),
  printed('a pod that was deleted during its initialization', ['0/1', 'Terminating', 0], {
    init: ['i'],
    phase: 'Pending',
    initStatuses: [of('i', running)],
    deleted: true,
  }),
  printed('a failed pod that was deleted', ['0/1', 'Error', 0], {
    phase: 'Failed',
    statuses: [of('c', terminated(1, { reason: 'Error' }))],
    deleted: true,
  }),
  printed('a deleted pod on a lost node', ['1/1', 'Unknown', 0], {
    reason: 'NodeLost',
    statuses: [up('c')],
    deleted: true,
  }),
];
