/** What is known while the queue is resolved: what has passed through, and what stands before in the same pop. */
import { metaNamespaceKeyFunc } from '../meta/key.ts';
import type { KnownObjects } from '../meta/known-objects.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Delta } from '../reflector/delta.ts';

/** `undefined` for an object without a name: it goes on to the store, which refuses and reports it. */
export function keyOrNone(object: KubernetesObject): string | undefined {
  return object.metadata?.name ? metaNamespaceKeyFunc(object) : undefined;
}

/** Knows what has passed through: what the operator resolves against when it stands alone. */
export class OwnKnownObjects<T extends KubernetesObject> implements KnownObjects<T> {
  readonly #objects = new Map<string, T>();

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  keys(): Iterable<string> {
    return this.#objects.keys();
  }

  apply(deltas: readonly Delta<T>[]): void {
    for (const delta of deltas) {
      if (delta.type === 'deleted') this.#objects.delete(delta.key);
      else if ('key' in delta) this.#objects.set(delta.key, delta.object);
      else if (delta.type === 'replacing' || delta.type === 'replaced') {
        for (const object of delta.objects) {
          const key = keyOrNone(object);
          if (key !== undefined) this.#objects.set(key, object);
        }
        if (delta.type !== 'replacing') continue;
        for (const key of delta.removed ?? []) this.#objects.delete(key);
      }
    }
  }
}

/** What is known when a pop is resolved: the consumer's objects, and on top what stands before in the queue. */
export class Overlay<T> {
  readonly #known: KnownObjects<T>;
  readonly #over = new Map<string, T | undefined>();

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

  touched(key: string): boolean {
    return this.#over.has(key);
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
