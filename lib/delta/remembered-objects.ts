/** `rememberedObjects`, the known objects of a queue without a store. */
import { inScope } from '../meta/key.ts';
import type { RefusedState } from '../meta/known-objects.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Delta } from '../reflector/delta.ts';
import type { QueueMemory } from './delta-queue.ts';
import { keyOrNone } from './known-so-far.ts';

class Remembered<T extends KubernetesObject> implements QueueMemory<T> {
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

  popped(deltas: readonly Delta<T>[]): void {
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
          this.#store(delta.key, delta.object);
          break;
        case 'replaced':
          for (const { key } of delta.missing ?? []) this.#objects.delete(key);
          this.#applyList(delta);
          break;
        case 'replacing':
          this.#applyList(delta);
      }
    }
  }

  #store(key: string, object: T): void {
    this.#objects.set(key, object);
    this.refused.delete(key);
  }

  #applyList(delta: Extract<Delta<T>, { type: 'replacing' | 'replaced' }>): void {
    if (delta.type === 'replaced' && delta.flowed !== true) {
      for (const key of this.refused.keys()) {
        if (inScope(key, delta.scope)) this.refused.delete(key);
      }
    }
    for (const object of delta.objects) {
      const key = keyOrNone(object);
      if (key !== undefined) this.#store(key, object);
    }
    for (const refused of delta.refused ?? []) this.refused.set(refused.key, refused);
    if (delta.type !== 'replacing') return;
    for (const key of delta.removed ?? []) {
      this.#objects.delete(key);
      this.refused.delete(key);
    }
  }
}

/**
 * Creates the known objects of one `deltaFifo` whose consumer has no store: the objects that have left the queue.
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { deltaFifo, rememberedObjects } from 'rx-informer';
 *
 * const object = { metadata: { name: 'web', uid: 'u1', resourceVersion: '5' } };
 * const known = rememberedObjects<typeof object>();
 * of([{ type: 'added', key: 'web', object } as const])
 *   .pipe(deltaFifo({ known }))
 *   .subscribe();
 * known.get('web') === object; // => true
 * ```
 */
export function rememberedObjects<T extends KubernetesObject>(): QueueMemory<T> {
  return new Remembered<T>();
}
