/**
 * The pages of metadata that an audit requests. `PageCursor` decides which one is next: the first one at the version
 * of the store, or at the newest version if the server no longer has that one; later ones by their continue token.
 * `auditPage` requests a page and reads it completely.
 */
import { defer, Observable, type SchedulerLike } from 'rxjs';
import type { PartialObjectMetadata } from '../decode/projection.ts';
import type { ListMeta, ListPart } from '../decode/watch-event.ts';
import type { ListerWatcher, ListRequest, RequestTurn } from '../list-watch/lister-watcher.ts';
import { validatedPart } from '../list-watch/validate-response.ts';
import { ApiError } from '../meta/api-error.ts';
import { metaNamespaceKeyFunc } from '../meta/key.ts';
import { uidOf, versionOf } from '../meta/kubernetes-object.ts';
import { isResourceVersion } from '../meta/resource-version.ts';
import { idleTimeout } from '../rx/idle-timeout.ts';
import type { AuditedPage, AuditedState } from './round.ts';

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

/** The method of a {@link ListerWatcher} that an audit needs. */
export type MetadataLister = NonNullable<ListerWatcher<unknown>['listMetadata']>;

/** A page that was read completely. */
export interface ReceivedPage {
  readonly objects: AuditedPage;
  readonly resourceVersion: string;
  /** The token of the next page. */
  readonly next: string | undefined;
}

type Read = ListPart<PartialObjectMetadata> | { readonly turn: RequestTurn };

/**
 * Requests one page. Emits the page and completes. Errors with an {@link ApiError} if the request fails, if nothing is
 * received for `timeoutMs` milliseconds, or if the page has no version that can be compared. Unsubscribing aborts the
 * request.
 */
export function auditPage(
  listMetadata: MetadataLister,
  request: ListRequest<PartialObjectMetadata>,
  options: { readonly scheduler: SchedulerLike; readonly timeoutMs: number },
): Observable<ReceivedPage> {
  const read = new Observable<Read>((parts) =>
    defer(() => listMetadata({ ...request, onTurn: (turn) => parts.next({ turn }) })).subscribe(
      parts,
    ),
  ).pipe(
    idleTimeout<Read>({
      scheduler: options.scheduler,
      limitMs: () => options.timeoutMs,
      waitingMs: () => undefined,
      pauseLimitMs: Number.POSITIVE_INFINITY,
      isQueued: (part) => 'turn' in part && part.turn === 'queued',
      error: (_, idleMs) =>
        ApiError.local('Silent', `the server sent nothing for ${Math.round(idleMs / 1000)} s`),
    }),
  );
  return new Observable<ReceivedPage>((subscriber) => {
    const objects = new Map<string, AuditedState>();
    let meta: ListMeta | undefined;
    return read.subscribe({
      next: (part) => {
        if ('turn' in part) return;
        try {
          const { items, metadata } = validatedPart(part);
          for (const item of items) {
            const state = { uid: uidOf(item), resourceVersion: versionOf(item) };
            objects.set(metaNamespaceKeyFunc(item), state);
          }
          meta = metadata ?? meta;
        } catch (error) {
          subscriber.error(ApiError.from(error, 'the audit'));
        }
      },
      error: (error) => subscriber.error(ApiError.from(error, 'the audit')),
      complete: () => {
        const { resourceVersion = '', continue: next } = meta ?? {};
        if (isResourceVersion(resourceVersion)) {
          subscriber.next({ objects, resourceVersion, next });
          subscriber.complete();
          return;
        }
        const message = 'the audit: a page has no version that can be compared with the store';
        subscriber.error(ApiError.local('Unexpected', message));
      },
    });
  });
}
