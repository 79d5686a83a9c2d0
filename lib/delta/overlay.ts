/** What is known while the queue is resolved: what has passed through, and what stands before in the same pop. */
import { inScope, metaNamespaceKeyFunc } from '../meta/key.ts';
import type { KnownObjects, RefusedState } from '../meta/known-objects.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Delta } from '../reflector/delta.ts';

/** `undefined` for an object without a name: it goes on to the store, which refuses and reports it. */
export function keyOrNone(object: KubernetesObject): string | undefined {
  return object.metadata?.name ? metaNamespaceKeyFunc(object) : undefined;
}

/** Knows what has passed through: what the operator resolves against when it stands alone. */
export class OwnKnownObjects<T extends KubernetesObject> implements KnownObjects<T> {
  readonly #objects = new Map<string, T>();
  readonly refused: Map<string, RefusedState> = new Map<string, RefusedState>();

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
      switch (delta.type) {
        case 'deleted':
          this.#objects.delete(delta.key);
          this.refused.delete(delta.key);
          break;
        case 'refused':
          this.refused.set(delta.key, delta.refused);
          break;
        case 'added':
        case 'updated':
        case 'sync':
          this.#has(delta.key, delta.object);
          break;
        case 'replacing':
        case 'replaced':
          this.#listed(delta);
      }
    }
  }

  #has(key: string, object: T): void {
    this.#objects.set(key, object);
    this.refused.delete(key);
  }

  #listed(delta: Extract<Delta<T>, { type: 'replacing' | 'replaced' }>): void {
    if (delta.type === 'replaced' && delta.flowed !== true) {
      for (const key of this.refused.keys()) {
        if (inScope(key, delta.scope)) this.refused.delete(key);
      }
    }
    for (const object of delta.objects) {
      const key = keyOrNone(object);
      if (key !== undefined) this.#has(key, object);
    }
    for (const refused of delta.rejected ?? []) this.refused.set(refused.key, refused);
    if (delta.type !== 'replacing') return;
    for (const key of delta.removed ?? []) {
      this.#objects.delete(key);
      this.refused.delete(key);
    }
  }
}

/** What is known when a pop is resolved: the consumer's objects, and on top what stands before in the queue. */
export class Overlay<T> {
  readonly #known: KnownObjects<T>;
  readonly #over = new Map<string, T | undefined>();
  /** `undefined`: not refused any more. */
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

  /** The state in which it was refused last, unless that is over. */
  refused(key: string): RefusedState | undefined {
    return this.#refused.has(key) ? this.#refused.get(key) : this.#known.refused?.get(key);
  }

  refuse(key: string, state: RefusedState | undefined): void {
    this.#refused.set(key, state);
  }

  /** A list says who is refused in its scope, and who is not, unless its parts went through and said so before. */
  refuseListed(
    states: ReadonlyMap<string, RefusedState>,
    scope: string | undefined,
    flowed: boolean,
  ): void {
    const before = flowed ? [] : [...this.#refused.keys(), ...(this.#known.refused?.keys() ?? [])];
    for (const key of before) if (inScope(key, scope)) this.#refused.set(key, undefined);
    for (const [key, state] of states) this.#refused.set(key, state);
  }

  /** Something stands in the queue for it. */
  touched(key: string): boolean {
    return this.#over.has(key) || this.#refused.get(key) !== undefined;
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
