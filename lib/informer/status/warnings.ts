/** What an informer warns of: what somebody should know, and would hear from nobody else. */
import type { ApiError } from '../../meta/api-error.ts';

/** A warning, in words and in parts. */
export interface InformerWarning {
  /**
   * `slow-handler`: a callback took long while much waits; told once until its queue is empty again.
   * `resync-raised`: the period of a handler that was added to a running informer is below the informer's.
   * `blocked`: the server refuses the informer (`status.blocked`), and nobody listens to `status$` or waits for the sync;
   * told once per run.
   * `not-started`: a handler was added to an idle informer, which was not started within 10 s.
   */
  readonly type: 'slow-handler' | 'resync-raised' | 'blocked' | 'not-started';
  /** The informer's name. */
  readonly informer: string;
  /** The handler's name, if the warning is about a handler. */
  readonly subscriber?: string;
  readonly message: string;
  /** Why the server refuses the informer. */
  readonly error?: ApiError;
  readonly key?: string;
  /** How long the callback took, in milliseconds. */
  readonly tookMs?: number;
  /** Changes that wait for the handler. */
  readonly pending?: number;
}

/** Who hears warnings when nobody asked for them. */
export function printWarning({ informer, message }: InformerWarning): void {
  console.warn(`${informer}: ${message}`);
}
