/** Recognizes promises that a user's callback returned. */

/** Whether a value is a promise or another thenable. */
export function isThenable<T = unknown>(value: unknown): value is PromiseLike<T> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function';
}
