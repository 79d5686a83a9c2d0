/**
 * What the server held at each of its latest versions, as a count and a fingerprint: so a page can be compared
 * with the truth of the very version that it shows, while the cluster goes on.
 */
import type { Stored } from 'rx-informer';
import type { Pod } from 'rx-informer/resources';
import { versionHash, withHash, withoutHash } from '../shared/fingerprint.ts';
import type { Truth } from '../shared/messages.ts';

interface Page {
  readonly version: number;
  readonly count: number;
  readonly fingerprint: number;
}

const KEPT = 50_000;

function hashOf(pod: Stored<Pod>): number {
  return versionHash(pod.metadata.uid, pod.metadata.resourceVersion);
}

/** The books of the embedded server. Its versions are small, so that numbers can hold them. */
export class Ledger {
  #pages: Page[] = [{ version: 0, count: 0, fingerprint: 0 }];
  #changes = 0;

  /** Changes so far. */
  get changes(): number {
    return this.#changes;
  }

  /** Pods now. */
  get count(): number {
    return this.#pages.at(-1)?.count ?? 0;
  }

  /** One pod took the place of another; either may be missing. `version` is that of the change. */
  record(before: Stored<Pod> | undefined, after: Stored<Pod> | undefined, version: string): void {
    let { count, fingerprint } = this.#pages.at(-1) ?? { count: 0, fingerprint: 0 };
    if (before !== undefined) {
      count--;
      fingerprint = withoutHash(fingerprint, hashOf(before));
    }
    if (after !== undefined) {
      count++;
      fingerprint = withHash(fingerprint, hashOf(after));
    }
    this.#changes++;
    this.#pages.push({ version: Number(version), count, fingerprint });
    if (this.#pages.length > KEPT * 2) this.#pages = this.#pages.slice(-KEPT);
  }

  /** What the server held at a version. */
  truth(resourceVersion: string): Truth {
    const version = Number(resourceVersion);
    let low = 0;
    let high = this.#pages.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#pages[middle]?.version ?? 0) <= version) low = middle;
      else high = middle - 1;
    }
    const { count = 0, fingerprint = 0 } = this.#pages[low] ?? {};
    const newest = this.#pages.at(-1);
    // Changes that undo each other leave nothing to catch up with.
    const isSame = newest?.count === count && newest.fingerprint === fingerprint;
    const ahead = isSame ? 0 : this.#pages.length - 1 - low;
    return { count, fingerprint, ahead, resourceVersion: String(newest?.version ?? 0) };
  }
}
