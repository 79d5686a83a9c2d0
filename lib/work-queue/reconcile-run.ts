/**
 * One run of a reconciler, which ends exactly once, whatever the reconciler returns or throws; and the types around it: its
 * context, its result, and its outcome. A failure is an outcome and not an error of the stream, because it is normal while the
 * objects that a key depends on are not ready.
 */
import { isObservable, type Observable, type Subscription } from 'rxjs';
import { isThenable } from '../rx/is-thenable.ts';

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
      /** In milliseconds. NaN, `Infinity`, or a value that is not a number, is a `TypeError`, with which the key is given up. */
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

/** The reconciler returned a result or failed. */
export type Settled = { readonly result: ReconcileResult } | { readonly error: unknown };
/** How a run ended. It is `aborted` if its Observable was unsubscribed before it ended. */
export type RunEnd = Settled | { readonly aborted: true };

/** Receives the end of a run: of the reconciler, or of its Observable if that was unsubscribed. */
export interface RunHost<R> {
  settle(run: R, end: RunEnd): void;
}

/** A run in progress. */
export class ReconcileRun<K> {
  readonly key: K;
  readonly attempt: number;
  readonly queuedMs: number;
  /** When it began, on the stopwatch of its workers. */
  readonly startMs: number;
  #following: Subscription | undefined;
  /** Absent once the run has ended. */
  #host: RunHost<this> | undefined;
  #controller: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;
  #stopped = false;

  constructor(key: K, attempt: number, queuedMs: number, startMs: number) {
    this.key = key;
    this.attempt = attempt;
    this.queuedMs = queuedMs;
    this.startMs = startMs;
  }

  /** Created when it is first read, because most reconcilers never read their signal. */
  get controller(): AbortController {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller;
  }

  get ended(): boolean {
    return this.#host === undefined;
  }

  /** Calls `settle` once. */
  start(by: { reconcile(run: unknown): ReturnType<Reconcile<K>> }, host: RunHost<this>): void {
    this.#host = host;
    let returned: ReturnType<Reconcile<K>>;
    try {
      returned = by.reconcile(this);
    } catch (error) {
      return this.#end({ error });
    }
    if (isObservable(returned)) return this.#follow(returned);
    if (isThenable<ReconcileResult>(returned)) {
      // The thenable of another library may throw, or call back synchronously. Promise.resolve() prevents that, except for a native Promise.
      try {
        Promise.resolve(returned).then(
          (result) => this.#end({ result }),
          (error: unknown) => this.#end({ error }),
        );
      } catch (error) {
        this.#end({ error });
      }
    } else this.#end({ result: returned });
  }

  /** Aborts the signal. */
  abort(reason?: unknown): void {
    this.#aborted ??= { reason };
    this.#controller?.abort(reason);
  }

  /** Also unsubscribes an Observable. A Promise cannot be cancelled, so its key stays in progress until it settles. */
  stop(reason?: unknown): void {
    this.abort(reason);
    this.#stopped = true;
    this.#following?.unsubscribe();
  }

  #follow(returned: Observable<ReconcileResult>): void {
    // The run was stopped during the call, so the work must not begin.
    if (this.#stopped) return this.#end({ aborted: true });
    let last: ReconcileResult;
    let ended: RunEnd = { aborted: true };
    const following = returned.subscribe({
      next: (result) => {
        last = result;
      },
      error: (error: unknown) => {
        ended = { error };
      },
      complete: () => {
        ended = { result: last };
      },
    });
    this.#following = following;
    // The subscribe function of the Observable may have stopped the run.
    if (this.#stopped) following.unsubscribe();
    // Added last, so that the Observable's own finalizers have released their resources before the key begins again.
    following.add(() => this.#end(ended));
  }

  #end(end: RunEnd): void {
    const host = this.#host;
    this.#host = undefined;
    host?.settle(this, end);
  }
}
