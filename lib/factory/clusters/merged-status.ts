/** The status of informers of several clusters: merged for a view, and in words for each cluster. */
import { mergeStatus, NEUTRAL_STATUS } from '../../informer/status/merge-status.ts';
import type { InformerPhase, InformerStatus } from '../../informer/status/status.ts';
import { ApiError } from '../../meta/api-error.ts';
import { shownError } from '../../meta/shown-text.ts';

/** Whether an informer has no complete list yet, and its last try has failed. */
export function hasFailed({ synced, error, blocked }: InformerStatus): boolean {
  return !synced && (error !== undefined || blocked !== undefined);
}

/** The status of an informer over no cluster. */
export function statusOfNone(
  phase: InformerPhase,
  { nowMs, synced, generation }: { nowMs: number; synced: boolean; generation: number },
): InformerStatus {
  return { ...NEUTRAL_STATUS, phase, synced, live: synced, sinceMs: nowMs, generation };
}

/** The status of an informer that a cluster does not have, because it could not be created. */
export function statusOfRefused(error: unknown, nowMs: number): InformerStatus {
  return {
    ...statusOfNone('stopped', { nowMs, synced: false, generation: 0 }),
    error: ApiError.local('Refused', `the informer could not be created: ${shownError(error)}`, {
      cause: error,
    }),
  };
}

/** A status that shows the first error, if it has none, and is not live because of it. */
export function withErrors(status: InformerStatus, errors: readonly Error[]): InformerStatus {
  const [first] = errors;
  if (first === undefined) return status;
  const cause = { cause: first };
  const error = first instanceof ApiError ? first : ApiError.local('Refused', first.message, cause);
  return { ...status, live: false, error: status.error ?? error };
}

/**
 * The status of an informer over several clusters. A cluster that has failed shows its error, and does not determine
 * the phase as long as another cluster has not failed. `errors` are those of clusters that cannot be shown.
 */
export function mergedStatus(
  statuses: readonly InformerStatus[],
  synced: boolean,
  errors: readonly Error[],
): InformerStatus {
  const sound = statuses.filter((status) => !hasFailed(status));
  const shown = sound.length === 0 ? statuses : sound;
  const merged = mergeStatus(shown);
  const error = merged.error ?? statuses.find((status) => status.error !== undefined)?.error;
  const status = {
    ...merged,
    synced,
    live: statuses.every(({ live }) => live),
    resourceVersion: '',
    error,
  };
  return withErrors(status, errors);
}

/** The state of one cluster. */
export interface ClusterStatus {
  readonly name: string;
  /** Whether every informer of the cluster is synced. */
  readonly synced: boolean;
  /** Whether every informer of the cluster follows its API server. */
  readonly live: boolean;
  /** The first failure: of an informer, or why the cluster cannot be shown at all. */
  readonly error?: Error | undefined;
  /** The state in words, such as `live, 2 informers`, or `pods: backoff: connection refused`. */
  readonly text: string;
  /** The status of each informer that is in use, by its name. */
  readonly informers: Readonly<Record<string, InformerStatus>>;
}

/** The state of all clusters. */
export interface ClustersStatus {
  /** By name, in the order in which they came. */
  readonly clusters: Readonly<Record<string, ClusterStatus>>;
  /** The error of `clients$`, or of its last value. The clusters stay as they were before it. */
  readonly error?: Error | undefined;
  /** The state in words, such as `2 of 3 clusters live; west: pods: backoff: connection refused`. */
  readonly text: string;
}

function inWords(name: string, { phase, blocked, error, attempt }: InformerStatus): string {
  const state = blocked ?? phase;
  if (error === undefined) return `${name}: ${state}`;
  return `${name}: ${state}: ${error.message}${attempt > 1 ? ` (attempt ${attempt})` : ''}`;
}

/** Describes a cluster by the status of its informers. */
export function clusterStatus(
  name: string,
  informers: Readonly<Record<string, InformerStatus>>,
): ClusterStatus {
  const all = Object.entries(informers);
  const waiting = all.filter(([, { live }]) => !live);
  const error = all.map(([, status]) => status.error).find((each) => each !== undefined);
  const count = `${all.length} informer${all.length === 1 ? '' : 's'}`;
  const text =
    all.length === 0
      ? 'no informer is in use'
      : waiting.length === 0
        ? `live, ${count}`
        : waiting.map(([informer, status]) => inWords(informer, status)).join('; ');
  return {
    name,
    synced: all.every(([, status]) => status.synced),
    live: all.length > 0 && waiting.length === 0,
    error,
    text,
    informers,
  };
}

/** Describes a cluster that cannot be shown. */
export function refusedCluster(name: string, error: Error): ClusterStatus {
  const text = `cannot be shown: ${error.message}`;
  return { name, synced: false, live: false, error, text, informers: {} };
}

/** Describes all clusters. */
export function clustersStatus(
  clusters: Readonly<Record<string, ClusterStatus>>,
  { error, isKnown }: { readonly error?: Error | undefined; readonly isKnown: boolean },
): ClustersStatus {
  const all = Object.values(clusters);
  const live = all.filter((cluster) => cluster.live).length;
  const others = all.filter((cluster) => !cluster.live).map(({ name, text }) => `${name}: ${text}`);
  const count = isKnown
    ? `${live} of ${all.length} cluster${all.length === 1 ? '' : 's'} live`
    : 'the clusters are not known yet';
  const failed = error === undefined ? [] : [`clients$: ${error.message}`];
  const text = [count, ...others, ...failed].join('; ');
  return { clusters, error, text };
}
