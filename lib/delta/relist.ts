/**
 * A list under way. On an empty store its parts flow through at once: the first page paints, and nothing is held
 * twice. A later list gathers here and is handed over whole.
 */
import type { Refused } from '../decode/watch-event.ts';
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
  /** Objects that exist, as far as they were held back, in a state that was refused. */
  readonly rejected: ReadonlyMap<string, Refused>;
  /** Objects without a key, for the store to refuse. */
  readonly keyless: readonly T[];
}

/** Gathers the parts of one scope's list. */
export class RelistUnderWay<T extends KubernetesObject> {
  #held = new Map<string, T>();
  #rejected = new Map<string, Refused>();
  #keyless: T[] = [];
  #begun = false;
  #flows = false;

  /** Takes a part. What it answers goes through at once. */
  part(part: Part<T>, storeIsEmpty: () => boolean): Part<T> | undefined {
    if (!this.#begun) {
      this.#begun = true;
      this.#flows = storeIsEmpty();
    }
    // What flows is counted by the store: no second set of keys beside it.
    if (this.#flows) return part;
    this.#take(part.objects);
    for (const key of part.removed ?? []) {
      this.#held.delete(key);
      this.#rejected.delete(key);
    }
    this.#refuse(part.rejected);
    return undefined;
  }

  /** The list ended well. */
  end(delta: Replaced<T>): WholeList<T> {
    this.#take(delta.objects);
    this.#refuse(delta.rejected);
    const whole = {
      delta,
      held: this.#held,
      flowed: this.#flows,
      rejected: this.#rejected,
      keyless: this.#keyless,
    };
    this.#reset();
    return whole;
  }

  /** The list came to nothing. What flowed through stays until a whole list says otherwise; whether any did. */
  abort(): boolean {
    const flowed = this.#flows;
    this.#reset();
    return flowed;
  }

  #reset(): void {
    this.#held = new Map();
    this.#rejected = new Map();
    this.#keyless = [];
    this.#begun = false;
    this.#flows = false;
  }

  #take(objects: readonly T[]): void {
    for (const object of objects) {
      const key = keyOrNone(object);
      if (key === undefined) {
        this.#keyless.push(object);
        continue;
      }
      this.#rejected.delete(key);
      this.#held.set(key, object);
    }
  }

  /** Their new state is refused: whatever state is known stays. */
  #refuse(rejected: readonly Refused[] = []): void {
    for (const refused of rejected) {
      this.#held.delete(refused.key);
      this.#rejected.set(refused.key, refused);
    }
  }
}
