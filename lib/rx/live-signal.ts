/** Abort signals that ask whether their time is over each time they are read. */

/**
 * Makes the signal of `controller` ask `isOver` each time it is read. Returns the same signal. A timer alone would be late in a
 * process that was stopped or busy: the code that runs first may send a write. Call it once per controller.
 */
export function liveSignal(
  controller: AbortController,
  isOver: () => Error | undefined,
): AbortSignal {
  const { signal } = controller;
  const isAborted = () => Reflect.get(AbortSignal.prototype, 'aborted', signal) as boolean;
  const aborted = () => {
    if (isAborted()) return true;
    const reason = isOver();
    if (reason !== undefined) controller.abort(reason);
    return isAborted();
  };
  Object.defineProperties(signal, {
    aborted: { get: aborted },
    throwIfAborted: {
      value: () => {
        if (aborted()) throw signal.reason;
      },
    },
  });
  return signal;
}
