/** The epochs and the version that a reader has shown, to recognize a list that is older. */
import { isOlder } from '../../meta/resource-version.ts';
import type { Place } from './past-places.ts';

/** How many past epochs and writers are known. */
const MOST = 64;

function kept(known: readonly string[], added: string): readonly string[] {
  return [...known.filter((each) => each !== added).slice(1 - MOST), added];
}

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
