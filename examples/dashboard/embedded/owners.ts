/** The controllers of pods, as the simulation keeps them beside the objects of the server. */
import type { Stored } from 'rx-informer';
import type { Container, Pod, PodSpec, PodTemplateSpec } from 'rx-informer/resources';
import { conditionOf } from '../shared/conditions.ts';
import type { App } from './catalogue.ts';

/** A pod that a story can reserve. At most one story holds a pod at a time. */
export interface Resident {
  pod: Stored<Pod>;
  readonly owner: Owner;
  busy: boolean;
}

export interface Template {
  readonly image: string;
  readonly sidecar: boolean;
  readonly milliCpu: number;
  readonly memoryMi: number;
  /** The template that a user has written. */
  readonly given?: PodTemplateSpec | undefined;
  readonly container?: Partial<Container>;
  /** Further fields of the specification of the pods. */
  readonly pod?: Partial<PodSpec>;
}

export interface Owner {
  readonly kind: 'ReplicaSet' | 'StatefulSet' | 'DaemonSet' | 'Job';
  readonly name: string;
  readonly namespace: string;
  readonly app: string;
  readonly uid: string;
  readonly template: Template;
  readonly deployment: Deployment | undefined;
  readonly residents: Set<Resident>;
  desired: number;
}

export interface Deployment {
  readonly name: string;
  readonly namespace: string;
  readonly app: App;
  readonly uid: string;
  readonly replicaSets: Owner[];
  current: Owner;
  revision: number;
  replicas: number;
  /** The reason why pods cannot be created, if they cannot. */
  failure?: string;
  /** Whether a rollout has not finished within its deadline. */
  isStuck?: boolean;
}

/** Whether a controller counts the pod: it has not ended and is not being deleted. */
export function isActive({ pod }: Resident): boolean {
  const phase = pod.status?.phase;
  const isGone = pod.metadata.deletionTimestamp !== undefined;
  return !isGone && phase !== 'Succeeded' && phase !== 'Failed';
}

export const isReady = (pod: Pod): boolean => conditionOf(pod, 'Ready') !== undefined;

export function isOutdated({ owner }: Resident): boolean {
  return owner.deployment !== undefined && owner.deployment.current !== owner;
}
