/**
 * Records the state of the server at each recent version, as a count and a fingerprint. So a page can be compared
 * with the server at the version that the page shows, although the cluster has changed since.
 */
import type { Pod } from 'rx-informer/resources';
import type { ServerChange, ServerObject } from 'rx-informer/testing';
import { versionHash, withHash, withoutHash } from '../shared/fingerprint.ts';
import type { Truth } from '../shared/messages.ts';

interface Entry {
  readonly version: number;
  readonly count: number;
  readonly fingerprint: number;
}

const KEPT = 10_000;

function hashOf(pod: ServerObject<Pod>): number {
  return versionHash(pod.metadata.uid, pod.metadata.resourceVersion);
}

/** The ledger of the embedded server. Its versions are small enough for numbers. */
export class Ledger {
  #entries: Entry[] = [{ version: 0, count: 0, fingerprint: 0 }];
  #changes = 0;

  get changes(): number {
    return this.#changes;
  }

  get count(): number {
    return this.#entries.at(-1)?.count ?? 0;
  }

  record({ before, after, resourceVersion }: ServerChange<Pod>): void {
    let { count, fingerprint } = this.#entries.at(-1) ?? { count: 0, fingerprint: 0 };
    if (before !== undefined) {
      count--;
      fingerprint = withoutHash(fingerprint, hashOf(before));
    }
    if (after !== undefined) {
      count++;
      fingerprint = withHash(fingerprint, hashOf(after));
    }
    this.#changes++;
    this.#entries.push({ version: Number(resourceVersion), count, fingerprint });
    if (this.#entries.length > KEPT * 2) this.#entries = this.#entries.slice(-KEPT);
  }

  truth(resourceVersion: string): Truth {
    const version = Number(resourceVersion);
    let low = 0;
    let high = this.#entries.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#entries[middle]?.version ?? 0) <= version) low = middle;
      else high = middle - 1;
    }
    const { count = 0, fingerprint = 0 } = this.#entries[low] ?? {};
    const newest = this.#entries.at(-1);
    // If later changes cancelled each other out, the page has nothing to catch up with.
    const isSame = newest?.count === count && newest.fingerprint === fingerprint;
    const ahead = isSame ? 0 : this.#entries.length - 1 - low;
    return { count, fingerprint, ahead, resourceVersion: String(newest?.version ?? 0) };
  }
}
