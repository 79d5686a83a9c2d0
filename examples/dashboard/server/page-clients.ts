/**
 * Counts open pages. Each page sends a request every few seconds, and is forgotten after twelve seconds without one.
 */

const FORGOTTEN_AFTER_MS = 12_000;
const MOST = 1000;

export class PageClients {
  readonly #seen = new Map<string, number>();

  saw(page: string, nowMs = Date.now()): void {
    if (this.#seen.size < MOST || this.#seen.has(page)) this.#seen.set(page, nowMs);
  }

  count(nowMs = Date.now()): number {
    for (const [page, atMs] of this.#seen) {
      if (nowMs - atMs > FORGOTTEN_AFTER_MS) this.#seen.delete(page);
    }
    return this.#seen.size;
  }
}
