/**
 * The types around one run of a reconciler: its context, its result, and the outcome that the operator emits. A failure
 * is an outcome and not an error of the stream, because it is normal while the objects that a key depends on are not ready.
 */
import type { Observable } from 'rxjs';

/** The context that a reconciler receives in addition to the key. */
export interface ReconcileContext<K = string> {
  readonly key: K;
  /** 1 for the first attempt, and one more after each consecutive failure. */
  readonly attempt: number;
  /** Aborts when the consumer unsubscribes. */
  readonly signal: AbortSignal;
  /** How long the key waited for a worker, in milliseconds. */
  readonly queuedMs: number;
}

/**
 * The result of a reconcile. `undefined`: the key is done. `requeueAfterMs` over 0: the key runs again after that time, in
 * milliseconds, and its failure count is reset. `requeue`: the key runs again after the wait that the rate limiter returns.
 */
export type ReconcileResult =
  // biome-ignore lint/suspicious/noConfusingVoidType: a reconciler may return nothing at all
  | void
  | undefined
  | {
      readonly requeue?: boolean | undefined;
      /** In milliseconds. NaN, or a value that is not a number, is a `TypeError`, with which the key is given up. */
      readonly requeueAfterMs?: number | undefined;
    };

/**
 * Brings the actual state to the state that the object of this key desires. It may be called at any time and any number of
 * times, but never twice at the same time for one key. The last value of a returned Observable is the result.
 */
export type Reconcile<K = string> = (
  key: K,
  context: ReconcileContext<K>,
) => ReconcileResult | Promise<ReconcileResult> | Observable<ReconcileResult>;

/**
 * An error that a retry cannot heal. The key is given up without a retry.
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
  /** The number of this attempt, from 1. */
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
