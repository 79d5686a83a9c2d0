/**
 * The signal of a reconcile. It aborts when its slot is lost, and asks whether the slot is still owned whenever somebody reads
 * `aborted`. A timer alone would be late in a process that was stopped: the code that runs first may send a write.
 */

/** Makes the signal of `controller` ask `isOver` each time it is read. Returns the same signal. */
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
