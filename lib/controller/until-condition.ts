/**
 * Waits until one object meets a condition. It uses an informer of that one object, so it survives lost connections.
 * client-go: tools/watch/until.go, UntilWithSync.
 */
import { Subscription } from 'rxjs';
import { checkedDuration, ifGiven } from '../checks/checked-option.ts';
import { createSharedInformer } from '../informer/create-shared-informer.ts';
import type { SharedInformer } from '../informer/shared-informer.ts';
import { createListWatch } from '../list-watch/create-list-watch.ts';
import { ApiError } from '../meta/api-error.ts';
import { nameSelector } from '../meta/field-selector.ts';
import { joinMetaNamespaceKey } from '../meta/key.ts';
import { type KubernetesObject, type Stored, uidOf } from '../meta/kubernetes-object.ts';
import { type Resource, resourceName, resourcePath } from '../meta/resource.ts';
import { longTimer } from '../rx/long-timer.ts';
import { type Timing, timingOf } from '../rx/timing.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { ask, type Test } from './combine.ts';

/** Tests the current state of an object; `undefined` if the object does not exist, yet or any more. */
export type Condition<T extends KubernetesObject = KubernetesObject> = Test<T | undefined>;

/** The object exists. */
export const exists: Condition<KubernetesObject> = (object) => object !== undefined;

/** The object does not exist. With a UID, an object of the same name with another UID counts as deleted, too. */
export function deleted(uid?: string): Condition<KubernetesObject> {
  return (object) => object === undefined || (uid !== undefined && uidOf(object) !== uid);
}

/** One entry of `status.conditions`. */
export interface StatusCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
}

/** The entries of `status.conditions`; an empty list if the object has none. */
export function statusConditions(object: object | undefined): readonly StatusCondition[] {
  const status = (object as { readonly status?: unknown } | undefined)?.status;
  const conditions = (status as { readonly conditions?: unknown } | undefined)?.conditions;
  return Array.isArray(conditions) ? (conditions as StatusCondition[]) : [];
}

/**
 * An entry of `status.conditions` has this type and status `True`, and is about the current spec: an entry with an older
 * `observedGeneration` does not count.
 *
 * @example
 * ```ts
 * import { conditionTrue } from 'rx-informer';
 *
 * const pod = { status: { conditions: [{ type: 'Ready', status: 'False' }] } };
 * conditionTrue('Ready')(pod as object); // => false
 * ```
 */
export function conditionTrue(type: string): Condition<KubernetesObject> {
  return (object) =>
    statusConditions(object).some((condition) => {
      if (condition.type !== type || condition.status !== 'True') return false;
      const { observedGeneration } = condition;
      const generation = object?.metadata?.generation;
      return (
        observedGeneration === undefined ||
        generation === undefined ||
        observedGeneration >= generation
      );
    });
}

/** Options of {@link untilCondition}. */
export interface UntilConditionOptions extends Timing {
  /** Rejects after this time, in milliseconds. @defaultValue never */
  readonly timeoutMs?: number | undefined;
  /** Aborting it rejects with an `ApiError` whose reason is `Aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** The timeout has passed. `lastSeen` is the last known state of the object; `cause` is the error of the informer, if any. */
export class ConditionTimeout<T extends KubernetesObject = KubernetesObject> extends ApiError {
  readonly lastSeen: Stored<T> | undefined;

  constructor(message: string, lastSeen: Stored<T> | undefined, cause: unknown) {
    super({ code: 0, reason: 'NotObserved', message, cause });
    this.lastSeen = lastSeen;
  }
}

function described(object: KubernetesObject | undefined): string {
  if (object === undefined) return 'there is no such object';
  const { resourceVersion = '?', deletionTimestamp } = object.metadata ?? {};
  const conditions = statusConditions(object).map(
    ({ type, status, reason }) => `${type}=${status}${reason ? ` (${reason})` : ''}`,
  );
  return [
    `last seen at resourceVersion ${resourceVersion}`,
    ...(deletionTimestamp === undefined ? [] : ['being deleted']),
    ...conditions,
  ].join(', ');
}

function timeoutOf<T extends KubernetesObject>(
  what: string,
  timeoutMs: number,
  informer: SharedInformer<T>,
  object: Stored<T> | undefined,
): ConditionTimeout<T> {
  const { error } = informer.status;
  const seen = informer.hasSynced ? described(object) : 'the first list is not complete yet';
  const why = error === undefined ? '' : `; ${error.message}`;
  const message = `${what} did not meet the condition within ${timeoutMs} ms: ${seen}${why}`;
  return new ConditionTimeout(message, object, error);
}

/**
 * Resolves with the object once it meets the condition, or with `undefined` if the condition holds for an absent object.
 *
 * The condition is called with the state at the start and with each later state. States that follow each other quickly, or during
 * an outage, may be skipped. When `timeoutMs` has passed, it rejects with a {@link ConditionTimeout} that contains the last state
 * and the cause. It also rejects with an error that the condition throws, with a `TypeError` if the condition returns a Promise,
 * and with an `ApiError` when the signal is aborted. In every case the informer and the timer are released.
 *
 *
 * client-go: watch.UntilWithSync; kube-rs: await_condition
 *
 * @example
 * ```ts
 * import { conditionTrue, createClient, untilCondition } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const target = { namespace: 'shop', name: 'web-0' };
 * const ready = untilCondition(client, pods, target, conditionTrue('Ready'), { timeoutMs: 5_000 });
 * server.objects.create(pods, {
 *   metadata: target,
 *   status: { conditions: [{ type: 'Ready', status: 'True' }] },
 * });
 * (await ready)?.metadata.name; // => 'web-0'
 * ```
 */
export async function untilCondition<T extends KubernetesObject>(
  client: KubeClient,
  resource: Resource<T>,
  target: { readonly name: string; readonly namespace?: string },
  condition: Condition<Stored<T>>,
  options: UntilConditionOptions = {},
): Promise<Stored<T> | undefined> {
  const { name, namespace } = target;
  const { timeoutMs, signal } = options;
  const timing = timingOf(options);
  ifGiven(checkedDuration, timeoutMs, 'untilCondition: timeoutMs');
  // Validates the target before anything is sent.
  resourcePath(resource, target);
  const key = joinMetaNamespaceKey({ namespace: namespace ?? '', name });
  const what = `${resourceName(resource)} ${key}`;
  const aborted = () => ApiError.local('Aborted', `untilCondition: ${what}: aborted by the caller`);
  if (signal?.aborted) throw aborted();
  const one = createListWatch(client, resource, {
    namespace,
    fieldSelector: nameSelector(name),
  });
  const informer = createSharedInformer(one, { ...timing, name: what });
  const all = new Subscription();
  const wait = new Promise<Stored<T> | undefined>((resolve, reject) => {
    const abort = () => reject(aborted());
    signal?.addEventListener('abort', abort);
    all.add(() => signal?.removeEventListener('abort', abort));
    if (timeoutMs !== undefined) {
      all.add(
        longTimer(timeoutMs, timing.scheduler).subscribe(() =>
          reject(timeoutOf(what, timeoutMs, informer, informer.indexer.getByKey(key))),
        ),
      );
    }
    all.add(
      informer.changes$.subscribe(({ synced }) => {
        // Before the first list is complete, an absent object may still arrive.
        if (!synced) return;
        try {
          const object = informer.indexer.getByKey(key);
          if (ask(condition, object)) resolve(object);
        } catch (error) {
          reject(error);
        }
      }),
    );
  });
  try {
    return await wait;
  } finally {
    all.unsubscribe();
    await informer.stop();
  }
}
