/**
 * `createPollingListWatch`, a ListerWatcher for kinds that can be listed but not watched (componentstatuses, many
 * aggregated APIs). Its watch repeats the list and emits each complete list. Two lists are not a history: the changes
 * between them have no order, and only the store can determine what has changed.
 */
import { concat, defer, EMPTY, interval, type Observable, of } from 'rxjs';
import { concatMap, map, repeat, takeUntil, tap } from 'rxjs/operators';
import { checkedTimeout } from '../checks/checked-option.ts';
import type { Refused } from '../decode/watch-event.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { isOlder, type ResourceVersion } from '../meta/resource-version.ts';
import { untilOpen } from '../rx/demand.ts';
import { longTimer } from '../rx/long-timer.ts';
import { type Timing, timingOf } from '../rx/timing.ts';
import { listPages } from './list-pages.ts';
import type { ListerWatcher, WatchRequest, WatchSignal } from './lister-watcher.ts';

/** The options of {@link createPollingListWatch}. */
export interface PollingOptions extends Timing {
  /**
   * The wait between the end of a list and the next one, in milliseconds. Up to a fifth is added at random.
   * @defaultValue 30000
   */
  readonly intervalMs?: number | undefined;
}

/** The period of `alive` signals, in milliseconds; well below the limits of the reflector. */
const ALIVE_MS = 10_000;
const alive = { kind: 'alive' } as const;

/**
 * Creates a ListerWatcher that watches by listing: `watch` lists every `intervalMs` and emits each list when it is
 * complete. Changes are reported as those of a relist: several changes between two lists are reported as one, and
 * deletions as missed. If a list fails, the watch errors; the next watch lists immediately and emits `opened` when
 * that list has arrived. Unsubscribing ends the wait or the list. Throws a `TypeError` if `intervalMs` is not more
 * than 0.
 *
 * @example
 * ```ts
 * import { createClient, createListWatch, createPollingListWatch, createSharedInformer } from 'rx-informer';
 * import { componentStatuses } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const { fetch } = createFakeApiServer({ resources: [componentStatuses] });
 * const client = createClient({ baseUrl: 'http://fake', fetch });
 * const listed = createListWatch(client, componentStatuses);
 * const informer = createSharedInformer(createPollingListWatch(listed, { intervalMs: 10_000 }));
 * informer.start();
 * await informer.whenSynced({ timeoutMs: 5_000 });
 * informer.status.phase; // => 'watching'
 * await informer.stop();
 * ```
 */
export function createPollingListWatch<T extends KubernetesObject>(
  lister: Pick<ListerWatcher<T>, 'list' | 'scope' | 'awake$'>,
  options: PollingOptions = {},
): ListerWatcher<T> {
  const { scheduler, random } = timingOf(options);
  const intervalMs = checkedTimeout(
    options.intervalMs ?? 30_000,
    'createPollingListWatch: intervalMs',
  );
  /** Whether the last list failed. If it did, the next watch must first show that the server is available again. */
  let failed = false;
  const noting = <V>(list: Observable<V>): Observable<V> =>
    list.pipe(
      tap({
        error: () => {
          failed = true;
        },
        complete: () => {
          failed = false;
        },
      }),
    );
  /** Emits `alive` for each part of a list, then the complete list. `last` has the last version that the watch saw. */
  const completeList = (
    request: WatchRequest<T>,
    last: { resourceVersion: ResourceVersion },
    mayReuse: boolean,
  ): Observable<WatchSignal<T>> => {
    const { known, demand, onRefused, patience } = request;
    const asked = {
      resourceVersion: '',
      limit: 500,
      reuse: mayReuse,
      ...{ known, demand, onRefused, patience },
    };
    const source: ListerWatcher<T> = {
      list: (page) => noting(lister.list(page)),
      watch: () => of(),
    };
    const capacity = defer(() => untilOpen(demand)() ?? EMPTY);
    const listed = defer(() => {
      let items: T[] = [];
      let refused: Refused[] = [];
      let reused = false;
      return listPages(source, asked).pipe(
        concatMap((progress): Observable<WatchSignal<T>> => {
          if (progress.kind === 'queued' || progress.kind === 'sending') return of(progress);
          if (progress.kind === 'listed') {
            const { resourceVersion } = progress;
            const isBack = isOlder(resourceVersion, last.resourceVersion);
            if (resourceVersion !== '') last.resourceVersion = resourceVersion;
            // The server may have been restored from a backup, so equal versions do not mean equal content.
            if (reused && isBack) return completeList(request, last, false);
            return of({ kind: 'listed', items, refused, resourceVersion });
          }
          if (progress.kind === 'restart') [items, refused, reused] = [[], [], false];
          else {
            reused ||= progress.unparsed === true;
            for (const item of progress.items) items.push(item);
            for (const each of progress.refused) refused.push(each);
          }
          return of(alive);
        }),
      );
    });
    // The next list waits until the consumer has capacity again.
    return concat(capacity, listed);
  };

  return {
    ...(lister.scope === undefined ? {} : { scope: lister.scope }),
    watchList: false,
    mayOverlap: false,
    get awake$() {
      return lister.awake$;
    },
    list: (request) => noting(lister.list(request)),
    watch: (request) => {
      // A second watch may be at another version.
      const last = { resourceVersion: request.resourceVersion };
      const poll = defer(() => {
        const waitMs = intervalMs * (1 + 0.2 * random());
        // No request is open between two lists, so the idle timeout of the reflector must be reset.
        const pause = interval(ALIVE_MS, scheduler).pipe(
          map(() => alive),
          takeUntil(longTimer(waitMs, scheduler)),
        );
        return concat(pause, completeList(request, last, request.reuse === true));
      });
      const opened = of<WatchSignal<T>>({ kind: 'opened' });
      const first = defer(() =>
        failed ? concat(completeList(request, last, request.reuse === true), opened) : opened,
      );
      return concat(first, poll.pipe(repeat()));
    },
  };
}
