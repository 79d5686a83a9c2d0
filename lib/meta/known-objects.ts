/**
 * The read port on what is already known. The store satisfies it; `decode/` and `delta/`, which stand
 * upstream of the store, are given it, so that no import points downstream.
 * client-go: tools/cache/delta_fifo.go, KnownObjects.
 */

/** Objects by key. Reading never changes anything; an answer may be older than the event at hand. */
export interface KnownObjects<T> {
  get(key: string): T | undefined;
  keys(): Iterable<string>;
  readonly size: number;
  /** How keys are made, where not of namespace and name. */
  readonly keyOf?: (object: T) => string;
}
