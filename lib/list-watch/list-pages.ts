/**
 * A whole collection, page by page. client-go: tools/pager/pager.go.
 *
 * The first page asks with a version; the pages after it carry only the token, because the token holds the
 * version. A token that has expired gives one full list instead, with the first request's version.
 */
import { defer, Observable, Subscription } from 'rxjs';
import { map } from 'rxjs/operators';
import type { ListMeta, ListPart, Refused } from '../decode/watch-event.ts';
import { ApiError } from '../meta/api-error.ts';
import type { ListerWatcher, ListRequest } from './lister-watcher.ts';
import { oneAfterAnother } from './one-after-another.ts';
import { validatedPart } from './validate-answer.ts';

/** More in a row than a server has that pages before it selects. */
const MOST_EMPTY_PAGES = 10_000;

/** How a paged list goes on. */
export type ListProgress<T> =
  | {
      readonly kind: 'part';
      readonly items: readonly T[];
      readonly rejected: readonly Refused[];
      /** Objects still to come, where the server says. */
      readonly remaining?: number;
    }
  /** A token expired: what came so far is void and a full list follows. */
  | { readonly kind: 'restart' }
  | {
      readonly kind: 'listed';
      /** Of the first page: later pages may be newer and are no version to watch from. */
      readonly resourceVersion: string;
      /** Whether it came in several pages. */
      readonly paginated: boolean;
    };

/**
 * Lists all pages, then completes. The error of a first page is the error of the list; so is any error of a
 * later one but an expired token.
 *
 * ```
 * page 1   --p--m|            p: items, m: token
 * page 2         --p--m|      m: no token
 * result   --p----(p)--(l|)   l: listed, at page 1's version
 * ```
 */
export function listPages<T>(
  listerWatcher: ListerWatcher<T>,
  request: ListRequest<T>,
): Observable<ListProgress<T>> {
  return new Observable<ListProgress<T>>((subscriber) => {
    let current = new Subscription();
    subscriber.add(() => current.unsubscribe());
    let first: ListMeta | undefined;
    let pages = 0;
    let emptyPages = 0;
    let lastToken = request.continue;
    // Of the pages, until one has an object of the kind that was asked for.
    let wrongKind: ApiError | undefined;
    let hasOwn = false;
    const go = oneAfterAnother(() => !subscriber.closed);

    const finish = (resourceVersion: string, paginated: boolean) => {
      if (wrongKind !== undefined && !hasOwn) return subscriber.error(wrongKind);
      subscriber.next({ kind: 'listed', resourceVersion, paginated });
      subscriber.complete();
    };
    const emit = (part: ListPart<T>) => {
      const { items, rejected = [], metadata } = part;
      wrongKind ??= part.wrongKind;
      hasOwn ||= items.length > 0 || rejected.length > 0;
      if (
        items.length === 0 &&
        rejected.length === 0 &&
        metadata?.remainingItemCount === undefined
      ) {
        return;
      }
      if (items.length > 0 || rejected.length > 0) emptyPages = 0;
      const remaining = metadata?.remainingItemCount;
      subscriber.next({
        kind: 'part',
        items,
        rejected,
        ...(remaining === undefined ? {} : { remaining }),
      });
    };
    const ask = (asked: ListRequest<T>, onMeta: (meta: ListMeta) => void, isPage: boolean) => {
      let meta: ListMeta | undefined;
      current = new Subscription();
      current.add(
        defer(() => listerWatcher.list(asked))
          .pipe(map(validatedPart))
          .subscribe({
            next: (part) => {
              meta = part.metadata ?? meta;
              emit(part);
            },
            error: (error) => {
              if (subscriber.closed) return;
              const failure = ApiError.from(error, 'LIST');
              if (isPage && failure.isExpired) go(fullList);
              else subscriber.error(failure);
            },
            complete: () => {
              if (subscriber.closed) return;
              if (meta !== undefined) onMeta(meta);
              else subscriber.error(ApiError.local('Malformed', 'the list ended without metadata'));
            },
          }),
      );
    };
    const fullList = () => {
      subscriber.next({ kind: 'restart' });
      [wrongKind, hasOwn] = [undefined, false];
      const { limit: _limit, continue: _continue, ...whole } = request;
      ask(whole, (meta) => finish(meta.resourceVersion, true), false);
    };
    const nextPage = (token: string) => {
      const { resourceVersionMatch: _match, ...rest } = request;
      ask({ ...rest, resourceVersion: '', continue: token }, onPage, true);
    };
    const onPage = (meta: ListMeta) => {
      pages++;
      first ??= meta;
      const { continue: token } = meta;
      if (token === undefined) finish(first.resourceVersion, pages > 1);
      else if (token === lastToken || ++emptyPages > MOST_EMPTY_PAGES) {
        const what =
          token === lastToken
            ? 'returned the same continue token again'
            : `returned ${MOST_EMPTY_PAGES} empty pages`;
        const message = `LIST: the server ${what}, so the list would never end`;
        subscriber.error(ApiError.local('Unexpected', message));
      } else {
        lastToken = token;
        go(() => nextPage(token));
      }
    };
    go(() => ask(request, onPage, false));
  });
}
