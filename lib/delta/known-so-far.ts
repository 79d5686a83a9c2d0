/** The objects that are known while a pop is resolved: those that the consumer has, and the changes earlier in the same pop. */
import type { Refused } from '../decode/watch-event.ts';
import { inScope, metaNamespaceKeyFunc } from '../meta/key.ts';
import type { KnownObjects, RefusedState } from '../meta/known-objects.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';

/** The key, or `undefined` if the object has no name. Such an object is passed on; the store refuses and reports it. */
export function keyOrNone(object: KubernetesObject): string | undefined {
  return object.metadata?.name ? metaNamespaceKeyFunc(object) : undefined;
}

/** The consumer's objects, with the changes earlier in the same pop laid over them. */
export class KnownSoFar<T> {
  readonly #known: KnownObjects<T>;
  readonly #over = new Map<string, T | undefined>();
  /** `undefined` means no longer refused. */
  readonly #refused = new Map<string, RefusedState | undefined>();

  constructor(known: KnownObjects<T>) {
    this.#known = known;
  }

  get(key: string): T | undefined {
    if (this.#over.size === 0) return this.#known.get(key);
    return this.#over.has(key) ? this.#over.get(key) : this.#known.get(key);
  }

  set(key: string, object: T | undefined): void {
    this.#over.set(key, object);
  }

  /** The state of the object that was refused last; `undefined` if it is not refused any more. */
  refused(key: string): RefusedState | undefined {
    return this.#refused.has(key) ? this.#refused.get(key) : this.#known.refused?.get(key);
  }

  /** The keys that are or were refused. */
  refusedKeys(): readonly string[] {
    return [...this.#refused.keys(), ...(this.#known.refused?.keys() ?? [])];
  }

  refuse(key: string, state: RefusedState | undefined): void {
    this.#refused.set(key, state);
  }

  /**
   * Replaces the refused states of a scope by those of a complete list. If the parts of the list were passed on before
   * (`flowed`), they have done so already, and only the new states are added.
   */
  refuseListed(refused: readonly Refused[], scope: string | undefined, flowed: boolean): void {
    for (const key of flowed ? [] : this.refusedKeys())
      if (inScope(key, scope)) this.#refused.set(key, undefined);
    for (const each of refused) this.#refused.set(each.key, each);
  }

  /** Whether this pop has changed the key. */
  touched(key: string): boolean {
    return this.#over.has(key) || this.#refused.get(key) !== undefined;
  }

  /** Whether all known objects are listed. Counts them, because reading all keys would allocate for each. */
  isWithin(listed: ReadonlyMap<string, T>): boolean {
    if (this.#over.size > 0) return false;
    let found = 0;
    listed.forEach((_object, key) => {
      if (this.#known.get(key) !== undefined) found++;
    });
    return found === this.#known.size;
  }

  keys(): Iterable<string> {
    return this.#over.size === 0 ? this.#known.keys() : this.#keys();
  }

  *#keys(): Iterable<string> {
    for (const key of this.#known.keys()) if (this.get(key) !== undefined) yield key;
    for (const [key, object] of this.#over) {
      if (object !== undefined && this.#known.get(key) === undefined) yield key;
    }
  }
}
