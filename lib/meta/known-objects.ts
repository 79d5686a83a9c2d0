/**
 * The read port on what is already known. The store satisfies it; `decode/` and `delta/`, which stand
 * upstream of the store, are given it, so that no import points downstream.
 * client-go: tools/cache/delta_fifo.go, KnownObjects.
 */

/** What is known of a state that was refused. */
export interface RefusedState {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Objects by key. Reading never changes anything; an answer may be older than the event at hand. */
export interface KnownObjects<T> {
  get(key: string): T | undefined;
  keys(): Iterable<string>;
  readonly size: number;
  /** Keys that exist, but in a state that was refused; where the consumer knows of them. */
  readonly refused?: {
    get(key: string): RefusedState | undefined;
    keys(): Iterable<string>;
  };
  /** How keys are made, where not of namespace and name. */
  readonly keyOf?: (object: T) => string;
}
