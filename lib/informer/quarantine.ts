/**
 * Objects that exist but that a transform, key or index function refused. They stay out of the store, are shown
 * with their key, and are tried again: at their next event, at a resync, at a relist.
 * client-go wedges the informer instead (kubernetes/kubernetes#57705) or skips the object in silence.
 */
import type { Skipped } from '../decode/decoding.ts';
import { ApiError } from '../meta/api-error.ts';
import { inScope } from '../meta/key.ts';
import { shownCause, shownError } from '../meta/shown-text.ts';
import type { Delta } from '../reflector/delta.ts';
import type { Rejection } from '../store/apply-deltas.ts';

interface Entry {
  readonly error: ApiError;
  /** The store refused it: no list says so, it is known only after the commit. */
  readonly byStore: boolean;
  /** Makes the object anew; throws when it is still refused. */
  retry(): unknown;
}

const SHOWN = 10;

/** Who stays out, and why. */
export class Quarantine<T> {
  readonly #entries = new Map<string, Entry>();
  /** Keys refused in the list under way, by scope. */
  readonly #refused = new Map<string | undefined, Set<string>>();
  /** Scopes whose list is under way. */
  readonly #listing = new Set<string | undefined>();

  get size(): number {
    return this.#entries.size;
  }

  /** The latest first. */
  shown(): { readonly key: string; readonly error: ApiError }[] {
    return [...this.#entries]
      .slice(-SHOWN)
      .reverse()
      .map(([key, { error }]) => ({ key, error }));
  }

  /** A decoder's refusal. Answers whether there is anything to try again. */
  skipped(skipped: Skipped): boolean {
    const { key, retry, reason } = skipped;
    if (key === undefined || retry === undefined) return false;
    this.#set(key, { error: reason, byStore: false, retry });
    return true;
  }

  /** The store's refusal. */
  rejected({ key, object, error }: Rejection<T>): void {
    const message = `${key}: ${shownError(error)}`;
    const reason = ApiError.local('Rejected', message, { cause: shownCause(error) });
    this.#set(key, { error: reason, byStore: true, retry: () => object });
  }

  /** What arrives says who is let in, who is gone, and who is refused again. */
  observe(deltas: readonly Delta<T>[]): void {
    for (const delta of deltas) {
      if ('key' in delta) this.#entries.delete(delta.key);
      else if (delta.type === 'replacing') {
        this.#begin(delta.scope);
        this.#note(delta.scope, delta.rejected);
      } else if (delta.type === 'replace-abort') this.#end(delta.scope);
      else if (delta.type === 'replaced') {
        this.#begin(delta.scope);
        this.#note(delta.scope, delta.rejected);
        const refused = this.#refused.get(delta.scope);
        this.#clear(delta.scope, (key, { byStore }) => !byStore && refused?.has(key) !== true);
        this.#end(delta.scope);
      }
    }
  }

  /** Those who are let in now, as deltas. */
  retry(): Delta<T>[] {
    const deltas: Delta<T>[] = [];
    for (const [key, entry] of [...this.#entries]) {
      try {
        deltas.push({ type: 'updated', key, object: entry.retry() as T });
      } catch (error) {
        this.#set(key, { ...entry, error: ApiError.from(error, key) });
      }
    }
    return deltas;
  }

  clear(): void {
    this.#entries.clear();
    this.#refused.clear();
    this.#listing.clear();
  }

  /** A list begins: what the store refused before is offered to it again, or is gone. */
  #begin(scope: string | undefined): void {
    if (this.#listing.has(scope)) return;
    this.#listing.add(scope);
    this.#clear(scope, (_key, { byStore }) => byStore);
  }

  #end(scope: string | undefined): void {
    this.#listing.delete(scope);
    this.#refused.delete(scope);
  }

  #clear(scope: string | undefined, test: (key: string, entry: Entry) => boolean): void {
    for (const [key, entry] of [...this.#entries]) {
      if (inScope(key, scope) && test(key, entry)) this.#entries.delete(key);
    }
  }

  #set(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }

  #note(scope: string | undefined, keys: readonly string[] | undefined): void {
    if (keys === undefined) return;
    const refused = this.#refused.get(scope) ?? new Set<string>();
    for (const key of keys) refused.add(key);
    this.#refused.set(scope, refused);
  }
}
