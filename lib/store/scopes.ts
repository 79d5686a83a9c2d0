/** Tracks the version of each scope of a store, and whether the first list of the scope is complete. */
import { inScope } from '../meta/key.ts';
import { isOlder } from '../meta/resource-version.ts';

const ALL = '';

/** The versions and the sync state of all scopes, and those of the complete store that follow from them. */
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

  /** The scope of a key. Deltas of single objects name no scope, so it follows from the namespace. */
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

  /** The oldest version of all scopes: every scope has received everything older than it. */
  get resourceVersion(): string {
    let oldest: string | undefined;
    for (const name of this.#names) {
      const version = this.#versions.get(name) ?? '';
      if (oldest === undefined || version === '' || isOlder(version, oldest)) oldest = version;
    }
    return oldest ?? '';
  }
}
