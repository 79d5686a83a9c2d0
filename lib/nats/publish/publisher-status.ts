/** The status of a publisher, which a page or a log can show. */
import type { ApiError } from '../../meta/api-error.ts';
import type { TooLargeObject } from './contents.ts';

/** The present activity of a publisher. */
export type NatsPublisherPhase =
  /** Waits for the first complete list of the informer, or for the informer to be started again. */
  | 'waiting'
  /** Another process has the Lease. */
  | 'standby'
  /** Compares the bucket with the store, and publishes the difference. */
  | 'comparing'
  /** Everything up to `resourceVersion` is in the bucket, and changes are published as they arrive. */
  | 'publishing'
  /** Waits before the next try after a failure. */
  | 'backoff'
  | 'stopped';

/** The status of a publisher. */
export interface NatsPublisherStatus {
  readonly phase: NatsPublisherPhase;
  /** The status in words. */
  readonly message: string;
  /** The number of objects in the bucket. */
  readonly objects: number;
  /** The version up to which the bucket is complete; '' before the first complete list. */
  readonly resourceVersion: string;
  /** The history of the bucket. Readers list again when it changes. */
  readonly epoch: string;
  /** The last sequence that this publisher has written. */
  readonly sequence: number;
  /** Objects that are not in the bucket because they are larger than a message may be. */
  readonly tooLarge: readonly TooLargeObject[];
  /** The last failure, until a set is published. */
  readonly error?: ApiError | undefined;
}
