/**
 * One comparison of a store with its server: takes pages of metadata and collects the keys that differ. Timing and
 * requests are left to `audit.ts`.
 *
 * Every page shows the collection at one version and is compared once the store has reached that version. An object
 * whose stored state is newer than the page cannot be compared. Every other stored state must equal the one in the
 * page.
 */
import { inScope } from '../meta/key.ts';
import type { KnownObjects } from '../meta/known-objects.ts';
import { type KubernetesObject, uidOf, versionOf } from '../meta/kubernetes-object.ts';
import { compareResourceVersion, isOlder } from '../meta/resource-version.ts';
import type { Differences } from './repairs.ts';

/** The state of one object, in a page or in the store. */
export interface AuditedState {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** The objects of one page, by key. */
export type AuditedPage = ReadonlyMap<string, AuditedState>;

/** The newest state of a key that the store has received: the stored one, or a newer one that was refused. */
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
  /** Keys that the store had when the first page was compared, and that no page has contained so far. */
  readonly #unseen = new Set<string>();
  /** Keys that were deleted since the round began, with the version of the deletion; '' if it is not known. */
  readonly #deletions = new Map<string, string>();
  /**
   * The oldest version of a page. A later page may be newer, if the server has compacted the version of the earlier
   * ones.
   */
  #version: string | undefined;
  readonly #differed = new Map<string, string>();
  #compared = 0;
  #ghosts = 0;
  #missing = 0;

  constructor(store: KnownObjects<T>, scope: string | undefined) {
    this.#store = store;
    this.#scope = scope;
  }

  /** How many objects of the store no page has contained yet. */
  get left(): number {
    return this.#unseen.size;
  }

  get compared(): number {
    return this.#compared;
  }

  /** How many of the keys that differ only the store has. */
  get ghosts(): number {
    return this.#ghosts;
  }

  /** How many of the keys that differ only the server has. */
  get missing(): number {
    return this.#missing;
  }

  /** The keys whose states differ. */
  get differed(): Differences {
    return this.#differed;
  }

  /** Records that an object was deleted while the round was in progress. */
  deleted(key: string, resourceVersion: string): void {
    if (!isOlder(resourceVersion, this.#deletions.get(key) ?? '')) {
      this.#deletions.set(key, resourceVersion);
    }
  }

  /** Compares a page that shows the collection at `version`, which the store has reached. */
  page(page: AuditedPage, version: string): void {
    if (this.#version === undefined) this.#begin();
    if (this.#version === undefined || isOlder(version, this.#version)) this.#version = version;
    for (const [key, state] of page) {
      this.#unseen.delete(key);
      this.#compared++;
      if (!this.#differs(key, state, version)) continue;
      if (!this.#differed.has(key) && stateOf(this.#store, key) === undefined) this.#missing++;
      this.#differed.set(key, `${state.uid}/${state.resourceVersion}`);
    }
  }

  /** Ends the round after the last page: objects that no page has contained are missing on the server. */
  finish(): void {
    for (const key of this.#unseen) {
      const known = stateOf(this.#store, key);
      if (known === undefined) continue;
      this.#compared++;
      if (!this.#wasKnownAt(known, this.#version ?? '')) continue;
      this.#differed.set(key, '');
      this.#ghosts++;
    }
    this.#unseen.clear();
  }

  /** Collects the keys of the store, which has reached the version of the first page by now. */
  #begin(): void {
    for (const keys of [this.#store.keys(), this.#store.refused?.keys() ?? []]) {
      for (const key of keys) if (inScope(key, this.#scope)) this.#unseen.add(key);
    }
  }

  #differs(key: string, state: AuditedState, version: string): boolean {
    const known = stateOf(this.#store, key);
    if (known === undefined) {
      const deletion = this.#deletions.get(key);
      // No difference if the object was deleted after the state in the page. A deletion before that state means that
      // the store never received the object that was created afterwards.
      return deletion === undefined || isOlder(deletion, state.resourceVersion);
    }
    const same = known.resourceVersion === state.resourceVersion && known.uid === state.uid;
    return !same && this.#wasKnownAt(known, version);
  }

  /** Whether the store's state existed at `version`. False if the versions cannot be compared. */
  #wasKnownAt(known: AuditedState, version: string): boolean {
    const order = compareResourceVersion(known.resourceVersion, version);
    return order !== undefined && order <= 0;
  }
}
