/**
 * The status of a pod, as `kubectl get pods` prints it, but "Not ready" where kubectl says `Running`. The reason for which a container waits or has ended says more
 * than the phase. An init container that always restarts is a native sidecar and counts as a container. kubectl:
 * pkg/printers/internalversion/printers.go, printPod. A pod that is never ready and is restarted again and again is
 * in trouble here.
 */
import { podRequests } from 'rx-informer';
import type { ContainerStatus, Pod } from 'rx-informer/resources';
import { conditionOf } from '../../shared/conditions.ts';
import { counted } from '../../shared/words.ts';
import { bytesText, cpuText } from './amounts.ts';
import type { Tone } from './kind.ts';
import { foreignProbes } from './probes.ts';

export interface PodStatus {
  readonly text: string;
  readonly tone: Tone;
  /** The reason of a pod in trouble, in words; '' for other pods. */
  readonly why: string;
  readonly ready: number;
  readonly containers: number;
  readonly restarts: number;
  /** Where the log of the container is that fails: `namespace/pod/container/restarts`, and `/previous` if it runs again; '' if none does. */
  readonly log: string;
}

/** The status of a pod that runs and is not ready. */
const NOT_READY = 'Not ready';

const BUSY = new Set([
  'Pending',
  'SchedulingGated',
  'ContainerCreating',
  'PodInitializing',
  'Terminating',
  NOT_READY,
]);
const DONE = new Set(['Succeeded', 'Completed']);

type Ended = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>;

function endOf({ reason, signal, exitCode }: Ended): string {
  return reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`);
}

interface ContainersStatus {
  /** `undefined` if the containers do not change the status. */
  readonly text: string | undefined;
  readonly ready: number;
  readonly restarts: number;
}

/** The status of the init containers, up to the first one that has neither completed nor started. */
function initialization(
  pod: Pod,
  sidecars: ReadonlySet<string>,
): ContainersStatus & { sidecarRestarts: number } {
  const statuses = pod.status?.initContainerStatuses ?? [];
  let ready = 0;
  let restarts = 0;
  let sidecarRestarts = 0;
  for (const [index, status] of statuses.entries()) {
    const { terminated, waiting } = status.state ?? {};
    const isSidecar = sidecars.has(status.name);
    restarts += status.restartCount;
    if (isSidecar) sidecarRestarts += status.restartCount;
    if (terminated?.exitCode === 0) continue;
    if (isSidecar && status.started) {
      if (status.ready) ready++;
      continue;
    }
    let text = `${index}/${pod.spec?.initContainers?.length ?? statuses.length}`;
    if (terminated !== undefined) text = endOf(terminated);
    else if (waiting?.reason && waiting.reason !== 'PodInitializing') text = waiting.reason;
    return { text: `Init:${text}`, ready, restarts, sidecarRestarts };
  }
  return { text: undefined, ready, restarts, sidecarRestarts };
}

/** The status of the containers. Walks them backwards, so that the first container with a reason decides. */
function running(pod: Pod, before: string): ContainersStatus {
  let text = before;
  let failed: string | undefined;
  let ready = 0;
  let restarts = 0;
  for (const status of (pod.status?.containerStatuses ?? []).toReversed()) {
    const { waiting, terminated, running: isUp } = status.state ?? {};
    restarts += status.restartCount;
    if (waiting?.reason) text = waiting.reason;
    else if (terminated !== undefined) {
      text = endOf(terminated);
      if (terminated.exitCode !== 0) failed = text;
    } else if (status.ready && isUp !== undefined) ready++;
  }
  if (text === 'Completed') {
    if (ready > 0 && conditionOf(pod, 'Ready')) text = 'Running';
    else if (failed !== undefined) text = failed;
    else if (ready > 0) text = NOT_READY;
  }
  return { text, ready, restarts };
}

/** After so many restarts, a pod that is not ready counts as in trouble, although it runs at the moment. */
const MANY_RESTARTS = 3;

/** The names of the claims that a Pod mounts. */
export const claimsOf = ({ metadata, spec }: Pod): readonly string[] =>
  (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim: of, ephemeral }) =>
    // The claim of an ephemeral volume is named after it.
    ephemeral ? `${metadata?.name}-${name}` : (of?.claimName ?? []),
  );

/** Why no node takes a Pod. The scheduler does not name the claims that it waits for. */
function unschedulable(pod: Pod): string | undefined {
  const { reason, message = 'no node has room for it' } =
    conditionOf(pod, 'PodScheduled', 'False') ?? {};
  if (reason !== 'Unschedulable') return undefined;
  if (message.includes('unbound immediate PersistentVolumeClaims')) {
    const names = claimsOf(pod).map((name) => `PersistentVolumeClaim "${name}"`);
    return `${message} — the Pod mounts ${names.join(', ')}`;
  }
  if (!message.includes('Insufficient')) return message;
  const { cpu, memory } = podRequests(pod);
  return `${message} — the Pod requests ${cpuText(cpu.milli)}, ${bytesText(memory.value)} memory`;
}

function toneOf(text: string, pod: Pod): Tone {
  if (DONE.has(text)) return 'done';
  if (text === 'Pending' && unschedulable(pod) !== undefined) return 'bad';
  if (BUSY.has(text) || /^Init:\d/.test(text)) return 'busy';
  return text === 'Running' ? 'good' : 'bad';
}

/** The statuses of all containers of a Pod, the init containers first. */
export const statusesOf = ({ status }: Pod) => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
];

/** Why a pod is in trouble: what the scheduler says, what a container waits for, or how it, or an init container, has ended. */
function whyOf(pod: Pod, restarts: number): string {
  const { initContainerStatuses = [], message } = pod.status ?? {};
  const all = statusesOf(pod).filter(({ ready }) => !ready);
  const ended = all.map((each) => each.state?.terminated ?? each.lastState?.terminated);
  const last = ended.find((end) => end !== undefined && end.exitCode !== 0);
  const waiting = all.find(
    ({ state }) => state?.waiting?.message && state.waiting.reason !== 'CrashLoopBackOff',
  );
  const failed = initContainerStatuses.find(
    ({ ready, state, lastState }) =>
      !ready && (state?.terminated ?? lastState?.terminated)?.exitCode,
  );
  const probe = foreignProbes(pod).at(-1);
  const parts = [
    ...(probe === undefined ? [] : [`${probe.text.split(' — ')[1]}: ${probe.title}`]),
    ...(failed === undefined ? [] : [`init container ${failed.name} fails`]),
    ...(restarts === 0 ? [] : [`restarted ${counted(restarts, 'time')}`]),
    ...(last === undefined ? [] : [`last exit code ${last.exitCode}`]),
  ];
  return unschedulable(pod) ?? message ?? waiting?.state?.waiting?.message ?? parts.join(', ');
}

/** Containers that were stopped from outside say nothing of it in their logs. */
const STOPPED = [137, 143];

function logOf(pod: Pod): string {
  const failed = statusesOf(pod).find(({ ready, state, lastState }) => {
    const { exitCode = 0 } = state?.terminated ?? lastState?.terminated ?? {};
    return !ready && exitCode !== 0 && !STOPPED.includes(exitCode);
  });
  if (failed === undefined) return '';
  const { name, restartCount, state } = failed;
  const where = [pod.metadata?.namespace, pod.metadata?.name, name, restartCount];
  return [...where, ...(state?.running ? ['previous'] : [])].join('/');
}

/** The parts of {@link PodStatus.log}. */
export function logIn(log: string) {
  const [namespace = '', pod = '', container = '', , previous] = log.split('/');
  return { namespace, pod, container, previous: previous !== undefined };
}

export function podStatus(pod: Pod): PodStatus {
  const { spec, status, metadata } = pod;
  const phase = status?.phase ?? 'Unknown';
  const always = (spec?.initContainers ?? []).filter((each) => each.restartPolicy === 'Always');
  const { reason } = conditionOf(pod, 'PodScheduled', 'False') ?? {};
  let text = reason === 'SchedulingGated' ? reason : status?.reason || phase;
  const init = initialization(pod, new Set(always.map(({ name }) => name)));
  text = init.text ?? text;
  let { ready, restarts } = init;
  if (init.text === undefined || conditionOf(pod, 'Initialized')) {
    const now = running(pod, text);
    text = now.text ?? text;
    ready += now.ready;
    restarts = init.sidecarRestarts + now.restarts;
  }
  if (metadata?.deletionTimestamp !== undefined) {
    if (status?.reason === 'NodeLost') text = 'Unknown';
    else if (phase !== 'Failed' && phase !== 'Succeeded') text = 'Terminating';
  }
  const own = spec?.containers.length ?? status?.containerStatuses?.length ?? 0;
  const containers = own + always.length;
  const isReady = ready === containers;
  const fails = text === 'Running' && !isReady && restarts >= MANY_RESTARTS;
  if (text === 'Running' && !isReady) text = NOT_READY;
  const tone = fails ? 'bad' : toneOf(text, pod);
  const why = tone === 'bad' ? whyOf(pod, restarts) : '';
  const log = tone === 'bad' ? logOf(pod) : '';
  return { text, tone, why, ready, containers, restarts, log };
}
