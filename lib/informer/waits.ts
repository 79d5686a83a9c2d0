/**
 * Promises about the store: synced, or so far that a write of one's own can be seen. They are made of checks
 * after each commit, never of polling.
 */
import type { SchedulerLike, Subscription } from 'rxjs';
import type { ApiError } from '../meta/api-error.ts';
import { type KubernetesObject, uidOf, versionOf } from '../meta/kubernetes-object.ts';
import { compareResourceVersion, isResourceVersion } from '../meta/resource-version.ts';
import { checkedDuration } from '../rx/checked-option.ts';
import type { Drain } from '../rx/drain.ts';
import { longTimer } from '../rx/long-timer.ts';
import type { IndexerReader } from '../store/indexer.ts';

/** How long a wait may take. */
export interface WaitOptions {
  /** Rejects after this long, in milliseconds. @defaultValue never */
  readonly timeoutMs?: number | undefined;
}

/** How to wait until an informer is synced. */
export interface SyncWaitOptions extends WaitOptions {
  /**
   * What to do while the server refuses the first list: `status.blocked` is `unauthorized`, `forbidden`,
   * `no-such-resource` or `wrong-kind`. `reject`: the promise rejects immediately with the cause. `wait`: it waits,
   * because the informer keeps trying, and somebody may grant the access or install the resource.
   * @defaultValue 'reject'
   */
  readonly whileBlocked?: 'reject' | 'wait' | undefined;
}

/** A deletion to wait for: this object, not another of its name. */
export interface ObservedDeletion {
  readonly uid: string;
  readonly deleted: true;
  /**
   * Where the deletion's answer has one. Without it an object whose creation the store has not seen yet counts as
   * gone, and may show up for a moment afterwards.
   */
  readonly resourceVersion?: string | undefined;
}

interface Waiter {
  /** Settles the wait if it is decided, and returns how. */
  check(): 'open' | 'met' | 'vain';
  reject(error: ApiError): void;
}

/** What {@link Waits} need of their informer. */
export interface WaitHost {
  readonly scheduler: SchedulerLike;
  readonly drain: Drain;
  /** Why what is waited for will not come; `undefined` while it may. */
  over(): ApiError | undefined;
}

/** Those who wait for one informer. */
export class Waits {
  readonly #host: WaitHost;
  readonly #waiters = new Set<Waiter>();

  constructor(host: WaitHost) {
    this.#host = host;
  }

  /**
   * Resolves with what `test` answers, as soon as that is not `undefined`. Rejects with `onTimeout()` when the
   * time is over, with what `refused` answers as soon as that is not `undefined`, and at once when the informer is
   * stopped. A wait that is made in a callback begins in its turn: a stop or a start that was called before it comes
   * before it.
   */
  until<R>(
    test: () => { readonly value: R } | undefined,
    options: WaitOptions,
    onTimeout: () => ApiError,
    refused: () => ApiError | undefined = () => undefined,
  ): Promise<R> {
    const { timeoutMs = Number.POSITIVE_INFINITY } = options;
    return new Promise<R>((resolve, reject) => {
      checkedDuration(timeoutMs, 'timeoutMs');
      this.#host.drain.run(() =>
        this.#begin({ test, timeoutMs, onTimeout, refused, resolve, reject }),
      );
    });
  }

  #begin<R>(wait: {
    readonly timeoutMs: number;
    test(): { readonly value: R } | undefined;
    onTimeout(): ApiError;
    refused(): ApiError | undefined;
    resolve(value: R): void;
    reject(error: ApiError): void;
  }): void {
    const { test, refused, resolve, reject } = wait;
    let timer: Subscription | undefined;
    const waiter: Waiter = {
      check: () => {
        const met = test();
        const vain = met === undefined ? (this.#host.over() ?? refused()) : undefined;
        if (met !== undefined) resolve(met.value);
        else if (vain !== undefined) reject(vain);
        else return 'open';
        timer?.unsubscribe();
        return vain === undefined ? 'met' : 'vain';
      },
      reject: (error) => {
        timer?.unsubscribe();
        reject(error);
      },
    };
    if (waiter.check() !== 'open') return;
    this.#waiters.add(waiter);
    timer = longTimer(wait.timeoutMs, this.#host.scheduler).subscribe(() => {
      this.#waiters.delete(waiter);
      reject(wait.onTimeout());
    });
  }

  /** Something was committed, or the status is another one. Returns whether that was the end of a wait in vain. */
  check(): boolean {
    let inVain = false;
    for (const waiter of this.#waiters) {
      const outcome = waiter.check();
      if (outcome !== 'open') this.#waiters.delete(waiter);
      inVain ||= outcome === 'vain';
    }
    return inVain;
  }

  /** What was waited for will not come. */
  reject(error: ApiError): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const waiter of waiters) waiter.reject(error);
  }
}

/** Why this version cannot be waited for; `undefined` when it can, or when there is none. */
export function notAVersion(who: string, version: string | undefined): TypeError | undefined {
  if (version === undefined || isResourceVersion(version)) return undefined;
  return new TypeError(`${who}: ${JSON.stringify(version)} is not a resourceVersion`);
}

function reached(version: string | undefined, target: string): boolean {
  const order = compareResourceVersion(version ?? '', target);
  return order !== undefined && order >= 0;
}

/**
 * Whether the store has seen all up to this version. Who is refused is no delay: it may stay so for ever, and the
 * status says who.
 */
export function isAtLeast(
  indexer: Pick<IndexerReader<unknown>, 'resourceVersion' | 'synced'>,
  resourceVersion: string,
): boolean {
  // Before its first list a store knows single objects only, whatever their versions.
  return indexer.synced && reached(indexer.resourceVersion, resourceVersion);
}

/** What there is at `key` once `target` has been observed; `undefined` before. */
export function observed<T extends KubernetesObject>(
  indexer: IndexerReader<T>,
  key: string,
  target: string | ObservedDeletion,
): { readonly value: T | undefined } | undefined {
  const object = indexer.getByKey(key);
  const refused = indexer.refused.get(key);
  if (typeof target !== 'string') {
    // Before its first list a store does not know what is not there.
    const { uid, resourceVersion } = target;
    if (!indexer.synced || uidOf(object) === uid || refused?.uid === uid) return undefined;
    const there =
      resourceVersion === undefined || reached(indexer.resourceVersion, resourceVersion);
    return there ? { value: object } : undefined;
  }
  if (reached(versionOf(object), target)) return { value: object };
  // The store's own version counts too: what was written may have been deleted since. It says nothing of an object
  // of which the newest state was refused.
  if (refused !== undefined) return undefined;
  return isAtLeast(indexer, target) ? { value: object } : undefined;
}
