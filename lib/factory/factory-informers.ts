/** Which informers a factory has, for the stages that need more of a factory than its public interface. */
import type { SharedInformers } from './shared-informers.ts';

const informersOf = /* @__PURE__ */ new WeakMap<object, SharedInformers>();

/** Notes the informers of a factory. Returns the factory. */
export function noteInformers<F extends object>(factory: F, informers: SharedInformers): F {
  informersOf.set(factory, informers);
  return factory;
}

/** The informers of a factory. Throws a `TypeError`, which begins with `where`, if the value is not a factory. */
export function informersOfFactory(where: string, factory: object): SharedInformers {
  const informers = informersOf.get(factory);
  if (informers !== undefined) return informers;
  throw new TypeError(
    `${where}: the factory must be one that createInformerFactory or createDynamicInformerFactory returned`,
  );
}
