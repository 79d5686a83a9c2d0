/**
 * Keeps the status of controllers consistent with their pods. Changed controllers are collected and written together,
 * because a controller manager, too, counts many changes of pods with one write.
 */
import type { Stored } from 'rx-informer';
import {
  type Deployment,
  daemonSets,
  deployments,
  jobs,
  type ReplicaSet,
  replicaSets,
  type StatefulSet,
  statefulSets,
} from 'rx-informer/resources';
import type { FakeApiServer } from 'rx-informer/testing';
import { type Deployment as DeploymentState, isActive, isReady, type Owner } from './owners.ts';
import { timestamp } from './timestamp.ts';

interface Counts {
  readonly replicas: number;
  readonly ready: number;
}

function countsOf({ residents }: Owner): Counts {
  let replicas = 0;
  let ready = 0;
  for (const resident of residents) {
    if (!isActive(resident)) continue;
    replicas++;
    if (isReady(resident)) ready++;
  }
  return { replicas, ready };
}

/** The generation of an object after its spec is replaced. */
function generationAfter(
  { metadata }: Stored<Deployment | ReplicaSet | StatefulSet>,
  isNew: boolean,
) {
  return (metadata.generation ?? 1) + (isNew ? 1 : 0);
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** Keeps the time of the last transition of each condition whose status is the same. */
function withTimes<C extends Condition>(
  conditions: readonly C[],
  before: readonly (Condition & { lastTransitionTime?: string | undefined })[] | undefined,
  now: string,
): (C & { lastTransitionTime: string })[] {
  return conditions.map((condition) => {
    const last = before?.find(({ type }) => type === condition.type);
    const since = last?.status === condition.status ? last.lastTransitionTime : undefined;
    return { ...condition, lastTransitionTime: since ?? now };
  });
}

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

  #write(owner: Owner, now: string): void {
    switch (owner.kind) {
      case 'ReplicaSet':
        return this.#writeReplicaSet(owner, now);
      case 'StatefulSet':
        return this.#writeStatefulSet(owner);
      case 'DaemonSet':
        return this.#writeDaemonSet(owner);
      case 'Job':
        return this.#writeJob(owner, now);
    }
  }

  #writeReplicaSet(owner: Owner, now: string): void {
    const current = this.#objects.get(replicaSets, owner);
    if (current?.spec === undefined) return;
    const { replicas, ready } = countsOf(owner);
    const isNew = current.spec.replicas !== owner.desired;
    const failure = owner.deployment?.current === owner ? owner.deployment.failure : undefined;
    const failed = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' };
    this.#objects.update(replicaSets, {
      ...current,
      spec: { ...current.spec, replicas: owner.desired },
      status: {
        ...{ replicas, fullyLabeledReplicas: replicas },
        ...{ readyReplicas: ready, availableReplicas: ready },
        observedGeneration: generationAfter(current, isNew),
        ...(failure === undefined
          ? {}
          : {
              conditions: withTimes(
                [{ ...failed, message: failure }],
                current.status?.conditions,
                now,
              ),
            }),
      },
    });
  }

  #writeDeployment(state: DeploymentState, now: string): void {
    const current = this.#objects.get(deployments, state);
    if (current?.spec === undefined) return;
    const counts = state.replicaSets.map(countsOf);
    const sum = (field: keyof Counts) => counts.reduce((total, each) => total + each[field], 0);
    const ready = sum('ready');
    this.#objects.update(deployments, {
      ...current,
      status: {
        observedGeneration: generationAfter(current, false),
        replicas: sum('replicas'),
        updatedReplicas: countsOf(state.current).replicas,
        ...{ readyReplicas: ready, availableReplicas: ready },
        unavailableReplicas: Math.max(0, state.replicas - ready),
        conditions: withTimes(
          deploymentConditions(state, ready, sum('replicas')),
          current.status?.conditions,
          now,
        ),
      },
    });
  }

  #writeStatefulSet(owner: Owner): void {
    const current = this.#objects.get(statefulSets, owner);
    if (current === undefined) return;
    const { replicas, ready } = countsOf(owner);
    const revision = `${owner.name}-${owner.uid.slice(0, 8)}`;
    this.#objects.update(statefulSets, {
      ...current,
      status: {
        ...{ replicas, readyReplicas: ready, availableReplicas: ready },
        ...{ currentReplicas: replicas, updatedReplicas: replicas },
        ...{ currentRevision: revision, updateRevision: revision },
        observedGeneration: generationAfter(current, false),
      },
    });
  }

  #writeDaemonSet(owner: Owner): void {
    const current = this.#objects.get(daemonSets, owner);
    if (current === undefined) return;
    const { replicas, ready } = countsOf(owner);
    this.#objects.update(daemonSets, {
      ...current,
      status: {
        ...{ desiredNumberScheduled: owner.desired, currentNumberScheduled: replicas },
        ...{ updatedNumberScheduled: replicas, numberReady: ready, numberAvailable: ready },
        ...{ numberUnavailable: owner.desired - ready, numberMisscheduled: 0 },
        observedGeneration: current.metadata.generation ?? 1,
      },
    });
  }

  #writeJob(owner: Owner, now: string): void {
    const current = this.#objects.get(jobs, owner);
    if (current === undefined) return;
    const phases = [...owner.residents].map(({ pod }) => pod.status?.phase);
    const succeeded = phases.filter((phase) => phase === 'Succeeded').length;
    const failed = phases.filter((phase) => phase === 'Failed').length;
    const end = failed > 0 ? 'Failed' : succeeded >= owner.desired ? 'Complete' : undefined;
    const reason = end === 'Failed' ? 'BackoffLimitExceeded' : 'CompletionsReached';
    const { completionTime = now, conditions, startTime } = current.status ?? {};
    const ended = [{ type: end ?? '', status: 'True', reason }];
    this.#objects.update(jobs, {
      ...current,
      status: {
        ...(startTime === undefined ? {} : { startTime }),
        ...{ active: phases.length - succeeded - failed, succeeded, failed },
        ...(end === 'Complete' ? { completionTime } : {}),
        ...(end === undefined ? {} : { conditions: withTimes(ended, conditions, now) }),
      },
    });
  }
}

function deploymentConditions(state: DeploymentState, ready: number, all: number): Condition[] {
  const { replicas, failure, isStuck, current } = state;
  const isAvailable = ready >= replicas - Math.floor(replicas / 4);
  const availability = isAvailable ? 'has' : 'does not have';
  const isComplete = countsOf(current).replicas === replicas && all === replicas;
  const [isFine, reason, words] = isStuck
    ? (['False', 'ProgressDeadlineExceeded', 'has timed out progressing.'] as const)
    : isComplete
      ? (['True', 'NewReplicaSetAvailable', 'has successfully progressed.'] as const)
      : (['True', 'ReplicaSetUpdated', 'is progressing.'] as const);
  const conditions: Condition[] = [
    {
      type: 'Available',
      status: isAvailable ? 'True' : 'False',
      reason: isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
      message: `Deployment ${availability} minimum availability.`,
    },
    {
      type: 'Progressing',
      status: isFine,
      reason,
      message: `ReplicaSet "${current.name}" ${words}`,
    },
  ];
  if (failure !== undefined) {
    const failed = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' };
    conditions.push({ ...failed, message: failure });
  }
  return conditions;
}
