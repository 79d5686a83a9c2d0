/** When an audit asks for what. */

/**
 * The part of the period between the beginnings of two rounds, and the part of it over which a round spreads its pages.
 * An event that is lost behind a page is found by the next round. That has ended, and there is time left for the list
 * that heals, within one period.
 */
const BETWEEN = 0.7;
const SPREAD = 0.1;
/** The least wait between two pages. */
const GAP_MS = 50;

/** The waits of an audit, in milliseconds. */
export class AuditSchedule {
  /** From the beginning of a round to that of the next. */
  readonly betweenMs: number;
  readonly #spreadMs: number;
  #failures = 0;

  constructor(periodMs: number) {
    this.betweenMs = periodMs * BETWEEN;
    this.#spreadMs = periodMs * SPREAD;
  }

  /**
   * From a list to the next round. Informers that began together should not audit together; but after a list that heals
   * the full time passes.
   */
  afterList(heals: boolean, random: number): number {
    return this.betweenMs * (heals ? 1 : 0.5 + random / 2);
  }

  /** From a round that began `agoMs` ago to the next. */
  afterRound(agoMs: number): number {
    return Math.max(GAP_MS, this.betweenMs - agoMs);
  }

  /** To the next page of a round that began `agoMs` ago, of which so many pages are left. */
  afterPage(agoMs: number, pagesLeft: number): number {
    return Math.max(GAP_MS, (this.#spreadMs - agoMs) / Math.max(1, pagesLeft));
  }

  /** To the next try after one more failure: doubled each time, up to the time between two rounds. */
  afterFailure(): number {
    this.#failures++;
    const delayMs = (this.#spreadMs / 10) * 2 ** Math.min(this.#failures, 10);
    return Math.min(this.betweenMs, delayMs);
  }

  /** A request succeeded. */
  succeeded(): void {
    this.#failures = 0;
  }
}
