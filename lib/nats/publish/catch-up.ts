/** Waits for an informer that is behind the bucket that it will be compared with. */
import { firstValueFrom, type SchedulerLike } from 'rxjs';
import type { SharedInformer } from '../../informer/shared-informer.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
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
  { scheduler, isOver, onWait }: CatchUp,
): Promise<void> {
  for (let looks = 0; isBehind(informer.lastSyncResourceVersion, contents); looks++) {
    if (isOver()) return;
    onWait('waiting until the informer has reached the version of the bucket');
    // While the API server does not answer, the wait goes on.
    const isListDue = looks >= LOOKS || isPurged(contents);
    if (isListDue && (await isRefreshed(informer))) return;
    await firstValueFrom(longTimer(LOOK_MS, scheduler));
  }
}

function isRefreshed(informer: { refresh(): Promise<void> }): Promise<boolean> {
  return informer.refresh().then(
    () => true,
    () => false,
  );
}
