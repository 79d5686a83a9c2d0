/**
 * Keeps the status of controllers consistent with their pods. Changed controllers are collected and written together,
 * because a controller manager, too, counts many changes of pods with one write.
 */
import type { KubernetesObject, Resource, Stored } from 'rx-informer';
import { daemonSets, deployments, jobs, replicaSets, statefulSets } from 'rx-informer/resources';
import type { FakeApiServer, ObjectRef } from 'rx-informer/testing';
import type { Condition } from '../shared/conditions.ts';
import { withTimes } from './conditions.ts';
import { type Deployment as DeploymentState, isActive, isReady, type Owner } from './owners.ts';
import { timestamp } from './timestamp.ts';

interface Counts {
  readonly replicas: number;
  readonly ready: number;
}

function countsOf({ residents }: Owner): Counts {
  const active = [...residents].filter(isActive);
  return { replicas: active.length, ready: active.filter(({ pod }) => isReady(pod)).length };
}

const failedCreate = (message: string): Condition => {
  return { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message };
};

/** The status of all controllers. */
export class Rollup {
  readonly #objects: FakeApiServer['objects'];
  readonly #changed = new Set<Owner>();

  constructor(objects: FakeApiServer['objects']) {
    this.#objects = objects;
  }

  /** The pods of an owner have changed. */
  mark(owner: Owner): void {
    this.#changed.add(owner);
  }

  flush(nowMs: number = Date.now()): void {
    const now = timestamp(nowMs);
    const above = new Set<DeploymentState>();
    for (const owner of this.#changed) {
      this.#write(owner, now);
      if (owner.deployment !== undefined) above.add(owner.deployment);
    }
    this.#changed.clear();
    for (const deployment of above) this.#writeDeployment(deployment, now);
  }

  /** Writes an object with another status, unless it was deleted. */
  #put<T extends KubernetesObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    next: (current: Stored<T>) => Partial<T>,
  ): void {
    const current = this.#objects.get(resource, ref) as Stored<T> | undefined;
    if (current !== undefined) this.#objects.update(resource, { ...current, ...next(current) });
  }

  #write(owner: Owner, now: string): void {
    const { kind, desired, name, uid } = owner;
    const { replicas, ready } = countsOf(owner);
    const counts = { replicas, readyReplicas: ready, availableReplicas: ready };
    if (kind === 'ReplicaSet') {
      const failure = owner.deployment?.current === owner ? owner.deployment.failure : undefined;
      this.#put(replicaSets, owner, ({ metadata, spec, status }) => {
        const isNew = spec?.replicas !== desired;
        const failed = failure === undefined ? [] : [failedCreate(failure)];
        return {
          ...(spec && { spec: { ...spec, replicas: desired } }),
          status: {
            ...{ ...counts, fullyLabeledReplicas: replicas },
            observedGeneration: (metadata.generation ?? 1) + (isNew ? 1 : 0),
            ...(failure && { conditions: withTimes(failed, status?.conditions, now) }),
          },
        };
      });
    } else if (kind === 'StatefulSet') {
      const revision = `${name}-${uid.slice(0, 8)}`;
      this.#put(statefulSets, owner, ({ metadata }) => ({
        status: {
          ...{ ...counts, currentReplicas: replicas, updatedReplicas: replicas },
          ...{ currentRevision: revision, updateRevision: revision },
          observedGeneration: metadata.generation ?? 1,
        },
      }));
    } else if (kind === 'DaemonSet') {
      this.#put(daemonSets, owner, ({ metadata }) => ({
        status: {
          ...{ desiredNumberScheduled: desired, currentNumberScheduled: replicas },
          ...{ updatedNumberScheduled: replicas, numberReady: ready, numberAvailable: ready },
          ...{ numberUnavailable: desired - ready, numberMisscheduled: 0 },
          observedGeneration: metadata.generation ?? 1,
        },
      }));
    } else this.#writeJob(owner, now);
  }

  #writeDeployment(state: DeploymentState, now: string): void {
    const counts = state.replicaSets.map(countsOf);
    const replicas = counts.reduce((sum, each) => sum + each.replicas, 0);
    const ready = counts.reduce((sum, each) => sum + each.ready, 0);
    const conditions = deploymentConditions(state, ready, replicas);
    this.#put(deployments, state, ({ metadata, status }) => ({
      status: {
        observedGeneration: metadata.generation ?? 1,
        updatedReplicas: countsOf(state.current).replicas,
        ...{ replicas, readyReplicas: ready, availableReplicas: ready },
        unavailableReplicas: Math.max(0, state.replicas - ready),
        conditions: withTimes(conditions, status?.conditions, now),
      },
    }));
  }

  #writeJob(owner: Owner, now: string): void {
    const phases = [...owner.residents].map(({ pod }) => pod.status?.phase);
    const succeeded = phases.filter((phase) => phase === 'Succeeded').length;
    const failed = phases.filter((phase) => phase === 'Failed').length;
    const end = failed > 0 ? 'Failed' : succeeded >= owner.desired ? 'Complete' : undefined;
    const reason = end === 'Failed' ? 'BackoffLimitExceeded' : 'CompletionsReached';
    this.#put(jobs, owner, ({ status: { completionTime = now, conditions, startTime } = {} }) => ({
      status: {
        ...(startTime && { startTime }),
        ...{ active: phases.length - succeeded - failed, succeeded, failed },
        ...(end === 'Complete' && { completionTime }),
        ...(end && {
          conditions: withTimes([{ type: end, status: 'True', reason }], conditions, now),
        }),
      },
    }));
  }
}

function deploymentConditions(state: DeploymentState, ready: number, all: number): Condition[] {
  const { replicas, failure, isStuck, current } = state;
  const isAvailable = ready >= replicas - Math.floor(replicas / 4);
  const isComplete = countsOf(current).replicas === replicas && all === replicas;
  const [isFine, reason, words] = isStuck
    ? (['False', 'ProgressDeadlineExceeded', 'has timed out progressing.'] as const)
    : isComplete
      ? (['True', 'NewReplicaSetAvailable', 'has successfully progressed.'] as const)
      : (['True', 'ReplicaSetUpdated', 'is progressing.'] as const);
  return [
    {
      type: 'Available',
      status: isAvailable ? 'True' : 'False',
      reason: isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
      message: `Deployment ${isAvailable ? 'has' : 'does not have'} minimum availability.`,
    },
    {
      ...{ type: 'Progressing', status: isFine, reason },
      message: `ReplicaSet "${current.name}" ${words}`,
    },
    ...(failure === undefined ? [] : [failedCreate(failure)]),
  ];
}
