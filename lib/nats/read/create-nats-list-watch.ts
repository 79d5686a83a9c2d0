/** `createNatsListWatch`, a ListerWatcher that reads a collection from a bucket instead of the API server. */
import type { NatsConnection } from '@nats-io/nats-core';
import { defer, type Observable, throwError } from 'rxjs';
import { filter, finalize, map, take, takeUntil, tap } from 'rxjs/operators';
import { checkedSentCount, checkedSentPeriod } from '../../checks/checked-option.ts';
import type { ListPart, WatchEvent } from '../../decode/watch-event.ts';
import type {
  ListerWatcher,
  ListRequest,
  WatchRequest,
  WatchSignal,
} from '../../list-watch/lister-watcher.ts';
import { ApiError } from '../../meta/api-error.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { checkNamespaces, type Resource, resourceName } from '../../meta/resource.ts';
import { isOlder } from '../../meta/resource-version.ts';
import type { Demand } from '../../rx/demand.ts';
import { longTimer } from '../../rx/long-timer.ts';
import { type Timing, timingOf } from '../../rx/timing.ts';
import { connectionEvents } from '../connection-events.ts';
import { gone, unavailable } from '../failures.ts';
import { checkedContent, checkedToken, collectionPrefix, streamOf } from '../layout.ts';
import type { Bucket } from './bucket.ts';
import { type Followed, follow } from './follow.ts';
import { namedConsumer } from './named-consumer.ts';
import { type Place, ShownHistory } from './past-places.ts';
import { Session } from './session.ts';

/** The options of {@link createNatsListWatch}. */
export interface NatsListWatchOptions extends Timing {
  /** The name of the bucket, as in `publishToNats`. */
  readonly bucket: string;
  /** Reads only this namespace. The NATS user then needs permissions for this namespace only. @defaultValue all */
  readonly namespace?: string | undefined;
  /**
   * The consumer that was made for this reader, as `natsReaderSubjects` describes it. One informer can use it at a time.
   * Needs nats-server 2.14. @defaultValue the reader makes consumers itself, for which the account must trust it
   */
  readonly consumer?: string | undefined;
  /** The form of the objects that the reader needs, as named by the publisher's `content`. @defaultValue any */
  readonly content?: string | undefined;
  /** How many messages are requested from NATS at a time. @defaultValue 256 */
  readonly batch?: number | undefined;
  /**
   * How often NATS says that it is alive while nothing changes, in milliseconds, from 500 to 10^12. After two and a half
   * times as long without a message the connection counts as lost. @defaultValue 5000
   */
  readonly idleMs?: number | undefined;
}

/** How many sessions are kept for watches that resume. */
const MOST_KEPT = 8;

/** The sessions of one ListerWatcher: those that requests use at the moment, and those that wait for a next watch. */
class Sessions<T extends KubernetesObject> {
  readonly #used = new Set<Session<T>>();
  #kept: Session<T>[] = [];

  readonly history = new ShownHistory();

  use(session: Session<T>): void {
    this.#used.add(session);
  }

  /** Ends the use of a session. It is kept for the next watch, unless it has failed for good. */
  release(session: Session<T>, isGone: boolean): void {
    this.#used.delete(session);
    if (isGone || session.place === undefined) return;
    session.rewind();
    this.#kept = [...this.#kept.slice(1 - MOST_KEPT), session];
  }

  /** Hands out a session that stands at a version. */
  take(resourceVersion: string): Session<T> | undefined {
    const at = this.#kept.findLastIndex(({ place }) => place?.resourceVersion === resourceVersion);
    if (at !== -1) return this.#kept.splice(at, 1)[0];
    for (const session of [...this.#used, ...this.#kept]) {
      const fork = session.fork(resourceVersion);
      if (fork !== undefined) return fork;
    }
    return undefined;
  }
}

function collect<T>(events: readonly WatchEvent<T>[], into: Map<string, T>): void {
  for (const event of events) {
    if (event.type === 'ADDED' || event.type === 'MODIFIED') into.set(event.key, event.object);
    if (event.type === 'DELETED') into.delete(event.key);
  }
}

/** The collection of one ListerWatcher. */
interface Collection<T extends KubernetesObject> {
  readonly bucket: Bucket;
  readonly sessions: Sessions<T>;
}

/** Follows with a session, which is kept for the next watch unless it has failed for good. */
function following<T extends KubernetesObject>(
  { bucket, sessions }: Collection<T>,
  session: Session<T>,
  demand: Demand | undefined,
): Observable<Followed<T>> {
  let isGone = false;
  sessions.use(session);
  return follow(bucket, session, demand).pipe(
    tap({
      next: ({ kind }) => {
        const { place } = session;
        if (place === undefined) return;
        const why = kind === 'listed' ? sessions.history.outdated(place) : undefined;
        isGone = why !== undefined;
        if (why !== undefined) throw unavailable(`${bucket.scope.where}: ${why}`);
        sessions.history.shown(place);
      },
      error: (error) => {
        isGone = error instanceof ApiError && !error.retryable;
      },
    }),
    finalize(() => sessions.release(session, isGone)),
  );
}

/** The version of a complete list. Throws if it is older than the requested one. */
function listedVersion(place: Place | undefined, asked: string, where: string): string {
  const current = place?.resourceVersion ?? '';
  if (!isOlder(current, asked)) return current;
  const message = `Too large resource version: ${asked}, current: ${current}`;
  const details = { causes: [{ reason: 'ResourceVersionTooLarge', message }] };
  throw ApiError.fromStatus({ code: 504, reason: 'Timeout', message, details }, 504, { where });
}

function listOnce<T extends KubernetesObject>(
  collection: Collection<T>,
  { resourceVersion, demand }: ListRequest<T>,
): Observable<ListPart<T>> {
  const { scope } = collection.bucket;
  const objects = new Map<string, T>();
  const session = new Session<T>(scope);
  return following(collection, session, demand).pipe(
    tap(({ events = [] }) => collect(events, objects)),
    filter(({ kind }) => kind === 'listed'),
    take(1),
    map(() => {
      const metadata = {
        resourceVersion: listedVersion(session.place, resourceVersion, scope.where),
      };
      return { items: [...objects.values()], metadata };
    }),
  );
}

function watchOnce<T extends KubernetesObject>(
  collection: Collection<T>,
  { resourceVersion, sendInitialEvents, demand }: WatchRequest<T>,
): Observable<WatchSignal<T>> {
  const { sessions } = collection;
  const { scope } = collection.bucket;
  const session =
    sendInitialEvents === true ? new Session<T>(scope) : sessions.take(resourceVersion);
  if (session === undefined) {
    const why = `version '${resourceVersion}' is not one at which this reader has stood`;
    return throwError(() => gone(scope.where, why));
  }
  return following(collection, session, demand).pipe(
    map((signal): WatchSignal<T> => {
      if (signal.events === undefined) return signal;
      if (signal.kind !== 'listed') return { kind: 'events', events: signal.events };
      const current = listedVersion(session.place, resourceVersion, scope.where);
      const end = { type: 'BOOKMARK', resourceVersion: current, initialEventsEnd: true } as const;
      return { kind: 'events', events: [...signal.events, end] };
    }),
  );
}

/**
 * Creates a ListerWatcher that reads a collection from a NATS bucket, which `publishToNats` fills. An informer, a live
 * query and a page work with it as with the API server: versions are those of Kubernetes, changes arrive in the order
 * of their versions, and a watch that cannot be resumed ends with a 410.
 *
 * A reader needs no access to the API server. The bucket contains the objects as the publisher's informer has them,
 * so a projection or a transform is chosen there. Each request uses one ephemeral consumer. A list and a watch error
 * with an `ApiError`: a lost or silent connection is retried by the informer, and so is a publisher that is missing.
 * Connect with `maxReconnectAttempts: -1`, because a closed connection is never opened again. Throws a `TypeError` if
 * an option is invalid.
 *
 * @example
 * ```ts no-run
 * import { wsconnect } from '@nats-io/nats-core';
 * import { createSharedInformer } from 'rx-informer';
 * import { createNatsListWatch } from 'rx-informer/nats';
 * import { pods } from 'rx-informer/resources';
 *
 * const connection = await wsconnect({ servers: 'wss://nats.example.com', maxReconnectAttempts: -1 });
 * const shop = createNatsListWatch(connection, pods, { bucket: 'k8s', namespace: 'shop' });
 * const informer = createSharedInformer(shop);
 * informer.added$.subscribe((pod) => console.log(pod.metadata.name));
 * ```
 */
export function createNatsListWatch<T extends KubernetesObject>(
  connection: NatsConnection,
  resource: Resource<T>,
  options: NatsListWatchOptions,
): ListerWatcher<T> {
  const { scheduler } = timingOf(options);
  const bucketName = checkedToken(options.bucket, 'createNatsListWatch: bucket');
  const namespace = options.namespace ?? '';
  checkNamespaces(resource, [namespace], 'createNatsListWatch: ');
  const place = namespace === '' ? '' : ` in namespace ${namespace}`;
  const batch = checkedSentCount(options.batch ?? 256, 'createNatsListWatch: batch', 1);
  const idleMs = checkedSentPeriod(options.idleMs ?? 5_000, 'createNatsListWatch: idleMs', 500);
  const sessions = new Sessions<T>();
  const bucket: Bucket = {
    connection,
    stream: streamOf(bucketName),
    prefix: collectionPrefix(bucketName, resource),
    consumer: namedConsumer(options.consumer),
    scope: {
      namespace,
      apiVersion: resource.apiVersion,
      kind: resource.kind,
      content: checkedContent(options.content, 'createNatsListWatch: content'),
      where: `${resourceName(resource)}${place} in the NATS bucket ${bucketName}`,
    },
    scheduler,
    batch,
    // It is sent in whole nanoseconds.
    idleMs: Math.round(idleMs),
  };
  const collection: Collection<T> = { bucket, sessions };
  return {
    ...(namespace === '' ? {} : { scope: namespace }),
    watchList: true,
    // The connection is worth another try when it is back.
    awake$: connectionEvents(connection).back$,
    list: (request) => defer(() => listOnce(collection, request)),
    watch: (request) =>
      defer(() => watchOnce(collection, request)).pipe(
        takeUntil(longTimer(request.timeoutSeconds * 1000, scheduler)),
      ),
  };
}
