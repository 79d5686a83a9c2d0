/** Changes the status of pods, as the kubelet and the scheduler do. */
import type { ContainerState, ContainerStatus, Pod } from 'rx-informer/resources';
import type { Condition } from '../shared/conditions.ts';
import { withTimes } from './conditions.ts';
import { timestamp } from './timestamp.ts';

export type PodTurn =
  | { readonly to: 'creating' | 'starting' | 'running' | 'completed' | 'stopped' }
  | { readonly to: 'unschedulable'; readonly message: string }
  | { readonly to: 'waiting'; readonly reason: string; readonly message: string }
  | { readonly to: 'backing-off'; readonly message: string }
  | { readonly to: 'crashed' | 'failed'; readonly reason: string; readonly exitCode: number };

const phases: Readonly<Record<PodTurn['to'], string>> = {
  unschedulable: 'Pending',
  creating: 'Pending',
  waiting: 'Pending',
  starting: 'Running',
  running: 'Running',
  crashed: 'Running',
  'backing-off': 'Running',
  stopped: 'Running',
  failed: 'Failed',
  completed: 'Succeeded',
};

function terminated(
  { state }: Partial<ContainerStatus>,
  exitCode: number,
  reason: string,
  nowMs: number,
): ContainerState {
  const startedAt = state?.running?.startedAt ?? timestamp(nowMs);
  return { terminated: { exitCode, reason, startedAt, finishedAt: timestamp(nowMs) } };
}

function stateOf(turn: PodTurn, before: Partial<ContainerStatus>, nowMs: number): ContainerState {
  switch (turn.to) {
    case 'unschedulable':
      return {};
    case 'creating':
      return { waiting: { reason: 'ContainerCreating' } };
    case 'waiting':
      return { waiting: { reason: turn.reason, message: turn.message } };
    case 'backing-off':
      return { waiting: { reason: 'CrashLoopBackOff', message: turn.message } };
    case 'starting':
    case 'running':
      return before.state?.running === undefined
        ? { running: { startedAt: timestamp(nowMs) } }
        : before.state;
    case 'crashed':
    case 'failed':
      return terminated(before, turn.exitCode, turn.reason, nowMs);
    case 'stopped':
      return terminated(before, 143, 'Error', nowMs);
    case 'completed':
      return terminated(before, 0, 'Completed', nowMs);
  }
}

/** The status of the first container. A container that runs again was restarted. */
function mainStatus(turn: PodTurn, before: Partial<ContainerStatus>, nowMs: number) {
  const state = stateOf(turn, before, nowMs);
  const ended = before.state?.terminated;
  const lastState = ended === undefined ? before.lastState : { terminated: ended };
  const isNew = state.running !== undefined && before.state?.running === undefined;
  return {
    state,
    ...(lastState === undefined ? {} : { lastState }),
    ready: turn.to === 'running',
    started: state.running !== undefined,
    restartCount: (before.restartCount ?? 0) + (isNew && lastState !== undefined ? 1 : 0),
  };
}

/** The status of a further container, which never fails. */
function sidecarStatus(turn: PodTurn, before: Partial<ContainerStatus>, nowMs: number) {
  const isUp = phases[turn.to] === 'Running' && turn.to !== 'stopped';
  const hasEnded = turn.to === 'completed' || turn.to === 'failed' || turn.to === 'stopped';
  const { running } = before.state ?? {};
  return {
    state: isUp
      ? { running: running ?? { startedAt: timestamp(nowMs) } }
      : hasEnded
        ? terminated(before, 0, 'Completed', nowMs)
        : { waiting: { reason: 'ContainerCreating' } },
    ready: isUp,
    started: isUp,
    restartCount: 0,
  };
}

function condition(type: string, holds: boolean, why: Partial<Condition> = {}): Condition {
  return { type, status: holds ? 'True' : 'False', ...(holds ? {} : why) };
}

function conditionsOf({ spec }: Pod, turn: PodTurn): readonly Condition[] {
  if (turn.to === 'unschedulable') {
    return [condition('PodScheduled', false, { reason: 'Unschedulable', message: turn.message })];
  }
  const isReady = turn.to === 'running';
  const message = `containers with unready status: [${spec?.containers[0]?.name}]`;
  const unready =
    turn.to === 'completed'
      ? { reason: 'PodCompleted' }
      : { reason: 'ContainersNotReady', message };
  return [
    condition('PodScheduled', true),
    condition('PodReadyToStartContainers', turn.to !== 'creating'),
    condition('Initialized', true),
    condition('ContainersReady', isReady, unready),
    condition('Ready', isReady, unready),
  ];
}

/** The pod after a transition. Only the first container fails. */
export function turned<P extends Pod>(
  pod: P,
  turn: PodTurn,
  nowMs: number,
  addresses: { readonly hostIP?: string; readonly podIP?: string } = {},
): P {
  const before = pod.status?.containerStatuses ?? [];
  const now = timestamp(nowMs);
  const conditions = withTimes(conditionsOf(pod, turn), pod.status?.conditions, now);
  const status = { phase: phases[turn.to], qosClass: 'Burstable', conditions };
  if (turn.to === 'unschedulable') return { ...pod, status };
  const containers = pod.spec?.containers ?? [];
  const { hostIP, podIP } = pod.status ?? {};
  return {
    ...pod,
    status: {
      ...status,
      ...(hostIP === undefined || podIP === undefined ? addresses : { hostIP, podIP }),
      startTime: pod.status?.startTime ?? now,
      containerStatuses: containers.map(({ name, image = '' }, index) => {
        const last = before[index] ?? {};
        const imageID = `${image}@sha256:0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0`;
        return {
          ...{ name, image, imageID: turn.to === 'waiting' ? '' : imageID },
          ...(index === 0 ? mainStatus(turn, last, nowMs) : sidecarStatus(turn, last, nowMs)),
        };
      }),
    },
  };
}
