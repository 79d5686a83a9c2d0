/** The settings of a publisher. */
import type { NatsConnection } from '@nats-io/nats-core';
import type { SchedulerLike } from 'rxjs';
import type { LeaderElector } from '../../election/leader-elector.ts';
import type { Metered, MetricAttributes } from '../../meta/metrics.ts';
import type { Backoff } from '../../rx/backoff.ts';
import type { RecordSettings } from './messages.ts';

/** The settings of a publisher, with their defaults filled in. */
export interface PublisherSettings {
  readonly connection: NatsConnection;
  readonly bucket: string;
  readonly stream: string;
  readonly record: Omit<RecordSettings, 'maxPayload' | 'namespace'>;
  readonly replicas: number;
  readonly batchSize: number;
  /** How often the bucket is compared with the store, in milliseconds. */
  readonly compareEveryMs: number;
  readonly elector: LeaderElector | undefined;
  readonly backoff: Backoff;
  readonly scheduler: SchedulerLike;
  readonly random: () => number;
  readonly where: string;
  readonly metrics: Metered | undefined;
  /** The labels of the metrics. */
  readonly labels: MetricAttributes;
}
