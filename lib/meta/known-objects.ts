/**
 * `KnownObjects`, the read interface on the objects that are already known. The store implements it. `decode/` and
 * `delta/` are upstream of the store and receive it as an argument, so that no import points downstream. client-go:
 * tools/cache/delta_fifo.go, KnownObjects.
 */

/** The identity of a refused state of an object. */
export interface RefusedState {
  readonly uid: string;
  readonly resourceVersion: string;
  /** The UID of the object's controller, '' without one; absent if that is not known. */
  readonly controllerUid?: string | undefined;
}

/** Objects by key. Reading changes nothing. A result may be older than the event that is being processed. */
export interface KnownObjects<T> {
  get(key: string): T | undefined;
  keys(): Iterable<string>;
  readonly size: number;
  /** Keys of refused objects, if the consumer tracks them. */
  readonly refused?: {
    get(key: string): RefusedState | undefined;
    keys(): Iterable<string>;
  };
  /** The key function, if keys are not made of namespace and name. */
  readonly keyOf?: (object: T) => string;
}
