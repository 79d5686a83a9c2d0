/**
 * A list under way. On an empty store its parts flow through at once: the first page paints, and nothing is held
 * twice. A later list gathers here and is handed over whole.
 */
import { inScope } from '../meta/key.ts';
import type { KnownObjects } from '../meta/known-objects.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Delta } from '../reflector/delta.ts';
import { keyOrNone } from './overlay.ts';

type Part<T> = Extract<Delta<T>, { type: 'replacing' }>;
type Replaced<T> = Extract<Delta<T>, { type: 'replaced' }>;

/** What is known of one scope is nothing yet. */
export function isEmptyScope<T>(known: KnownObjects<T>, scope: string | undefined): boolean {
  if (known.size === 0) return true;
  for (const key of known.keys()) if (inScope(key, scope)) return false;
  return true;
}

/** The whole of a list, once it has ended. */
export interface WholeList<T> {
  readonly delta: Replaced<T>;
  /** Objects that were held back. */
  readonly held: ReadonlyMap<string, T>;
  /** Its parts went through on an empty store, so that what is known of the scope by now is of this list. */
  readonly flowed: boolean;
  readonly rejected: ReadonlySet<string>;
  /** Objects without a key, for the store to refuse. */
  readonly keyless: readonly T[];
}

/** Gathers the parts of one scope's list. */
export class RelistUnderWay<T extends KubernetesObject> {
  #held = new Map<string, T>();
  #rejected = new Set<string>();
  #keyless: T[] = [];
  #begun = false;
  #flows = false;

  /** Takes a part. What it answers goes through at once. */
  part(part: Part<T>, storeIsEmpty: () => boolean): Part<T> | undefined {
    if (!this.#begun) {
      this.#begun = true;
      this.#flows = storeIsEmpty();
    }
    for (const object of part.objects) {
      // What flows is counted by the store: no second set of keys beside it.
      if (this.#flows && this.#rejected.size === 0) continue;
      const key = keyOrNone(object);
      if (key !== undefined) this.#rejected.delete(key);
      if (this.#flows) continue;
      if (key === undefined) this.#keyless.push(object);
      else this.#held.set(key, object);
    }
    for (const key of part.removed ?? []) {
      this.#held.delete(key);
      this.#rejected.delete(key);
    }
    for (const key of part.rejected ?? []) this.#refuse(key);
    return this.#flows ? part : undefined;
  }

  /** The list ended well. */
  end(delta: Replaced<T>): WholeList<T> {
    for (const object of delta.objects) {
      const key = keyOrNone(object);
      if (key === undefined) {
        this.#keyless.push(object);
        continue;
      }
      this.#rejected.delete(key);
      this.#held.set(key, object);
    }
    for (const key of delta.rejected ?? []) this.#refuse(key);
    const whole = {
      delta,
      held: this.#held,
      flowed: this.#flows,
      rejected: this.#rejected,
      keyless: this.#keyless,
    };
    this.reset();
    return whole;
  }

  /** The list came to nothing. What flowed through stays until a whole list says otherwise. */
  reset(): void {
    this.#held = new Map();
    this.#rejected = new Set();
    this.#keyless = [];
    this.#begun = false;
    this.#flows = false;
  }

  /** Its new state is refused: whatever state is known stays. */
  #refuse(key: string): void {
    this.#held.delete(key);
    this.#rejected.add(key);
  }
}
