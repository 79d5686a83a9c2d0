/** A loop over the rows of a view, which skips the rows that it was too slow for. */
import type { Observable } from 'rxjs';

/** The parts of a view that the loop uses. */
export interface LatestParts<V> {
  /** Calls the listener after each change, until the returned function is called. */
  subscribe(listener: () => void): () => void;
  read(): V;
  /** Completes or errors as the source does. */
  end(): Observable<never>;
}

/** Yields the latest value each time the loop continues, once it is another one. Begins with the first `next()`. */
export function latestOf<V>(parts: LatestParts<V>): AsyncIterableIterator<V> {
  const left = new AbortController();
  const latest = generate(parts, left.signal);
  return {
    next: () => latest.next(),
    // A waiting generator would return only after the next value.
    return: () => {
      left.abort();
      return latest.return(undefined);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* generate<V>(
  parts: LatestParts<V>,
  left: AbortSignal,
): AsyncGenerator<V, undefined> {
  let hasNews = true;
  let hasEnded = false;
  let latest: { readonly value: V } | undefined;
  let wake: (() => void) | undefined;
  let failure: { readonly error: unknown } | undefined;
  left.addEventListener('abort', () => wake?.());
  const leave = parts.subscribe(() => {
    hasNews = true;
    wake?.();
  });
  const end = () => {
    hasEnded = true;
    wake?.();
  };
  const subscription = parts.end().subscribe({
    error: (error) => {
      failure = { error };
      end();
    },
    complete: end,
  });
  try {
    while (!left.aborted && (hasNews || !hasEnded)) {
      if (!hasNews) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        wake = undefined;
        continue;
      }
      hasNews = false;
      const now = parts.read();
      if (latest?.value === now) continue;
      latest = { value: now };
      yield now;
    }
  } finally {
    subscription.unsubscribe();
    leave();
  }
  if (failure !== undefined) throw failure.error;
  return undefined;
}
