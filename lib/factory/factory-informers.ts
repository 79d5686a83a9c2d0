/** Which informers a factory has, for the stages that need more of a factory than its public interface. */
import type { InformerPool } from './informer-pool.ts';

const informersOf = /* @__PURE__ */ new WeakMap<object, InformerPool>();

/** Notes the informers of a factory. Returns the factory. */
export function noteInformers<F extends object>(factory: F, informers: InformerPool): F {
  informersOf.set(factory, informers);
  return factory;
}

/** The informers of a factory. Throws a `TypeError`, which begins with `where`, if the value is not a factory. */
export function informersOfFactory(where: string, factory: object): InformerPool {
  const informers = informersOf.get(factory);
  if (informers !== undefined) return informers;
  throw new TypeError(
    `${where}: the factory must be one that createInformerFactory, createDynamicInformerFactory or createClusters returned`,
  );
}
