/**
 * Lists a complete collection, page by page. client-go: tools/pager/pager.go.
 *
 * The first page is requested with a version. Later pages are requested with the token only, because the token
 * contains the version. If a token has expired, one complete list follows, with the version of the first request.
 */
import { defer, Observable, Subscription } from 'rxjs';
import { map } from 'rxjs/operators';
import type { ListMeta, ListPart, Refused } from '../decode/watch-event.ts';
import { ApiError } from '../meta/api-error.ts';
import type { ListerWatcher, ListRequest, RequestTurn } from './lister-watcher.ts';
import { oneAfterAnother } from './one-after-another.ts';
import { validatedPart } from './validate-response.ts';

/** More empty pages in a row than any server sends, even if it selects objects after it has formed pages. */
const MOST_EMPTY_PAGES = 10_000;

/** A signal of a list in pages. */
export type ListSignal<T> =
  /** As of a watch. */
  | { readonly kind: 'queued'; readonly reason?: string | undefined }
  | { readonly kind: 'sending'; readonly reason?: string | undefined }
  | {
      readonly kind: 'part';
      readonly items: readonly T[];
      readonly refused: readonly Refused[];
      readonly unparsed?: true | undefined;
      /** How many objects remain, if the server reports it. */
      readonly remaining?: number | undefined;
    }
  /** A token expired. All parts so far are void, and a complete list follows. */
  | { readonly kind: 'restart' }
  | {
      readonly kind: 'listed';
      /** None, because the parts contain them. */
      readonly items: readonly never[];
      readonly refused?: undefined;
      /** The version of the first page. Later pages may be newer, so a watch must not start from their versions. */
      readonly resourceVersion: string;
      /** Whether the list consisted of several pages. */
      readonly paginated: boolean;
    };

/**
 * Lists all pages, then completes. An error of the first page is the error of the list. The same holds for a later
 * page, unless its token has expired.
 *
 * ```
 * page 1   --p--m|            p: items, m: token
 * page 2         --p--m|      m: no token
 * result   --p----(p)--(l|)   l: listed, at page 1's version
 * ```
 */
export function listPages<T>(
  listerWatcher: ListerWatcher<T>,
  request: Omit<ListRequest<T>, 'onTurn'>,
): Observable<ListSignal<T>> {
  return new Observable<ListSignal<T>>((subscriber) => {
    let current = new Subscription();
    subscriber.add(() => current.unsubscribe());
    let first: ListMeta | undefined;
    let pages = 0;
    let emptyPages = 0;
    let lastToken = request.continue;
    // The error of the list if no page contains an object of the resource's kind.
    let wrongKind: ApiError | undefined;
    let hasOwn = false;
    const run = oneAfterAnother(() => !subscriber.closed);

    const finish = (resourceVersion: string, paginated: boolean) => {
      if (wrongKind !== undefined && !hasOwn) return subscriber.error(wrongKind);
      subscriber.next({ kind: 'listed', items: [], resourceVersion, paginated });
      subscriber.complete();
    };
    const emit = (part: ListPart<T>) => {
      const { items, refused = [], metadata } = part;
      wrongKind ??= part.wrongKind;
      hasOwn ||= items.length > 0 || refused.length > 0;
      if (
        items.length === 0 &&
        refused.length === 0 &&
        metadata?.remainingItemCount === undefined
      ) {
        return;
      }
      if (items.length > 0 || refused.length > 0) emptyPages = 0;
      const remaining = metadata?.remainingItemCount;
      subscriber.next({
        kind: 'part',
        items,
        refused,
        unparsed: part.unparsed,
        remaining,
      });
    };
    const onTurn = (kind: RequestTurn, reason?: string) => subscriber.next({ kind, reason });
    const ask = (asked: ListRequest<T>, onMeta: (meta: ListMeta) => void, isPage: boolean) => {
      let meta: ListMeta | undefined;
      current = new Subscription();
      current.add(
        defer(() => listerWatcher.list({ ...asked, onTurn }))
          .pipe(map(validatedPart))
          .subscribe({
            next: (part) => {
              meta = part.metadata ?? meta;
              emit(part);
            },
            error: (error) => {
              if (subscriber.closed) return;
              const failure = ApiError.from(error, 'LIST');
              if (isPage && failure.isExpired) run(fullList);
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
      const { limit: _limit, continue: _continue, ...unpaged } = request;
      ask(unpaged, (meta) => finish(meta.resourceVersion, true), false);
    };
    const nextPage = (token: string) => {
      const { resourceVersionMatch: _match, ...rest } = request;
      ask({ ...rest, resourceVersion: '', continue: token }, onPage, true);
    };
    const onPage = (meta: ListMeta) => {
      pages++;
      first ??= meta;
      const { continue: token } = meta;
      // A server in another language may send an empty token for none.
      if (!token) finish(first.resourceVersion, pages > 1);
      else if (token === lastToken || ++emptyPages > MOST_EMPTY_PAGES) {
        const what =
          token === lastToken
            ? 'returned the same continue token again'
            : `returned ${MOST_EMPTY_PAGES} empty pages`;
        const message = `LIST: the server ${what}, so the list would never end`;
        subscriber.error(ApiError.local('Unexpected', message));
      } else {
        lastToken = token;
        run(() => nextPage(token));
      }
    };
    run(() => ask(request, onPage, false));
  });
}
