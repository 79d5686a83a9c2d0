/** Recognizes promises that a user's callback returned. */

/** Whether a value is a promise or another thenable. */
export function isThenable<T = unknown>(value: unknown): value is PromiseLike<T> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function';
}

/**
 * Returns what a function of the user has returned. Throws a `TypeError` if that is a Promise, which would count as true, or be
 * taken for the result.
 */
export function synchronous<V>(returned: V, what: string): V {
  if (!isThenable(returned)) return returned;
  // Its rejection must not be reported as unhandled, because the Promise is ignored.
  Promise.resolve(returned).catch(() => undefined);
  throw new TypeError(
    `${what} returned a Promise; it must return synchronously, so load what it needs before`,
  );
}
