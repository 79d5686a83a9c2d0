/**
 * The places of a session in the history of its scope: those that it stood at, with the way back to them, so that a
 * watch can resume; and what was shown, to recognize a list that is older.
 */
import { isOlder } from '../../meta/resource-version.ts';

/** The place of a session in the history of its scope: that of the last `_meta` record. */
export interface Place {
  readonly sequence: number;
  readonly epoch: string;
  readonly writer: string;
  readonly resourceVersion: string;
  readonly heartbeatMs: number;
}

/** The way back to an earlier place. */
export interface Step {
  readonly place: Place;
  /** What the reader had under the keys that changed since. */
  readonly before: readonly (readonly [key: string, state: string | undefined])[];
}

/** How many places are remembered, and how many changes between them. */
const MOST_STEPS = 128;
const MOST_CHANGES = 2_000;

export class PastPlaces {
  /** The newest at the end. */
  #steps: Step[] = [];
  #changes = 0;

  remember(step: Step): void {
    this.#steps.push(step);
    this.#changes += step.before.length;
    while (this.#steps.length > MOST_STEPS || this.#changes > MOST_CHANGES) {
      this.#changes -= this.#steps.shift()?.before.length ?? 0;
    }
  }

  /** The steps back to a version, the newest first; `undefined` if the version is not remembered. */
  wayBack(resourceVersion: string): Step[] | undefined {
    const at = this.#steps.findIndex(({ place }) => place.resourceVersion === resourceVersion);
    return at === -1 ? undefined : this.#steps.slice(at).reverse();
  }

  clear(): void {
    this.#steps = [];
    this.#changes = 0;
  }
}

/** How many past epochs and writers are known. */
const MOST = 64;

function kept(known: readonly string[], added: string): readonly string[] {
  return [...known.filter((each) => each !== added).slice(1 - MOST), added];
}

/** The epochs and the version that a reader has shown. */
export class ShownHistory {
  /** The epochs, the current one at the end. */
  #epochs: readonly string[] = [];
  #writers: readonly string[] = [];
  /** The newest version of the current epoch. */
  #newest = '';

  /**
   * Why a list must not be shown, if so: it belongs to a history that is over, or is older than what was shown. That
   * is so after the store was restored from a copy, until a publisher has repaired it. A publisher that does not know
   * the later epochs continues the one in the copy; the list then has a writer that was never shown.
   */
  outdated({ epoch, writer, resourceVersion }: Place): string | undefined {
    const isCurrent = epoch === this.#epochs.at(-1);
    const isKnown = this.#epochs.includes(epoch);
    const isOver = isKnown && !isCurrent && this.#writers.includes(writer);
    const isBack = isKnown && isOlder(resourceVersion, this.#newest);
    if (!isOver && !isBack) return undefined;
    return `the bucket is at version ${resourceVersion} of an epoch whose later state was shown; the store was restored from a copy, and its publisher has not repaired it yet; look at the publisher`;
  }

  /** Notes a place whose events were shown. */
  shown({ epoch, writer, resourceVersion }: Place): void {
    const isNew = epoch !== this.#epochs.at(-1);
    if (isNew) this.#epochs = kept(this.#epochs, epoch);
    if (writer !== this.#writers.at(-1)) this.#writers = kept(this.#writers, writer);
    if (isNew || isOlder(this.#newest, resourceVersion)) this.#newest = resourceVersion;
  }
}
