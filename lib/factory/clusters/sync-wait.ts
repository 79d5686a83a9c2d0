/** Waits until an informer of several clusters is synced. */
import { firstValueFrom, merge, NEVER, type Observable, type SchedulerLike } from 'rxjs';
import { endWith, filter, map } from 'rxjs/operators';
import { checkedDuration, ifGiven } from '../../checks/checked-option.ts';
import type { InformerStatus } from '../../informer/status/status.ts';
import type { SyncWaitOptions } from '../../informer/waits.ts';
import { longTimer } from '../../rx/long-timer.ts';
import { NotSyncedError } from '../readiness.ts';

/** The informer that is awaited. */
export interface AwaitedClusters {
  readonly name: string;
  readonly scheduler: SchedulerLike;
  readonly status: InformerStatus;
  readonly status$: Observable<InformerStatus>;
  readonly hasSynced: boolean;
  readonly isStopped: boolean;
  /** Whether it is no longer one of the clusters. */
  readonly isRemoved: boolean;
  /** Whether no cluster can be listed before access is granted or the clusters change. */
  readonly isRefused: boolean;
  /** The status of the informer of each cluster. */
  statuses(): Iterable<readonly [cluster: string, status: InformerStatus]>;
}

/** Rejects with a `NotSyncedError` that names the clusters and the causes. */
export async function untilSynced(
  informer: AwaitedClusters,
  { timeoutMs, whileBlocked }: SyncWaitOptions,
): Promise<void> {
  ifGiven(checkedDuration, timeoutMs, 'whenSynced: timeoutMs');
  const isRefused = () => whileBlocked !== 'wait' && informer.isRefused;
  const decided$ = informer.status$.pipe(
    filter(({ synced }) => synced || informer.isStopped || isRefused()),
    map(() => undefined),
    // The status completes when the informer is removed.
    endWith(undefined),
  );
  const late$ = timeoutMs === undefined ? NEVER : longTimer(timeoutMs, informer.scheduler);
  await firstValueFrom(merge(decided$, late$));
  if (informer.hasSynced) return;
  const statuses = [...informer.statuses()].filter(([, { synced }]) => !synced);
  const missing = statuses.map(([cluster, status]) => ({
    name: `${cluster}/${informer.name}`,
    status,
  }));
  const known = missing.length > 0 ? missing : [{ name: informer.name, status: informer.status }];
  if (informer.isRemoved) throw new NotSyncedError(known, 1, ': it was removed from the clusters');
  if (informer.isStopped) throw new NotSyncedError(known, 1, ': the clusters are stopped');
  if (!isRefused()) {
    throw new NotSyncedError(known, 1, timeoutMs === undefined ? '' : ` within ${timeoutMs} ms`);
  }
  const next = ". They keep trying; to wait for that, pass whileBlocked: 'wait'";
  throw new NotSyncedError(known, 1, '', next);
}
