/** How a factory ends an informer that it removes, for which the public interface has no method. */

const removals = /* @__PURE__ */ new WeakMap<object, () => Promise<void>>();

/** The part of an informer that ends it. */
interface Stoppable {
  stop(): Promise<void>;
}

/** Notes how the informer ends when it is removed. Returns the informer. */
export function noteRemoval<I extends Stoppable>(informer: I, remove: () => Promise<void>): I {
  removals.set(informer, remove);
  return informer;
}

/** Stops the informer and completes its streams, also those of the status and the metrics. */
export function removeInformer(informer: Stoppable): Promise<void> {
  return removals.get(informer)?.() ?? informer.stop();
}
