/** Keys that wait until the caches of their part of the collection, such as one of many clusters, are complete. */
import { Subscription } from 'rxjs';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Source, WatchedInformer } from './sources.ts';

export class IncompleteKeys {
  readonly #main: WatchedInformer<KubernetesObject> | undefined;
  readonly #informers: readonly WatchedInformer<KubernetesObject>[];
  readonly #waiting = new Set<string>();

  /** The first source is that of the reconciled objects. */
  constructor(sources: readonly Source[]) {
    this.#main = sources[0]?.informer;
    this.#informers = sources
      .map(({ informer }) => informer)
      .filter((informer) => informer?.isCompleteAt !== undefined)
      .filter((informer) => informer !== undefined);
  }

  /** Whether the cluster of the key has left: its objects were not deleted, so there is nothing to do for them. */
  isGone(key: string): boolean {
    return this.#main?.isCompleteAt !== undefined && this.#main.isCompleteAt(key) === undefined;
  }

  /** Whether the caches of the key are not complete. It is noted then. */
  defers(key: string): boolean {
    if (this.#isComplete(key)) return false;
    this.#waiting.add(key);
    return true;
  }

  /** Calls `release` with each noted key when its caches are complete. */
  follow(release: (key: string) => void): Subscription {
    const all = new Subscription();
    const check = () => {
      for (const key of [...this.#waiting]) {
        if (!this.isGone(key) && !this.#isComplete(key)) continue;
        this.#waiting.delete(key);
        release(key);
      }
    };
    for (const { status$ } of this.#informers) all.add(status$?.subscribe(check));
    return all;
  }

  #isComplete(key: string): boolean {
    return this.#informers.every((informer) => informer.isCompleteAt?.(key) !== false);
  }
}
