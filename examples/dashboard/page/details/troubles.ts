/** The reasons why an object is not as it should be, from its conditions and the states of its containers. */
import type { KubernetesObject } from 'rx-informer';
import type { ContainerStatus, Pod } from 'rx-informer/resources';
import type { Condition } from '../../shared/conditions.ts';
import { statusesOf } from '../kinds/pod-status.ts';
import { foreignProbes } from '../kinds/probes.ts';

export interface Trouble {
  readonly title: string;
  readonly text: string;
  /** The container whose log says more. */
  readonly logOf?: string;
}

/** A condition and whether its status is a bad one. */
interface JudgedCondition extends Condition {
  readonly isBad: boolean;
  readonly sinceMs: number;
}

/** Conditions that are good while they are false. */
const GOOD_WHEN_FALSE =
  /Pressure$|Failure$|^NetworkUnavailable$|^Failed$|^Suspended$|^FailureTarget$|^DisruptionTarget$|^ScalingLimited$|^PodResize/;

export function conditionsOf(object: KubernetesObject): readonly JudgedCondition[] {
  const { conditions = [] } = (object as Pod).status ?? {};
  return conditions.map((condition) => ({
    ...condition,
    isBad: (condition.status === 'True') === GOOD_WHEN_FALSE.test(condition.type),
    sinceMs: Date.parse(condition.lastTransitionTime ?? '') || 0,
  }));
}

/** Exit codes of containers that did not end by themselves. */
const ends: Readonly<Record<number, string>> = {
  137: 'It was killed: it used more memory than its limit, or did not stop in time. Its events say more.',
  143: 'It was stopped from outside, as after a liveness probe that failed. Its events say more.',
};

/** What a container waits for, or why it ended. */
function containerTroubles(container: ContainerStatus): Trouble[] {
  const { name, state, lastState, ready, restartCount } = container;
  const { waiting, terminated } = state ?? {};
  const found: Trouble[] = [];
  if (waiting?.reason && !/^(ContainerCreating|PodInitializing)$/.test(waiting.reason)) {
    const text = waiting.message ?? 'The container waits to be started again.';
    found.push({ title: `Container ${name}: ${waiting.reason}`, text });
  }
  const ended = terminated ?? (ready ? undefined : lastState?.terminated);
  if (ended !== undefined && ended.exitCode !== 0) {
    const { exitCode, message, reason = 'Error' } = ended;
    const text = ends[exitCode] ?? `It ended with exit code ${exitCode}.`;
    const times = restartCount === 1 ? 'once' : `${restartCount} times`;
    const restarted = restartCount > 0 ? `, restarted ${times}` : '';
    found.push({
      title: `Container ${name} ended: ${reason}, exit code ${exitCode}${restarted}`,
      text: message ? `${text} ${message}` : text,
      logOf: name,
    });
  }
  return found;
}

/** The reasons, the most direct ones first. */
export function troublesOf(object: KubernetesObject): readonly Trouble[] {
  const { phase, reason, message } = (object as Pod).status ?? {};
  if (phase === 'Succeeded') return [];
  const containers = statusesOf(object as Pod).flatMap(containerTroubles);
  const told = reason && message ? [{ title: reason, text: message }] : [];
  const conditions = conditionsOf(object)
    .filter(({ isBad, message: text }) => isBad && text)
    // That a pod is not ready says less than the reason of its container.
    .filter(({ type }) => containers.length === 0 || !/^(Containers)?Ready$/.test(type))
    .filter(({ type }) => type !== 'ContainersReady')
    .map(({ type, reason: why, message: text = '' }) => ({
      title: why && why !== type ? `${type}: ${why}` : type,
      text,
    }));
  return [...told, ...foreignProbes(object as Pod), ...containers, ...conditions];
}
