/** The waits between the requests of an audit. */

/**
 * BETWEEN is the fraction of the period from the beginning of one round to the beginning of the next, SPREAD the
 * fraction over which a round spreads its pages. An event that is lost after its page was compared is found by the next
 * round. The sum is below 1, so that the next round ends within one period and leaves time for the repairing list.
 */
const BETWEEN = 0.7;
const SPREAD = 0.1;
/** The shortest wait between two pages. */
const GAP_MS = 50;

/** The waits of an audit, in milliseconds. */
export class AuditSchedule {
  /** From the beginning of a round to the beginning of the next, in milliseconds. */
  readonly betweenMs: number;
  readonly #spreadMs: number;
  #failures = 0;

  constructor(periodMs: number) {
    this.betweenMs = periodMs * BETWEEN;
    this.#spreadMs = periodMs * SPREAD;
  }

  /**
   * From a list to the next round. The wait is random, so that informers that were started together do not audit
   * together. After a repairing list the full time passes.
   */
  afterList(repairs: boolean, random: number): number {
    return this.betweenMs * (repairs ? 1 : 0.5 + random / 2);
  }

  /** From the end of a round that began `agoMs` ago to the next round. */
  afterRound(agoMs: number): number {
    return Math.max(GAP_MS, this.betweenMs - agoMs);
  }

  /** To the next page of a round that began `agoMs` ago and has `pagesLeft` more pages. */
  afterPage(agoMs: number, pagesLeft: number): number {
    return Math.max(GAP_MS, (this.#spreadMs - agoMs) / Math.max(1, pagesLeft));
  }

  /** To the next try after a failure. Doubles with each failure, up to the time between two rounds. */
  afterFailure(): number {
    this.#failures++;
    const delayMs = (this.#spreadMs / 10) * 2 ** Math.min(this.#failures, 10);
    return Math.min(this.betweenMs, delayMs);
  }

  /** Resets the wait after failures, because a request succeeded. */
  succeeded(): void {
    this.#failures = 0;
  }
}
