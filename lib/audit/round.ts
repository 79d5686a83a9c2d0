/**
 * One comparison of a store with its server: pages of names and versions come in, keys that differ come out. It knows
 * neither time nor requests.
 *
 * Every page shows the collection at one version, and it is compared once the store has reached that version. A state
 * in the store that is newer than the page says nothing about the page; any other state must be the page's own.
 */
import { inScope } from '../meta/key.ts';
import type { KnownObjects } from '../meta/known-objects.ts';
import { type KubernetesObject, uidOf, versionOf } from '../meta/kubernetes-object.ts';
import { compareResourceVersion, isOlder } from '../meta/resource-version.ts';

/** What a page says of one object, or what the store knows of it. */
export interface AuditedState {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** The objects of one page, by key. */
export type AuditedPage = ReadonlyMap<string, AuditedState>;

/** The state of a key that the store knows: the stored one, or a newer one that was refused. */
function stateOf<T extends KubernetesObject>(
  store: KnownObjects<T>,
  key: string,
): AuditedState | undefined {
  const stored = store.get(key);
  const refused = store.refused?.get(key);
  if (stored === undefined) return refused;
  const resourceVersion = versionOf(stored);
  if (refused !== undefined && !isOlder(refused.resourceVersion, resourceVersion)) return refused;
  return { uid: uidOf(stored), resourceVersion };
}

/** Compares one collection once. */
export class Round<T extends KubernetesObject> {
  readonly #store: KnownObjects<T>;
  readonly #scope: string | undefined;
  /** What the store knew when the first page was compared, and no page has shown since. */
  readonly #unseen = new Set<string>();
  /** What ended since the round began, with the version of the end; '' if that is not known. */
  readonly #ends = new Map<string, string>();
  /** The oldest version of a page. A page may be newer than the one before it if the server forgot that version. */
  #version: string | undefined;
  readonly #differed: string[] = [];
  #compared = 0;

  constructor(store: KnownObjects<T>, scope: string | undefined) {
    this.#store = store;
    this.#scope = scope;
  }

  /** How many objects of the store no page has shown yet. */
  get left(): number {
    return this.#unseen.size;
  }

  get compared(): number {
    return this.#compared;
  }

  /** The keys whose states differ. */
  get differed(): readonly string[] {
    return this.#differed;
  }

  /** An object ended while the round was in progress. */
  end(key: string, resourceVersion: string): void {
    if (!isOlder(resourceVersion, this.#ends.get(key) ?? '')) this.#ends.set(key, resourceVersion);
  }

  /** Compares a page that shows the collection at `version`, which the store has reached. */
  page(page: AuditedPage, version: string): void {
    if (this.#version === undefined) this.#begin();
    if (this.#version === undefined || isOlder(version, this.#version)) this.#version = version;
    for (const [key, state] of page) {
      this.#unseen.delete(key);
      this.#compared++;
      if (this.#differs(key, state, version)) this.#differed.push(key);
    }
  }

  /** After the last page: the server does not have what no page has shown. */
  finish(): void {
    for (const key of this.#unseen) {
      const known = stateOf(this.#store, key);
      if (known === undefined) continue;
      this.#compared++;
      if (this.#wasKnownAt(known, this.#version ?? '')) this.#differed.push(key);
    }
    this.#unseen.clear();
  }

  /** By now the store has reached the version of the first page, so it knows all that there was. */
  #begin(): void {
    for (const keys of [this.#store.keys(), this.#store.refused?.keys() ?? []]) {
      for (const key of keys) if (inScope(key, this.#scope)) this.#unseen.add(key);
    }
  }

  #differs(key: string, state: AuditedState, version: string): boolean {
    const known = stateOf(this.#store, key);
    if (known === undefined) {
      const end = this.#ends.get(key);
      // Ended after the page; or ended before it, and its successor never came.
      return end === undefined || isOlder(end, state.resourceVersion);
    }
    const same = known.resourceVersion === state.resourceVersion && known.uid === state.uid;
    return !same && this.#wasKnownAt(known, version);
  }

  /** Whether the store's state was the newest at `version`; versions that cannot be compared prove nothing. */
  #wasKnownAt(known: AuditedState, version: string): boolean {
    const order = compareResourceVersion(known.resourceVersion, version);
    return order !== undefined && order <= 0;
  }
}
