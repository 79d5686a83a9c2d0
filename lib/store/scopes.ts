/** How far each scope of a store is: its version, and whether it has had its first list. */
import { inScope } from '../meta/key.ts';
import { isOlder } from '../meta/resource-version.ts';

const ALL = '';

/** Versions and sync by scope, and what they mean for the store as a whole. */
export class Scopes {
  readonly #names: readonly string[];
  readonly #versions = new Map<string, string>();
  readonly #synced = new Set<string>();

  constructor(names: readonly string[]) {
    this.#names = names.length === 0 ? [ALL] : names;
  }

  name(scope: string | undefined): string {
    return scope !== undefined && this.#names.includes(scope) ? scope : (this.#names[0] ?? ALL);
  }

  /** Deltas of single objects name no scope: their namespace tells it. */
  ofKey(key: string): string {
    if (this.#names.length === 1) return this.#names[0] ?? ALL;
    return this.#names.find((name) => inScope(key, name)) ?? this.#names[0] ?? ALL;
  }

  move(name: string, version: string, back = false): void {
    const at = this.#versions.get(name) ?? '';
    if (version === '' || (!back && isOlder(version, at))) return;
    this.#versions.set(name, version);
  }

  sync(name: string): void {
    this.#synced.add(name);
  }

  isSynced(scope: string | undefined): boolean {
    return this.#synced.has(this.name(scope));
  }

  get synced(): boolean {
    return this.#names.every((name) => this.#synced.has(name));
  }

  /** The oldest: what is older than this has been seen in every scope. */
  get resourceVersion(): string {
    let oldest: string | undefined;
    for (const name of this.#names) {
      const version = this.#versions.get(name) ?? '';
      if (oldest === undefined || version === '' || isOlder(version, oldest)) oldest = version;
    }
    return oldest ?? '';
  }
}
