/**
 * A ListerWatcher for kinds that can be listed but not watched (componentstatuses, many aggregated APIs): it
 * lists again and again and tells the difference as watch events, so that nothing downstream can tell.
 */
import { concat, defer, interval, Observable, of } from 'rxjs';
import { map, repeat, takeUntil } from 'rxjs/operators';
import type { WatchEvent } from '../decode/watch-event.ts';
import { inScope, metaNamespaceKeyFunc } from '../meta/key.ts';
import { type KubernetesObject, uidOf, versionOf } from '../meta/kubernetes-object.ts';
import { longTimer } from '../rx/long-timer.ts';
import { type Timing, timingOf } from '../rx/timing.ts';
import { listPages } from './list-pages.ts';
import type { ListerWatcher, RequestTurn, WatchRequest, WatchSignal } from './lister-watcher.ts';

/** What {@link createPollingListWatch} takes beside the ListerWatcher. */
export interface PollingOptions extends Timing {
  /** Between the end of a list and the next, in milliseconds, with up to a fifth at random. @defaultValue 30000 */
  readonly intervalMs?: number;
}

/** Well below any watchdog's patience. */
const ALIVE_MS = 10_000;
const alive = { kind: 'alive' } as const;

interface Listed<T> {
  readonly objects: Map<string, T>;
  readonly rejected: Set<string>;
  readonly resourceVersion: string;
}

function difference<T extends KubernetesObject>(
  before: ReadonlyMap<string, T>,
  now: Listed<T>,
): WatchEvent<T>[] {
  const events: WatchEvent<T>[] = [];
  for (const [key, object] of before) {
    const next = now.objects.get(key);
    if (now.rejected.has(key)) continue;
    if (next === undefined || uidOf(next) !== uidOf(object)) {
      events.push({ type: 'DELETED', key, object, resourceVersion: versionOf(object) });
    }
  }
  for (const [key, object] of now.objects) {
    const had = before.get(key);
    if (had === undefined || uidOf(had) !== uidOf(object))
      events.push({ type: 'ADDED', key, object });
    else if (had.metadata?.resourceVersion !== object.metadata?.resourceVersion) {
      events.push({ type: 'MODIFIED', key, object });
    }
  }
  const { resourceVersion } = now;
  if (resourceVersion !== '') {
    events.push({ type: 'BOOKMARK', resourceVersion, initialEventsEnd: false });
  }
  return events;
}

/**
 * Watches by listing: `watch` lists every `intervalMs` and emits what differs from what the consumer knows. A list
 * that fails ends the watch with its error, as a watch's own failure would.
 */
export function createPollingListWatch<T extends KubernetesObject>(
  lister: Pick<ListerWatcher<T>, 'list' | 'scope'>,
  options: PollingOptions = {},
): ListerWatcher<T> {
  const { scheduler, random } = timingOf(options);
  const intervalMs = options.intervalMs ?? 30_000;
  if (!(intervalMs > 0)) {
    throw new TypeError(
      `createPollingListWatch: intervalMs is ${intervalMs}; it must be more than 0`,
    );
  }
  /** The whole collection at last; `undefined` for each piece of it on the way. */
  const whole = (
    request: WatchRequest<T>,
    onTurn: (turn: RequestTurn) => void,
  ): Observable<Listed<T> | undefined> => {
    const { known, demand, onSkipped } = request;
    const asked = {
      resourceVersion: '',
      limit: 500,
      onTurn,
      ...(known === undefined ? {} : { known }),
      ...(demand === undefined ? {} : { demand }),
      ...(onSkipped === undefined ? {} : { onSkipped }),
    };
    const source: ListerWatcher<T> = { list: (page) => lister.list(page), watch: () => of() };
    return defer(() => {
      const objects = new Map<string, T>();
      const rejected = new Set<string>();
      return listPages(source, asked).pipe(
        map((progress): Listed<T> | undefined => {
          if (progress.kind === 'listed') {
            return { objects, rejected, resourceVersion: progress.resourceVersion };
          }
          if (progress.kind === 'restart') {
            objects.clear();
            rejected.clear();
            return undefined;
          }
          for (const object of progress.items) objects.set(metaNamespaceKeyFunc(object), object);
          for (const key of progress.rejected) rejected.add(key);
          return undefined;
        }),
      );
    });
  };

  return {
    ...(lister.scope === undefined ? {} : { scope: lister.scope }),
    watchList: false,
    list: (request) => lister.list(request),
    watch: (request) =>
      defer(() => {
        let last = new Map<string, T>();
        const known = () => {
          if (request.known === undefined) return last;
          const objects = new Map<string, T>();
          for (const key of request.known.keys()) {
            const object = request.known.get(key);
            if (object === undefined) continue;
            if (inScope(key, lister.scope)) objects.set(key, object);
          }
          return objects;
        };
        const poll = defer(() => {
          const waitMs = intervalMs * (1 + 0.2 * random());
          // Between two lists nothing is outstanding: the watchdog is told that all is well.
          const pause = interval(ALIVE_MS, scheduler).pipe(
            map(() => alive),
            takeUntil(longTimer(waitMs, scheduler)),
          );
          const signalOf = (listed: Listed<T> | undefined): WatchSignal<T> => {
            if (listed === undefined) return alive;
            const events = difference(known(), listed);
            last = listed.objects;
            return events.length === 0 ? alive : { kind: 'events', events };
          };
          const list = new Observable<WatchSignal<T>>((signals) =>
            whole(request, (kind) => signals.next({ kind }))
              .pipe(map(signalOf))
              .subscribe(signals),
          );
          return concat(pause, list);
        });
        return concat(of<WatchSignal<T>>({ kind: 'opened' }), poll.pipe(repeat()));
      }),
  };
}
