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

/** The status of a container. One that runs again was restarted. */
function statusOf(turn: PodTurn, before: Partial<ContainerStatus>, nowMs: number) {
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

/** The state of the further containers of a pod after one of its turns. They never fail. */
function besides({ to }: PodTurn): PodTurn {
  if (to === 'completed' || to === 'failed' || to === 'stopped') return { to: 'completed' };
  return { to: phases[to] === 'Running' ? 'running' : 'creating' };
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
          ...statusOf(index === 0 ? turn : besides(turn), last, nowMs),
        };
      }),
    },
  };
}
