/** Sends the requests of a ListerWatcher with the selector of some ranges, and learns whether the server filters. */
import { defer, type Observable, throwError } from 'rxjs';
import { catchError, tap } from 'rxjs/operators';
import type { ListPart } from '../../decode/watch-event.ts';
import type { ListerWatcher, ListRequest } from '../../list-watch/lister-watcher.ts';
import { ApiError } from '../../meta/api-error.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { type ShardRange, shareOf } from '../../meta/shard-ranges/ranges.ts';
import {
  createShardFilter,
  type ShardFilterBy,
  shardSelector,
} from '../../meta/shard-ranges/shard-filter.ts';
import { isRefusedSelector, type ServerFilter } from './server-filter.ts';

/** If all objects are in the ranges, and the chance of that without a filter is less than this, the server filters. */
const CHANCE = 1e-9;

/** The part of a follower that its requests depend on. */
export interface Requesting {
  readonly by: ShardFilterBy;
  /** The ranges now; they may shrink while a request is in progress. */
  readonly ranges: readonly ShardRange[];
  readonly server: ServerFilter;
  /** Called when a list begins, or a watch without one. */
  onRequest(kind: 'list' | 'watch', ranges: readonly ShardRange[]): void;
}

/** Wraps `inner` so that each request selects the ranges of `of`. Audits are not supported. */
export function shardRequests<T extends KubernetesObject>(
  inner: ListerWatcher<T>,
  of: Requesting,
): ListerWatcher<T> {
  const { by, server } = of;
  /** The ranges of the list in progress. Its later pages must repeat them, because a token does not contain them. */
  let listed = of.ranges;

  const selected = <V>(
    ranges: readonly ShardRange[],
    send: (selector: { readonly shardSelector?: string }) => Observable<V>,
    objectsOf: (value: V) => readonly T[],
    isProof: (value: V) => boolean,
  ): Observable<V> => {
    if (by === 'owner' || server.refusal !== undefined) return send({});
    const filter = createShardFilter(by, ranges);
    const share = shareOf(ranges);
    let chance = 1;
    return send({ shardSelector: shardSelector(by, ranges) }).pipe(
      tap((value) => {
        if (isProof(value)) return server.note(true);
        // Lists of custom resources and of metadata do not say that they were filtered, but their objects do.
        if (server.filters === false) return;
        const objects = objectsOf(value);
        if (!objects.every(filter.contains)) return server.note(false);
        if (by === 'uid') chance *= share ** objects.length;
        if (chance < CHANCE) server.note(true);
      }),
      catchError((error: unknown) => {
        const failure = ApiError.from(error, 'the request');
        if (!isRefusedSelector(failure)) return throwError(() => error);
        server.note(false, failure);
        return send({});
      }),
    );
  };
  const list = (request: ListRequest<T>): Observable<ListPart<T>> =>
    defer(() => {
      if (request.continue === undefined) {
        listed = of.ranges;
        of.onRequest('list', listed);
      }
      // The former owner's last writes must be in the list, so a version from the server's cache is not enough.
      const { resourceVersion } = request;
      const newest = resourceVersion === '0' ? { ...request, resourceVersion: '' } : request;
      return selected(
        listed,
        (selector) => inner.list({ ...newest, ...selector }),
        ({ items }) => items,
        ({ metadata }) => metadata?.sharded === true,
      );
    });
  return {
    ...(inner.scope === undefined ? {} : { scope: inner.scope }),
    get watchList() {
      return inner.watchList ?? true;
    },
    get mayOverlap() {
      return inner.mayOverlap === true;
    },
    get heldBack() {
      return inner.heldBack;
    },
    get awake$() {
      return inner.awake$;
    },
    onWatchListUnsupported: () => inner.onWatchListUnsupported?.(),
    list,
    watch: (request) =>
      defer(() => {
        const { ranges } = of;
        of.onRequest(request.sendInitialEvents === true ? 'list' : 'watch', ranges);
        return selected(
          ranges,
          (selector) => inner.watch({ ...request, ...selector }),
          (signal) =>
            signal.kind === 'events'
              ? signal.events.flatMap((event) =>
                  event.type === 'ADDED' || event.type === 'MODIFIED' ? [event.object] : [],
                )
              : signal.kind === 'listed'
                ? signal.items
                : [],
          () => false,
        );
      }),
  };
}
