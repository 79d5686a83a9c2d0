/**
 * What a reconciler is given and answers, and what the operator says of it. A failure is a value: it is the
 * normal state of a controller whose world is not ready yet.
 */
import type { Observable } from 'rxjs';

/** What a reconciler is told besides the key. */
export interface ReconcileContext<K = string> {
  readonly key: K;
  /** 1 for the first try; one more for each failure in a row. */
  readonly attempt: number;
  /** Aborted when the consumer unsubscribes. */
  readonly signal: AbortSignal;
  /** How long the key waited for a worker, in milliseconds. */
  readonly queuedMs: number;
}

/**
 * Nothing: done. `requeueAfterMs` over 0: again after that time, and the count of failures starts anew.
 * `requeue`: again, after what the rate limiter says.
 */
export type ReconcileResult =
  // biome-ignore lint/suspicious/noConfusingVoidType: a reconciler may return nothing at all
  | void
  | undefined
  | {
      readonly requeue?: boolean | undefined;
      /** In milliseconds. */
      readonly requeueAfterMs?: number | undefined;
    };

/**
 * Makes the world as the object of this key wants it. It may be called for a key at any time and any number of
 * times, but never twice at once. The last value of an Observable counts.
 */
export type Reconcile<K = string> = (
  key: K,
  context: ReconcileContext<K>,
) => ReconcileResult | Promise<ReconcileResult> | Observable<ReconcileResult>;

/**
 * An error that no retry will heal: the key is given up at once.
 *
 * client-go has none; controller-runtime: reconcile.TerminalError
 *
 * @example
 * ```ts
 * import { TerminalError } from 'rx-informer';
 *
 * const cause = new RangeError('replicas is -1');
 * const error = new TerminalError('spec.replicas must be 0 or more; correct the object', { cause });
 * error.cause; // => cause
 * ```
 */
export class TerminalError extends Error {
  override readonly name: string = 'TerminalError';
}

/** How one run of a reconciler ended. */
export type Outcome<K = string> = {
  readonly key: K;
  /** The number of this try. */
  readonly attempt: number;
  /** How long the key waited for a worker, in milliseconds. */
  readonly queuedMs: number;
  /** How long the reconciler took, in milliseconds. */
  readonly workedMs: number;
} & (
  | { readonly type: 'ok' }
  | { readonly type: 'requeued'; readonly afterMs: number }
  | { readonly type: 'failed'; readonly error: unknown; readonly retryAfterMs: number }
  | { readonly type: 'gaveUp'; readonly error: unknown }
);
