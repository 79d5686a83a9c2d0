/**
 * Decides which page of the metadata an audit requests: the first one at the version of the store, or at the newest
 * version if the server no longer has that one; later ones by their continue token.
 */
import type { ApiError } from '../meta/api-error.ts';

/** The part of a list request that selects the page. */
export interface PageSelection {
  readonly resourceVersion: string;
  readonly resourceVersionMatch?: 'Exact';
  readonly continue?: string;
}

/** Whether the server would refuse a request for another version, too. */
function isDenied({ code }: ApiError): boolean {
  return code === 401 || code === 403 || code === 404 || code === 405 || code === 406;
}

/** The position of one round in the pages of a collection. */
export class PageCursor {
  #token: string | undefined;
  /** The token replaces an expired one, and no page was received with it yet. */
  #renewed = false;
  /** The server does not have the version of the store, so the newest version is requested. */
  #useNewest = false;

  reset(): void {
    this.#token = undefined;
    this.#renewed = false;
    this.#useNewest = false;
  }

  /** Returns the selection of the next page. `version` is the version of the store; '' before its first list. */
  next(version: string): PageSelection {
    if (this.#token !== undefined) return { resourceVersion: '', continue: this.#token };
    if (this.#useNewest || version === '') return { resourceVersion: '' };
    return { resourceVersion: version, resourceVersionMatch: 'Exact' };
  }

  /** Notes that a page was received. Returns whether the server repeated its continue token. */
  received(next: string | undefined): boolean {
    this.#renewed = false;
    return next !== undefined && next === this.#token;
  }

  /** Continues after the page that had this token. */
  advance(token: string): void {
    this.#token = token;
  }

  /** Chooses another selection after a failure. Returns whether there is one. */
  evade(error: ApiError): boolean {
    const token = error.isExpired ? error.status?.metadata?.continue : undefined;
    if (this.#token !== undefined && token && !this.#renewed) {
      // The server has compacted the version of the earlier pages. The new token continues at the newest version.
      this.#token = token;
      this.#renewed = true;
      return true;
    }
    const answered = error.code >= 400 && error.code < 500 && error.code !== 429;
    const unavailable = answered || error.isTooLargeResourceVersion;
    if (this.#token !== undefined || this.#useNewest || !unavailable || isDenied(error)) {
      return false;
    }
    this.#useNewest = true;
    return true;
  }
}
