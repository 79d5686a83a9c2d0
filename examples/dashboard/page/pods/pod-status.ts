/**
 * The status of a pod in one word, as `kubectl get pods` has it: the phase says little, the reason why a
 * container waits or ended says what a person wants to know.
 * kubectl: pkg/printers/internalversion/printers.go, printPod.
 */
import type { Pod } from 'rx-informer/resources';

/** How a status should feel: all well, under way, in trouble, over. */
export type Tone = 'good' | 'busy' | 'bad' | 'done';

/** A status and its tone. */
export interface PodStatusText {
  readonly text: string;
  readonly tone: Tone;
}

interface ContainerStatus {
  readonly ready: boolean;
  readonly state?: {
    readonly waiting?: { readonly reason?: string };
    readonly terminated?: {
      readonly reason?: string;
      readonly exitCode: number;
      readonly signal?: number;
    };
    readonly running?: unknown;
  };
}

const BUSY = new Set([
  'Pending',
  'ContainerCreating',
  'PodInitializing',
  'Terminating',
  'NotReady',
]);
const DONE = new Set(['Succeeded', 'Completed']);

function endOf(state: NonNullable<ContainerStatus['state']>['terminated']): string {
  if (state === undefined) return '';
  return state.reason || (state.signal ? `Signal:${state.signal}` : `ExitCode:${state.exitCode}`);
}

function initText(pod: Pod): string | undefined {
  const statuses: readonly ContainerStatus[] = pod.status?.initContainerStatuses ?? [];
  const total = pod.spec?.initContainers?.length ?? statuses.length;
  for (const [index, { state }] of statuses.entries()) {
    if (state?.terminated?.exitCode === 0) continue;
    if (state?.terminated !== undefined) return `Init:${endOf(state.terminated)}`;
    const waiting = state?.waiting?.reason;
    if (waiting && waiting !== 'PodInitializing') return `Init:${waiting}`;
    return `Init:${index}/${total}`;
  }
  return undefined;
}

function textOf(pod: Pod): string {
  const { status } = pod;
  if (pod.metadata?.deletionTimestamp !== undefined) return 'Terminating';
  const init = initText(pod);
  if (init !== undefined) return init;
  let text = status?.reason || status?.phase || 'Unknown';
  let running = false;
  const containers: readonly ContainerStatus[] = status?.containerStatuses ?? [];
  for (const { ready, state } of containers.toReversed()) {
    if (state?.waiting?.reason) text = state.waiting.reason;
    else if (state?.terminated !== undefined) text = endOf(state.terminated);
    else if (ready && state?.running !== undefined) running = true;
  }
  return text === 'Completed' && running ? 'Running' : text;
}

/** The status of a pod and how it should feel. */
export function podStatus(pod: Pod): PodStatusText {
  const text = textOf(pod);
  if (DONE.has(text)) return { text, tone: 'done' };
  if (BUSY.has(text) || /^Init:\d/.test(text)) return { text, tone: 'busy' };
  if (text !== 'Running') return { text, tone: 'bad' };
  const whole = pod.status?.containerStatuses?.every((container) => container.ready) ?? false;
  return { text, tone: whole ? 'good' : 'busy' };
}
