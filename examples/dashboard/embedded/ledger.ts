/**
 * Records the state of the server at each recent version, as a count and a fingerprint. So a page can be compared
 * with the server at the version that the page shows, although the cluster has changed since.
 */
import type { Pod } from 'rx-informer/resources';
import type { ServerChange } from 'rx-informer/testing';
import { type Fingerprint, fingerprintAfter, NO_PODS } from '../shared/fingerprint.ts';
import type { Truth } from '../shared/messages.ts';

interface Entry extends Fingerprint {
  readonly version: number;
}

const KEPT = 10_000;

/** The ledger of the embedded server. Its versions are small enough for numbers. */
export class Ledger {
  #entries: Entry[] = [{ version: 0, ...NO_PODS }];
  #changes = 0;

  get changes(): number {
    return this.#changes;
  }

  get count(): number {
    return this.#entries.at(-1)?.count ?? 0;
  }

  record({ before, after, resourceVersion }: ServerChange<Pod>): void {
    const now = fingerprintAfter(this.#entries.at(-1) ?? NO_PODS, before, after);
    this.#changes++;
    this.#entries.push({ version: Number(resourceVersion), ...now });
    if (this.#entries.length > KEPT * 2) this.#entries = this.#entries.slice(-KEPT);
  }

  truth(resourceVersion: string): Truth {
    const version = Number(resourceVersion);
    const low = Math.max(
      0,
      this.#entries.findLastIndex((entry) => entry.version <= version),
    );
    const { count, fingerprint } = this.#entries[low] ?? NO_PODS;
    const newest = this.#entries.at(-1);
    // If later changes cancelled each other out, the page has nothing to catch up with.
    const isSame = newest?.count === count && newest.fingerprint === fingerprint;
    const ahead = isSame ? 0 : this.#entries.length - 1 - low;
    return { count, fingerprint, ahead, resourceVersion: String(newest?.version ?? 0) };
  }
}
