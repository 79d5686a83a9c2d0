/**
 * Resolves one pop of the queue: the waiting entries, in order, against the objects that the consumer knows and the
 * changes earlier in the pop. A list becomes one `replaced`, which says what is listed and what is missing.
 */
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Deletion, Delta, Replaced } from '../reflector/delta.ts';
import { type KnownSoFar, keyOrNone } from './known-so-far.ts';
import { isOutdatedDeletion, stateOf } from './outdated-deletions.ts';
import type { Entry } from './pending-deltas.ts';
import { unlistedKeys } from './relist.ts';

export class Resolution<T extends KubernetesObject> {
  /** The deltas to emit. */
  readonly out: Delta<T>[] = [];
  readonly #known: KnownSoFar<T>;
  readonly #onUnknownDeletion: (key: string) => void;
  /** Whether no later entry must be resolved, so that `known` need not record the changes of the current one. */
  #isLast = false;

  constructor(known: KnownSoFar<T>, onUnknownDeletion: (key: string) => void) {
    this.#known = known;
    this.#onUnknownDeletion = onUnknownDeletion;
  }

  resolve(entry: Entry<T>, isLast: boolean): void {
    this.#isLast = isLast;
    if (entry.type !== 'net') {
      this.#delta(entry);
      return;
    }
    if (entry.deleted !== undefined) this.#remove(entry.deleted, entry.fleeting);
    if (entry.deletedLater !== undefined) this.#remove(entry.deletedLater, true);
    if (entry.present !== undefined) this.#delta(entry.present);
    if (entry.refused !== undefined) this.#delta(entry.refused);
  }

  /** Delivers every object again that this pop has not changed. */
  resync(keys: Iterable<string>): void {
    for (const key of [...keys]) {
      const object = this.#known.get(key);
      if (this.#known.touched(key) || object === undefined) continue;
      this.out.push({ type: 'sync', key, object });
    }
  }

  #delta(delta: Delta<T>): void {
    if (delta.type === 'deleted') return this.#remove(delta);
    if (delta.type === 'rebalanced') {
      for (const each of delta.resolve(this.#known)) this.#delta(each);
      return;
    }
    if (delta.type === 'replaced') return this.#replace(delta);
    this.out.push(delta);
    if (!this.#isLast) this.#record(delta);
  }

  #record(delta: Exclude<Delta<T>, { type: 'deleted' | 'replaced' | 'rebalanced' }>): void {
    const known = this.#known;
    if (delta.type === 'replacing') {
      for (const object of delta.objects) {
        const key = keyOrNone(object);
        if (key !== undefined) known.set(key, object);
      }
      for (const refused of delta.refused ?? []) known.refuse(refused.key, refused);
      for (const key of delta.removed ?? []) {
        known.set(key, undefined);
        known.refuse(key, undefined);
      }
    } else if (delta.type === 'refused') known.refuse(delta.key, delta.refused);
    else if ('key' in delta) known.set(delta.key, delta.object);
  }

  #remove(delta: Deletion<T>, fleeting = false): void {
    const { key } = delta;
    const known = this.#known;
    const newest = known.get(key);
    const refused = known.refused(key);
    if (newest === undefined && refused === undefined) {
      if (!fleeting && delta.cause === undefined) this.#onUnknownDeletion(key);
      return;
    }
    if (newest !== undefined && isOutdatedDeletion(delta, stateOf(newest))) return;
    if (refused !== undefined && !isOutdatedDeletion(delta, refused)) known.refuse(key, undefined);
    known.set(key, undefined);
    const hasState = delta.object !== undefined || newest === undefined;
    this.out.push(hasState ? delta : { ...delta, object: newest });
  }

  /** Objects that were passed on in parts are not in the list again, so that the first list is processed once. */
  #replace(list: Replaced<T>): void {
    const { scope, listed = new Map<string, T>(), refused = [], flowed = false } = list;
    const known = this.#known;
    const missing: Deletion<T>[] = [];
    if (!flowed && !known.isWithin(listed)) {
      const refusedKeys = new Set(refused.map(({ key }) => key));
      const isListed = (key: string) => listed.has(key) || refusedKeys.has(key);
      for (const key of unlistedKeys(list, known, isListed)) {
        const object = known.get(key) as T;
        missing.push({ type: 'deleted', key, object, finalStateUnknown: true });
      }
    }
    for (const { key } of missing) known.set(key, undefined);
    if (!this.#isLast) {
      known.refuseListed(refused, scope, flowed);
      for (const [key, object] of listed) known.set(key, object);
    }
    this.out.push({ ...list, missing });
  }
}
