/**
 * Promises that wait for a state of the store: that it is synced, or that it shows a write. They are checked after each
 * commit and each transition of the status, without polling.
 */
import type { SchedulerLike, Subscription } from 'rxjs';
import { checkedDuration, refusal } from '../checks/checked-option.ts';
import type { ApiError } from '../meta/api-error.ts';
import { type KubernetesObject, uidOf, versionOf } from '../meta/kubernetes-object.ts';
import { compareResourceVersion, isResourceVersion } from '../meta/resource-version.ts';
import type { Drain } from '../rx/drain.ts';
import { longTimer } from '../rx/long-timer.ts';
import type { IndexerReader } from '../store/indexer.ts';

/** The timeout of a wait. */
export interface WaitOptions {
  /** The wait rejects after this time, in milliseconds. @defaultValue no timeout */
  readonly timeoutMs?: number | undefined;
}

/** The options of `whenSynced`. */
export interface SyncWaitOptions extends WaitOptions {
  /**
   * The behaviour while the server refuses the first list, that is while `status.blocked` is `unauthorized`,
   * `forbidden`, `no-such-resource` or `wrong-kind`. With `reject` the promise rejects immediately with the cause. With
   * `wait` it waits, because the informer keeps trying, and access may be granted or the resource installed later.
   * @defaultValue 'reject'
   */
  readonly whileBlocked?: 'reject' | 'wait' | undefined;
}

/** A deletion to wait for: of the object with this UID, not of another object with the same name. */
export interface ObservedDeletion {
  readonly uid: string;
  readonly deleted: true;
  /**
   * The version in the response to the deletion, if it has one. Without it, or if it is not a decimal number, an object whose creation the store has not
   * received yet counts as deleted, and may appear for a moment afterwards.
   */
  readonly resourceVersion?: string | undefined;
}

interface PendingWait {
  /** Settles the promise if its condition is decided, and returns the state of the promise. */
  check(): 'pending' | 'resolved' | 'rejected';
  reject(error: ApiError): void;
}

/** The parts of an informer that its {@link Waits} need. */
export interface WaitHost {
  readonly scheduler: SchedulerLike;
  readonly drain: Drain;
  /** The error with which every wait rejects now, because the informer is stopped; otherwise `undefined`. */
  stopError(): ApiError | undefined;
}

/** The pending waits of one informer. */
export class Waits {
  readonly #host: WaitHost;
  readonly #waiters = new Set<PendingWait>();

  constructor(host: WaitHost) {
    this.#host = host;
  }

  /**
   * Resolves with the value of `test` as soon as `test` returns one. Rejects with `onTimeout()` after the timeout, with
   * the error of `refused` as soon as `refused` returns one, and when the informer is stopped. The wait begins in the
   * drain, so that a start or a stop that was called before it takes effect first. An error begins with `method`.
   */
  until<R>(
    method: string,
    test: () => { readonly value: R } | undefined,
    options: WaitOptions,
    onTimeout: () => ApiError,
    refused: () => ApiError | undefined = () => undefined,
  ): Promise<R> {
    const { timeoutMs = Number.POSITIVE_INFINITY } = options;
    return new Promise<R>((resolve, reject) => {
      checkedDuration(timeoutMs, `${method}: timeoutMs`);
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
    const waiter: PendingWait = {
      check: () => {
        const met = test();
        const error = met === undefined ? (this.#host.stopError() ?? refused()) : undefined;
        if (met !== undefined) resolve(met.value);
        else if (error !== undefined) reject(error);
        else return 'pending';
        timer?.unsubscribe();
        return error === undefined ? 'resolved' : 'rejected';
      },
      reject: (error) => {
        timer?.unsubscribe();
        reject(error);
      },
    };
    if (waiter.check() !== 'pending') return;
    this.#waiters.add(waiter);
    timer = longTimer(wait.timeoutMs, this.#host.scheduler).subscribe(() => {
      this.#waiters.delete(waiter);
      reject(wait.onTimeout());
    });
  }

  /** Checks all waits after a commit or a transition of the status. Returns whether a wait was rejected. */
  check(): boolean {
    let rejected = false;
    for (const waiter of this.#waiters) {
      const outcome = waiter.check();
      if (outcome !== 'pending') this.#waiters.delete(waiter);
      rejected ||= outcome === 'rejected';
    }
    return rejected;
  }

  /** Rejects all waits. */
  reject(error: ApiError): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const waiter of waiters) waiter.reject(error);
  }
}

/**
 * The error of a wait for what is no version; `undefined` if the version is absent, or any text that a server may give:
 * aggregated servers have versions that are not decimal. '0' is that of no state.
 */
export function invalidVersion(method: string, version: string | undefined): TypeError | undefined {
  if (version === undefined) return undefined;
  if (typeof version === 'string' && version !== '' && version !== '0') return undefined;
  return refusal(`${method}: the version`, version, 'a resourceVersion that a server returned');
}

/** The error of a wait for a state of an object that cannot be observed. */
export function invalidTarget(target: string | ObservedDeletion): TypeError | undefined {
  if (typeof target === 'string') return invalidVersion('whenObserved', target);
  const isDeletion =
    target?.deleted === true && typeof target.uid === 'string' && target.uid !== '';
  if (isDeletion) return invalidVersion('whenObserved', target.resourceVersion);
  const must = 'a resourceVersion, or { uid, deleted: true } with the UID of the deleted object';
  return refusal('whenObserved: the target', target, must);
}

function reached(version: string | undefined, target: string): boolean {
  if (version === target) return true;
  const order = compareResourceVersion(version ?? '', target);
  return order !== undefined && order >= 0;
}

/**
 * Whether the store has received every change up to this version. Refused objects are not waited for, because they may
 * stay refused for ever; the status shows them.
 */
export function isAtLeast(
  indexer: Pick<IndexerReader<unknown>, 'resourceVersion' | 'synced'>,
  resourceVersion: string,
): boolean {
  // Before its first list the store contains single objects only, so their versions say nothing about the collection.
  return indexer.synced && reached(indexer.resourceVersion, resourceVersion);
}

/** The object at `key` once `target` has been observed; `undefined` before. */
export function observed<T extends KubernetesObject>(
  indexer: IndexerReader<T>,
  key: string,
  target: string | ObservedDeletion,
): { readonly value: T | undefined } | undefined {
  const object = indexer.getByKey(key);
  const refused = indexer.refused.get(key);
  if (typeof target !== 'string') {
    // Before its first list the store does not know which objects are missing.
    const { uid, resourceVersion } = target;
    if (!indexer.synced || uidOf(object) === uid || refused?.uid === uid) return undefined;
    // A version that has no order tells nothing, because the store may be past it.
    const isDeleted =
      !isResourceVersion(resourceVersion) || reached(indexer.resourceVersion, resourceVersion);
    return isDeleted ? { value: object } : undefined;
  }
  if (reached(versionOf(object), target)) return { value: object };
  // The version of the store counts, too, because the object may have been deleted since the write. It does not count
  // for an object whose newest state was refused.
  if (refused !== undefined) return undefined;
  return isAtLeast(indexer, target) ? { value: object } : undefined;
}
