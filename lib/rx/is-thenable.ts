/** What a callback of the user's answers may have to be awaited. */

/** Whether `await` would wait for it. */
export function isThenable<T = unknown>(answer: unknown): answer is PromiseLike<T> {
  return typeof (answer as { readonly then?: unknown } | null | undefined)?.then === 'function';
}
