/**
 * Prepares an informer for the comparison with its bucket: waits if it is behind the bucket, and refuses it if a
 * bucket cannot carry its versions or changes.
 */
import { firstValueFrom, merge, type Observable, type SchedulerLike } from 'rxjs';
import { filter, map } from 'rxjs/operators';
import type { SharedInformer } from '../../informer/shared-informer.ts';
import { ApiError } from '../../meta/api-error.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { isResourceVersion } from '../../meta/resource-version.ts';
import { longTimer } from '../../rx/long-timer.ts';
import { type Contents, isBehind, isPurged } from './contents.ts';

/** How long a publisher waits between two looks, in milliseconds. */
const LOOK_MS = 500;
/** How many looks it waits before it asks for a list: a watch is often only a moment behind. */
const LOOKS = 2;

/** The surroundings of a wait. */
export interface CatchUp {
  readonly scheduler: SchedulerLike;
  /** Whether the wait has lost its purpose. */
  isOver(): boolean;
  /** Emits when `isOver()` may have changed. */
  readonly woken$: Observable<unknown>;
  onWait(words: string): void;
}

/**
 * Waits until the informer has what the bucket has or had. Otherwise the objects that another publisher has published
 * since would seem to be deleted. An informer that is behind even after a list at the newest version follows another
 * history, for example that of an API server that was restored from a backup.
 */
export async function catchUp<T extends KubernetesObject>(
  informer: SharedInformer<T>,
  contents: Contents,
  { scheduler, isOver, woken$, onWait }: CatchUp,
): Promise<void> {
  const over$ = woken$.pipe(
    filter(isOver),
    map(() => true),
  );
  for (let looks = 0; isBehind(informer.lastSyncResourceVersion, contents); looks++) {
    onWait('waiting until the informer has reached the version of the bucket');
    if (isOver()) return;
    // While the API server does not answer, the wait goes on. An API server that hangs does not hold up a stop.
    const isListDue = looks >= LOOKS || isPurged(contents);
    if (isListDue && (await firstValueFrom(merge(isRefreshed(informer), over$)))) return;
    await firstValueFrom(longTimer(LOOK_MS, scheduler));
  }
}

function isRefreshed(informer: { refresh(): Promise<void> }): Promise<boolean> {
  return informer.refresh().then(
    () => true,
    () => false,
  );
}

/** The version of an informer's store. Throws an `ApiError` if its store cannot be published. */
export function publishableVersion<T extends KubernetesObject>(
  { lastSyncResourceVersion: version, status: { scopes, shards } }: SharedInformer<T>,
  where: string,
): string {
  const refused = (why: string) =>
    new ApiError({ code: 400, reason: 'BadRequest', message: `${where}: ${why}` });
  if (scopes !== undefined) {
    throw refused(
      'the informer follows several namespaces one by one, so its versions have no order; publish an informer of all namespaces',
    );
  }
  if (shards !== undefined) {
    throw refused(
      'the informer holds some shards, and objects that leave with a shard would seem to be deleted; publish an informer of all objects',
    );
  }
  if (isResourceVersion(version)) return version;
  throw refused(
    `the informer is at version '${version}', which cannot be compared; only collections with versions can be published`,
  );
}
