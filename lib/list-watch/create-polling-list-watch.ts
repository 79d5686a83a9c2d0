/**
 * A ListerWatcher for kinds that can be listed but not watched (componentstatuses, many aggregated APIs): its watch
 * lists again and again, and hands over each list whole. Two lists are no history: what lies between them has no
 * order, and only the store knows what differs from what it holds.
 */
import { concat, defer, EMPTY, interval, Observable, of } from 'rxjs';
import { ignoreElements, map, repeat, take, takeUntil, tap } from 'rxjs/operators';
import type { Refused } from '../decode/watch-event.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { checkedTimeout } from '../rx/checked-option.ts';
import { longTimer } from '../rx/long-timer.ts';
import { type Timing, timingOf } from '../rx/timing.ts';
import { listPages } from './list-pages.ts';
import type { ListerWatcher, WatchRequest, WatchSignal } from './lister-watcher.ts';

/** What {@link createPollingListWatch} takes beside the ListerWatcher. */
export interface PollingOptions extends Timing {
  /** Between the end of a list and the next, in milliseconds, with up to a fifth at random. @defaultValue 30000 */
  readonly intervalMs?: number | undefined;
}

/** Well below any watchdog's patience. */
const ALIVE_MS = 10_000;
const alive = { kind: 'alive' } as const;

/**
 * Watches by listing: `watch` lists every `intervalMs` and emits each list whole, once it has ended well. Changes
 * are told as those of a relist: several between two lists are one, and the end of an object was missed. A list that
 * fails ends the watch with its error, as a watch's own failure would; the watch after it lists at once, and says `opened`
 * when that has worked. Unsubscribing ends the wait or the list.
 * Throws a `TypeError` for an `intervalMs` that is not more than 0.
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
  lister: Pick<ListerWatcher<T>, 'list' | 'scope'>,
  options: PollingOptions = {},
): ListerWatcher<T> {
  const { scheduler, random } = timingOf(options);
  const intervalMs = checkedTimeout(
    options.intervalMs ?? 30_000,
    'createPollingListWatch: intervalMs',
  );
  /** Whether the list that ended last failed: then the server has to show that it is back. */
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
  /** The whole collection at last; `alive` for each piece of it on the way. */
  const whole = (request: WatchRequest<T>): Observable<WatchSignal<T>> => {
    const { known, demand, onSkipped } = request;
    const asked = {
      resourceVersion: '',
      limit: 500,
      ...(known === undefined ? {} : { known }),
      ...(demand === undefined ? {} : { demand }),
      ...(onSkipped === undefined ? {} : { onSkipped }),
    };
    const source: ListerWatcher<T> = {
      list: (page) => noting(lister.list(page)),
      watch: () => of(),
    };
    const room = defer(() => demand?.() ?? EMPTY).pipe(take(1), ignoreElements());
    const listed = new Observable<WatchSignal<T>>((signals) => {
      let items: T[] = [];
      let rejected: Refused[] = [];
      const pages = listPages(source, { ...asked, onTurn: (kind) => signals.next({ kind }) });
      const told = pages.pipe(
        map((progress): WatchSignal<T> => {
          if (progress.kind === 'listed') {
            const { resourceVersion } = progress;
            return { kind: 'listed', items, rejected, resourceVersion };
          }
          if (progress.kind === 'restart') [items, rejected] = [[], []];
          else {
            for (const item of progress.items) items.push(item);
            for (const refused of progress.rejected) rejected.push(refused);
          }
          return alive;
        }),
      );
      return told.subscribe(signals);
    });
    // Who has no room for one list is not brought a second.
    return concat(room, listed);
  };

  return {
    ...(lister.scope === undefined ? {} : { scope: lister.scope }),
    watchList: false,
    mayOverlap: false,
    list: (request) => noting(lister.list(request)),
    watch: (request) => {
      const poll = defer(() => {
        const waitMs = intervalMs * (1 + 0.2 * random());
        // Between two lists nothing is outstanding: the watchdog is told that all is well.
        const pause = interval(ALIVE_MS, scheduler).pipe(
          map(() => alive),
          takeUntil(longTimer(waitMs, scheduler)),
        );
        return concat(pause, whole(request));
      });
      const opened = of<WatchSignal<T>>({ kind: 'opened' });
      const first = defer(() => (failed ? concat(whole(request), opened) : opened));
      return concat(first, poll.pipe(repeat()));
    },
  };
}
