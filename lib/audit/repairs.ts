/** Decides when differences cause another list. A difference that remains after a list may have another cause than a lost event. */

/** Differences by key: the state in the page, or '' if no page has the object. */
export type Differences = ReadonlyMap<string, string>;

/** The repairs of one collection. */
export class Repairs {
  #before: Differences = new Map();
  /** How many rounds in a row found nothing but differences that were there when a list was requested. */
  #futile = 0;

  /** Takes the differences of a round. Returns those that lists do not repair, if there are no others. */
  take(differed: Differences): readonly string[] {
    const keys = [...differed.keys()];
    const isKnown =
      keys.length > 0 && keys.every((key) => this.#before.get(key) === differed.get(key));
    this.#futile = isKnown ? this.#futile + 1 : 0;
    this.#before = differed;
    return isKnown ? keys : [];
  }

  /** Whether a list is due. After one without effect a replica may have lagged, so others follow, twice as late each time. */
  get isDue(): boolean {
    return this.#before.size > 0 && (this.#futile & (this.#futile - 1)) === 0;
  }
}
