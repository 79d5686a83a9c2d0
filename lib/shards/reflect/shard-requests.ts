/** Sends the requests of a ListerWatcher with the selector of some ranges, and learns whether the server filters. */
import { defer, EMPTY, type Observable, of, throwError } from 'rxjs';
import { catchError, tap } from 'rxjs/operators';
import type { ListPart } from '../../decode/watch-event.ts';
import type {
  ListerWatcher,
  ListRequest,
  RequestTurn,
  WatchSignal,
} from '../../list-watch/lister-watcher.ts';
import { ApiError } from '../../meta/api-error.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { type ShardRange, shareOf } from '../../meta/shard-ranges/ranges.ts';
import {
  createShardFilter,
  type ShardFilterBy,
  shardSelector,
} from '../../meta/shard-ranges/shard-filter.ts';
import type { ShardHolding } from '../../reflector/status.ts';
import type { QuietTime } from './quiet-time.ts';

/** If all objects are in the ranges, and the chance of that without a filter is less than this, the server filters. */
const CHANCE = 1e-9;

/** Why a request waits. */
const RETRY_AFTER = 'the server asked for a pause with Retry-After';

function objectsIn<T>(signal: WatchSignal<T>): readonly T[] {
  if (signal.kind === 'listed') return signal.items;
  if (signal.kind !== 'events') return [];
  return signal.events.flatMap((event) =>
    event.type === 'ADDED' || event.type === 'MODIFIED' ? [event.object] : [],
  );
}

/** The part of a follower that its requests depend on. */
export interface Requesting {
  readonly by: ShardFilterBy;
  /** The ranges now; they may shrink while a request is in progress. */
  readonly ranges: readonly ShardRange[];
  readonly server: ServerFilter;
  readonly quiet: QuietTime;
  /** Called when a list begins, or a watch without one. */
  onRequest(kind: 'list' | 'watch', ranges: readonly ShardRange[]): void;
}

/** Sends requests that select ranges, and learns from the answers. */
function selecting<T extends KubernetesObject>({ by, server, quiet }: Requesting) {
  const noted = <V>(answer$: Observable<V>): Observable<V> =>
    answer$.pipe(
      tap({ error: (error: unknown) => quiet.note(ApiError.from(error, 'the request')) }),
    );
  return <V>(
    ranges: readonly ShardRange[],
    send: (selector: { readonly shardSelector?: string }) => Observable<V>,
    objectsOf: (value: V) => readonly T[],
    isProof: (value: V) => boolean,
  ): Observable<V> => {
    if (by === 'owner' || server.refusal !== undefined) return noted(send({}));
    const filter = createShardFilter(by, ranges);
    const share = shareOf(ranges);
    let chance = 1;
    return noted(send({ shardSelector: shardSelector(by, ranges) })).pipe(
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
        return noted(send({}));
      }),
    );
  };
}

/** Wraps `inner` so that each request selects the ranges of `follower`. Audits are not supported. */
export function shardRequests<T extends KubernetesObject>(
  inner: ListerWatcher<T>,
  follower: Requesting,
): ListerWatcher<T> {
  const { quiet } = follower;
  const selected = selecting<T>(follower);
  /** The ranges of the list in progress. Its later pages must repeat them, because a token does not contain them. */
  let listed = follower.ranges;
  const list = (request: ListRequest<T>): Observable<ListPart<T>> =>
    defer(() => {
      if (request.continue === undefined) {
        listed = follower.ranges;
        follower.onRequest('list', listed);
      }
      // The former owner's last writes must be in the list, so a version from the server's cache is not enough.
      const { resourceVersion } = request;
      const newest = resourceVersion === '0' ? { ...request, resourceVersion: '' } : request;
      const send = () =>
        selected(
          listed,
          (selector) => inner.list({ ...newest, ...selector }),
          ({ items }) => items,
          ({ metadata }) => metadata?.sharded === true,
        );
      const turn = (kind: RequestTurn) => () => {
        request.onTurn?.(kind, kind === 'queued' ? RETRY_AFTER : undefined);
        return EMPTY;
      };
      return quiet.after(send, turn('queued'), turn('sending'));
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
        const { ranges } = follower;
        follower.onRequest(request.sendInitialEvents === true ? 'list' : 'watch', ranges);
        const send = () =>
          selected(
            ranges,
            (selector) => inner.watch({ ...request, ...selector }),
            objectsIn,
            () => false,
          );
        return quiet.after<WatchSignal<T>>(
          send,
          () => of({ kind: 'queued', reason: RETRY_AFTER }),
          () => of({ kind: 'sending' }),
        );
      }),
  };
}

/** Whether the server filters; `undefined` while no answer has shown it. */
export class ServerFilter {
  filters: boolean | undefined;
  /** The error with which the server refused the selector. It is not sent again. */
  refusal: ApiError | undefined;
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  note(filters: boolean, refusal?: ApiError): void {
    if (this.filters === filters && refusal === undefined) return;
    this.filters = filters;
    this.refusal = refusal ?? this.refusal;
    this.#onChange();
  }

  /** Whether the server filters, and who filters in words for a user. */
  told(by: ShardFilterBy): Pick<ShardHolding, 'serverFilters' | 'message'> {
    const filters = by === 'owner' ? false : this.filters;
    return {
      ...(filters === undefined ? {} : { serverFilters: filters }),
      message: this.#words(by),
    };
  }

  #words(by: ShardFilterBy): string {
    const always = 'the client filters';
    if (by === 'owner')
      return `${always}; the server sends all objects, because it cannot select by owner`;
    if (this.refusal !== undefined) {
      return `${always}; the server refuses the shard selector, so it sends all objects: ${this.refusal.message}`;
    }
    if (this.filters === undefined) return `${always}; whether the server does is not known yet`;
    if (this.filters) return 'the server filters, and so does the client';
    return `${always}; the server sends all objects, because it has no feature gate ShardedListAndWatch, or it is off`;
  }
}

/**
 * Whether the server refused the selector. It answers with a 500 without a reason, which would otherwise be retried for
 * ever. apiserver: registry/generic/registry/store.go, ListPredicate.
 */
function isRefusedSelector({ code, message }: ApiError): boolean {
  return (code === 400 || code === 500) && /shard selector/i.test(message);
}
