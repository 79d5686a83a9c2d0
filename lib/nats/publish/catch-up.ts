/** Waits for an informer that is behind the bucket that it will be compared with. */
import { firstValueFrom, type SchedulerLike } from 'rxjs';
import type { SharedInformer } from '../../informer/shared-informer.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { isOlder } from '../../meta/resource-version.ts';
import { longTimer } from '../../rx/long-timer.ts';
import { stopwatch } from '../../rx/stopwatch.ts';
import { type Contents, newestVersion } from './contents.ts';

/** How long a publisher waits for its informer to reach the version of the bucket, in milliseconds. */
const CATCH_UP_MS = 10_000;
/** How long it waits between two looks. */
const LOOK_MS = 500;

/** The surroundings of a wait. */
export interface CatchUp {
  readonly scheduler: SchedulerLike;
  /** Whether the wait has lost its purpose. */
  isOver(): boolean;
  onWait(words: string): void;
}

/**
 * Waits until the informer has reached the newest version in the bucket. Otherwise the objects that another publisher has
 * published since would seem to be deleted. An informer that does not reach it follows another history, for example
 * that of an API server that was restored from a backup.
 */
export async function catchUp<T extends KubernetesObject>(
  informer: SharedInformer<T>,
  contents: Contents,
  { scheduler, isOver, onWait }: CatchUp,
): Promise<void> {
  const passedMs = stopwatch(scheduler);
  const newest = newestVersion(contents);
  const isBehind = () => isOlder(informer.lastSyncResourceVersion, newest);
  for (let looks = 0; isBehind() && passedMs() < CATCH_UP_MS; looks++) {
    if (isOver()) return;
    onWait('waiting until the informer has reached the version of the bucket');
    await firstValueFrom(longTimer(LOOK_MS, scheduler));
    // A quiet informer hears of a newer version only about once a minute.
    if (looks % 4 === 1 && isBehind()) await informer.refresh().catch(() => undefined);
  }
}
