/** The status of a publisher, which a page or a log can show. */
import type { LeaderElector } from '../../election/leader-elector.ts';
import type { InformerStatus } from '../../informer/status/status.ts';
import { ApiError } from '../../meta/api-error.ts';
import { natsError, WrongSequence } from '../failures.ts';
import type { TooLargeObject, UnwritableObject } from './contents.ts';
import type { Lead } from './lead.ts';

/** The present activity of a publisher. */
export type NatsPublisherPhase =
  /** Waits for the first complete list of the informer, or until the informer is started or follows the API server again. */
  | 'waiting'
  /** Another process has the Lease, or none has it yet. */
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
  /** Objects that are not in the bucket because they cannot be written as JSON: they are nested too deeply. */
  readonly unwritable: readonly UnwritableObject[];
  /** The last failure, until a set is published. */
  readonly error?: ApiError | undefined;
}

/** The status of a publisher that has done nothing yet. */
export const atFirst: NatsPublisherStatus = {
  phase: 'waiting',
  message: 'waiting for the first complete list of the informer',
  objects: 0,
  resourceVersion: '',
  epoch: '',
  sequence: 0,
  tooLarge: [],
  unwritable: [],
};

/** The words for an informer that has a complete list and is not live. */
export const NOT_FOLLOWING =
  'the informer does not follow the API server at the moment; see its status';

/** The words for a publisher that waits for its informer. */
export function waitingWords({ phase, synced }: Pick<InformerStatus, 'phase' | 'synced'>): string {
  if (phase === 'stopped' || phase === 'idle') {
    return 'the informer is stopped, so the bucket is not updated; start the informer';
  }
  return synced ? NOT_FOLLOWING : atFirst.message;
}

/** The words for a publisher that has published everything that it can. */
export function publishingWords(
  published: Pick<NatsPublisherStatus, 'resourceVersion' | 'tooLarge' | 'unwritable'>,
): string {
  const { resourceVersion, tooLarge, unwritable } = published;
  const left = (objects: readonly { readonly key: string }[], why: string) =>
    objects.length === 0
      ? ''
      : `; ${objects.length} objects ${why} and are not in the bucket, the first is ${objects[0]?.key}`;
  const large = left(tooLarge, 'are too large for a message');
  const deep = left(unwritable, 'cannot be written as JSON, for example because of their depth,');
  return `the bucket is complete up to ${resourceVersion}${large}${deep}`;
}

/** The words for a publisher without the Lease. */
export function standbyWords(
  { leader, isGivenUp }: Pick<Lead, 'leader' | 'isGivenUp'>,
  elector: Pick<LeaderElector, 'identity' | 'lastError'> | undefined,
): string {
  if (isGivenUp) {
    return 'there is no connection to NATS, so this process has given up the Lease; it competes for it when the connection is back';
  }
  const isOther = leader !== '' && leader !== elector?.identity;
  if (isOther) return `${leader} has the Lease; this process takes over when it gets the Lease`;
  const { lastError } = elector ?? {};
  return `waiting for the Lease${lastError === undefined ? '' : `; ${lastError.message}`}`;
}

/** The failure of a publisher, as an error and in words. */
export function failureWords(
  error: unknown,
  where: string,
): { readonly shown: ApiError; readonly words: string } {
  if (!(error instanceof WrongSequence)) {
    const shown = natsError(error, where);
    return { shown, words: shown.message };
  }
  const shown = new ApiError({ code: 409, reason: 'Conflict', message: error.message });
  const words =
    'the bucket has changed since it was read: another publisher writes to it, or it was purged';
  return { shown, words };
}
