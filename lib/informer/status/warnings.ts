/** The warnings of an informer: conditions that no error and no stream would report. */
import type { ApiError } from '../../meta/api-error.ts';

/** A warning as a message, and its details. */
export interface InformerWarning {
  /**
   * - `slow-handler`: a callback took long while many changes were waiting. Given once until its queue is empty again.
   * - `resync-raised`: a handler that was added to a running informer has a shorter period than the check period.
   * - `blocked`: the server refuses the informer (`status.blocked`), `status$` has no listener, and no wait for the
   *   sync was rejected. Given once per run.
   * - `not-started`: a handler was added to an idle informer, which was not started within 10 s.
   */
  readonly type: 'slow-handler' | 'resync-raised' | 'blocked' | 'not-started';
  /** The informer's name. */
  readonly informer: string;
  /** The handler's name, if the warning is about a handler. */
  readonly subscriber?: string;
  readonly message: string;
  /** The error with which the server refuses the informer. */
  readonly error?: ApiError | undefined;
  readonly key?: string;
  /** How long the callback took, in milliseconds. */
  readonly tookMs?: number;
  /** How many changes wait for the handler. */
  readonly pending?: number;
}

/** The default of `onWarning`: prints the message on the console. */
export function printWarning({ informer, message }: InformerWarning): void {
  console.warn(`${informer}: ${message}`);
}
