/** A signal of two signals, for browsers without `AbortSignal.any`: Chrome before 116, Firefox before 124, Safari before 17.4. */

/** A signal that aborts when one of two signals does, with its reason. */
export interface EitherSignal {
  readonly signal: AbortSignal;
  /** Stops listening to both. A signal that outlives its requests would otherwise keep a listener for each of them. */
  release(): void;
}

/** Returns a signal that aborts when `a` or `b` does. It has aborted already if one of them has. */
export function eitherSignal(a: AbortSignal, b: AbortSignal): EitherSignal {
  const either = new AbortController();
  const listeners = [a, b].map((signal) => {
    const abort = () => either.abort(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    return () => signal.removeEventListener('abort', abort);
  });
  return {
    signal: either.signal,
    release: () => {
      for (const remove of listeners) remove();
    },
  };
}
