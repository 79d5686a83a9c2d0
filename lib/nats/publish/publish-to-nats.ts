/** `publishToNats`, which keeps a bucket of NATS JetStream equal to the store of an informer. */
import type { NatsConnection } from '@nats-io/nats-core';
import type { Observable } from 'rxjs';
import {
  checkedMetered,
  checkedPeriod,
  checkedSentCount,
  checkedSentPeriod,
  checkedWhole,
} from '../../checks/checked-option.ts';
import type { LeaderElector } from '../../election/leader-elector.ts';
import type { SharedInformer } from '../../informer/shared-informer.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import type { Metered } from '../../meta/metrics.ts';
import { type Resource, resourceName } from '../../meta/resource.ts';
import { type Backoff, exponentialBackoff, reliableBackoff } from '../../rx/backoff.ts';
import { type Timing, timingOf } from '../../rx/timing.ts';
import { checkedContent, checkedToken, collectionPrefix, streamOf } from '../layout.ts';
import { Publisher } from './publisher.ts';
import type { NatsPublisherStatus } from './publisher-status.ts';

/** The options of {@link publishToNats}. */
export interface PublishToNatsOptions<T extends KubernetesObject = KubernetesObject>
  extends Timing {
  /** A connection that reconnects for ever (`maxReconnectAttempts: -1`). It is not closed by the publisher. */
  readonly connection: NatsConnection;
  /** The collection of the informer. */
  readonly resource: Resource<T>;
  /** The name of the bucket. Its stream `KV_<bucket>` is created if it does not exist. */
  readonly bucket: string;
  /**
   * The elector that decides which of several publishers writes. It is started, and stopped by `stop()`. It is also stopped while the
   * connection has been lost for longer than `heartbeatMs`, so that a publisher that can write gets the Lease. @defaultValue none
   */
  readonly elector?: LeaderElector | undefined;
  /**
   * A name for the form of the objects, for example of a projection: one line without blanks at its ends. A bucket with
   * another one is refused, until the collection is purged from it. @defaultValue none
   */
  readonly content?: string | undefined;
  /** A name for the cluster. A bucket that names another one is refused. @defaultValue none */
  readonly cluster?: string | undefined;
  /** How often the records are written if nothing changes, in milliseconds, from 100 to 10^12. Readers miss a publisher after three times as long. @defaultValue 10000 */
  readonly heartbeatMs?: number | undefined;
  /** How often the bucket is read and compared with the store, in milliseconds, at least 1000. `Infinity` means never. @defaultValue 600000 */
  readonly compareEveryMs?: number | undefined;
  /** How long the server keeps the message of a deletion, in milliseconds, from 1000 to 10^12. A reader that was away for longer lists again. @defaultValue 900000 */
  readonly tombstoneMs?: number | undefined;
  /** How many servers keep the stream, if it is created. @defaultValue 1 */
  readonly replicas?: number | undefined;
  /** How many messages are published as one atomic batch, at most 1000. @defaultValue 500 */
  readonly batchSize?: number | undefined;
  /** The wait after a failure. @defaultValue `exponentialBackoff()` */
  readonly backoff?: Backoff | undefined;
  /** Observes what is written and refused, with the bucket as the label `name`: `metered(provider)`. @defaultValue not measured */
  readonly metrics?: Metered | undefined;
}

/** A running publisher. */
export interface NatsPublisher {
  /** Emits the status on subscription, then each change. Completes after `stop()`. */
  readonly status$: Observable<NatsPublisherStatus>;
  readonly status: NatsPublisherStatus;
  /** Stops publishing and resolves when the last write has ended. The bucket and the informer remain as they are. */
  stop(): Promise<void>;
}

/**
 * Publishes the store of an informer to a bucket of NATS JetStream, and then each of its change sets. Readers use
 * `createNatsListWatch`.
 *
 * The informer runs as long as the publisher does, unless it is stopped. The publisher first compares the bucket with
 * the store and publishes the difference, so it can be restarted at any time. Each change set is one atomic batch; a
 * set that is too large for one is visible to readers only when it is complete. Failures are shown by `status$` and
 * retried. Of several publishers for one bucket, the one that has the Lease of `elector` writes. Throws a `TypeError`
 * if an option is invalid.
 *
 * @example
 * ```ts no-run
 * import { connect } from '@nats-io/transport-node';
 * import { createClient, createListWatch, createSharedInformer } from 'rx-informer';
 * import { publishToNats } from 'rx-informer/nats';
 * import { pods } from 'rx-informer/resources';
 *
 * const connection = await connect({ servers: 'nats.example.com', maxReconnectAttempts: -1 });
 * const client = createClient({ baseUrl: 'http://127.0.0.1:8001' });
 * const informer = createSharedInformer(createListWatch(client, pods));
 * const publisher = publishToNats(informer, { connection, resource: pods, bucket: 'k8s' });
 * publisher.status$.subscribe(({ phase, message }) => console.log(phase, message));
 * ```
 */
export function publishToNats<T extends KubernetesObject>(
  informer: SharedInformer<T>,
  options: PublishToNatsOptions<T>,
): NatsPublisher {
  const { scheduler, random } = timingOf(options);
  const { connection, resource, cluster } = options;
  const named = (name: string) => `publishToNats: ${name}`;
  const bucket = checkedToken(options.bucket, named('bucket'));
  const batchSize = checkedWhole(options.batchSize ?? 500, named('batchSize'), 2, 1_000);
  const publisher = new Publisher(informer, {
    connection,
    bucket,
    stream: streamOf(bucket),
    record: {
      prefix: collectionPrefix(bucket, resource),
      apiVersion: resource.apiVersion,
      kind: resource.kind,
      content: checkedContent(options.content, named('content')),
      cluster,
      heartbeatMs: checkedSentPeriod(options.heartbeatMs ?? 10_000, named('heartbeatMs'), 100),
      tombstoneMs: checkedSentPeriod(options.tombstoneMs ?? 900_000, named('tombstoneMs'), 1_000),
    },
    replicas: checkedSentCount(options.replicas ?? 1, named('replicas'), 1),
    batchSize,
    compareEveryMs: checkedPeriod(
      options.compareEveryMs ?? 600_000,
      named('compareEveryMs'),
      1_000,
    ),
    elector: options.elector,
    backoff: reliableBackoff(options.backoff ?? exponentialBackoff()),
    scheduler,
    random,
    metrics: checkedMetered(options.metrics, named('metrics')),
    labels: {
      name: bucket,
      group: resource.group,
      version: resource.version,
      resource: resource.plural,
    },
    where: `publishing ${resourceName(resource)} to the NATS bucket ${bucket}`,
  });
  let stopped: Promise<void> | undefined;
  return {
    status$: publisher.status$.asObservable(),
    get status() {
      return publisher.status$.value;
    },
    stop: () => {
      stopped ??= publisher.stop();
      return stopped;
    },
  };
}
