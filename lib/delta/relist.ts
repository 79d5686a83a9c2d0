/**
 * Collects the parts of a list in progress. If the store has no objects of the scope, the parts are passed on as they
 * arrive, so that a page can show the first objects early and nothing is held in memory twice. The parts of a later
 * list are held back until the list is complete.
 */
import type { Refused } from '../decode/watch-event.ts';
import { inScope, isKeyOf } from '../meta/key.ts';
import type { KnownObjects } from '../meta/known-objects.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Delta, Replaced, Replacing } from '../reflector/delta.ts';
import { keyOrNone } from './known-so-far.ts';

/** The known keys that a complete list does not contain. */
export function* unlistedKeys<T extends KubernetesObject>(
  { scope, within }: Pick<Replaced<T>, 'scope' | 'within'>,
  known: Pick<KnownObjects<T>, 'keys' | 'get'>,
  isListed: (key: string) => boolean,
): Iterable<string> {
  for (const key of known.keys()) {
    if (isListed(key) || !inScope(key, scope)) continue;
    if (within?.contains(known.get(key) as T) !== false) yield key;
  }
}

/** Whether no object of a scope is known yet. */
export function isEmptyScope<T>(known: KnownObjects<T>, scope: string | undefined): boolean {
  if (known.size === 0) return true;
  for (const key of known.keys()) if (inScope(key, scope)) return false;
  return true;
}

/** Collects the parts of the list of one scope. */
export class RelistInProgress<T extends KubernetesObject> {
  #held = new Map<string, T>();
  #refused = new Map<string, Refused>();
  #keyless: T[] = [];
  #begun = false;
  #flows = false;

  /** Takes a part. Returns it if it is to be passed on; `undefined` if it is held back. */
  part(part: Replacing<T>, storeIsEmpty: () => boolean): Replacing<T> | undefined {
    if (!this.#begun) {
      this.#begun = true;
      this.#flows = storeIsEmpty();
    }
    // The store records the parts that are passed on, so they are not recorded here, too.
    if (this.#flows) return part;
    this.#take(part.objects, part.keys);
    for (const key of part.removed ?? []) {
      this.#held.delete(key);
      this.#refused.delete(key);
    }
    this.#refuse(part.refused);
    return undefined;
  }

  /**
   * Completes the list. If its parts were passed on, it contains only its own objects. Objects without a key, which the
   * store refuses, come last.
   */
  end(delta: Replaced<T>): Replaced<T> {
    this.#take(delta.objects);
    this.#refuse(delta.refused);
    const refused = [...this.#refused.values()];
    const list = {
      ...delta,
      objects: [...this.#held.values(), ...this.#keyless],
      listed: this.#held,
      // Set again, because this queue may have held back parts that an earlier queue has passed on.
      flowed: this.#flows || undefined,
      ...(refused.length === 0 ? {} : { refused }),
    };
    this.#reset();
    return list;
  }

  /**
   * Discards the list. Returns whether parts of it were passed on; those objects stay in the store until a complete
   * list does not contain them.
   */
  abort(): boolean {
    const flowed = this.#flows;
    this.#reset();
    return flowed;
  }

  #reset(): void {
    this.#held = new Map();
    this.#refused = new Map();
    this.#keyless = [];
    this.#begun = false;
    this.#flows = false;
  }

  #take(objects: readonly T[], keys: readonly string[] = []): void {
    for (let at = 0; at < objects.length; at++) {
      const object = objects[at] as T;
      const given = keys[at];
      const key = isKeyOf(given, object) ? (given as string) : keyOrNone(object);
      if (key === undefined) {
        this.#keyless.push(object);
        continue;
      }
      if (this.#refused.size > 0) this.#refused.delete(key);
      this.#held.set(key, object);
    }
  }

  /** Records objects whose new state is refused; the known states are kept. */
  #refuse(refused: readonly Refused[] = []): void {
    for (const each of refused) {
      this.#held.delete(each.key);
      this.#refused.set(each.key, each);
    }
  }
}

/** The objects of a list by key; `undefined` if no queue has made the list, or if a stage behind it has changed it. */
export function listedObjects<T>({ listed, objects }: Replaced<T>): Replaced<T>['listed'] {
  let at = 0;
  let isSame = listed?.size === objects.length;
  listed?.forEach((object) => {
    isSame &&= object === objects[at++];
  });
  return isSame ? listed : undefined;
}

/** Whether a delta is of this scope, or of none. */
export function concerns<T>(delta: Delta<T>, scope: string | undefined): boolean {
  if ('key' in delta) return inScope(delta.key, scope);
  return !('scope' in delta) || delta.scope === scope;
}
