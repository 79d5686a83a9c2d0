/**
 * A ListerWatcher whose first streaming LIST comes from a store on disk: the stored objects are its initial events, the
 * changes since then follow from a watch, and its end mark is sent when the server's newest version is reached. So the
 * reflector, the queue and the store treat a warm start like any list that is in progress.
 *
 * ```
 * store    r0---ooo-ooo|                r0: the stored version, o: objects
 * list     ------V|                     LIST ?limit=1: the version to reach
 * watch                 c-c--b-c        WATCH from r0, c: changes, b: a bookmark at V or later
 * result   -----ooo-ooo-c-c--m-c        m: the end mark; from now on the informer is synced
 * ```
 */
import {
  defaultIfEmpty,
  firstValueFrom,
  Observable,
  type Subscriber,
  Subscription,
  throwError,
} from 'rxjs';
import { versionIn, type WatchEvent } from '../decode/watch-event.ts';
import type { ListerWatcher, WatchRequest, WatchSignal } from '../list-watch/lister-watcher.ts';
import { ApiError } from '../meta/api-error.ts';
import { metaNamespaceKeyFunc } from '../meta/key.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { compareResourceVersion, isOlder } from '../meta/resource-version.ts';

/** The timeout of the watches before the end mark, in seconds. A server sends a bookmark 2 s before the end of a watch. */
const SHORT_SECONDS = 5;
/** After this many such watches without an event and without a bookmark the server is taken to send none. */
const MOST_EMPTY = 3;

/** Stored objects, and their version. */
export interface LoadedSnapshot<T> {
  readonly resourceVersion: string;
  /**
   * Whether the objects are those of this server and this program; `listed` is a list of the server. Rejects if that cannot be
   * known yet.
   */
  isSame(listed: Promise<unknown>): Promise<boolean>;
  /** The objects in parts. Throws if the store is damaged. */
  readonly parts: AsyncIterable<readonly T[]>;
}

/** Where the objects come from, and who learns what became of them. */
export interface WarmSource<T> {
  /** Whether objects may be stored. After `end` it is false. */
  readonly isWarm: boolean;
  /** Whether streaming lists may be requested after the warm start. */
  mayStream(): boolean;
  /** Returns the stored objects; `undefined` if there are none. */
  open(): Promise<LoadedSnapshot<T> | undefined>;
  /** An event has changed this key since the stored version. */
  changed(key: string): void;
  /**
   * The warm start has ended. `confirmed`: the objects are those of the server at this version. `unusable`: a list follows.
   * `refused`: the server does not permit to read them.
   */
  end(how: 'confirmed' | 'unusable' | 'refused', resourceVersion?: string): void;
}

function expired(why: string): ApiError {
  const message = `the stored objects cannot be brought up to date: ${why}`;
  return new ApiError({ code: 410, reason: 'Expired', message });
}

/** What the tries of one ListerWatcher have in common. */
interface Tries {
  started: number;
  /** How many short watches brought nothing. */
  empty: number;
}

/** One warm start: one subscription of the watch that stands for the first list. */
class WarmStart<T> {
  readonly #inner: ListerWatcher<T>;
  readonly #from: WarmSource<T>;
  readonly #request: WatchRequest<T>;
  readonly #subscriber: Subscriber<WatchSignal<T>>;
  /** The version that the server had when the start began. */
  #target = '';
  /** The last version received. */
  #at = '';
  #isConfirmed = false;
  readonly #tries: Tries;

  constructor(
    inner: ListerWatcher<T>,
    from: WarmSource<T>,
    request: WatchRequest<T>,
    subscriber: Subscriber<WatchSignal<T>>,
    tries: Tries,
  ) {
    this.#inner = inner;
    this.#from = from;
    this.#request = request;
    this.#subscriber = subscriber;
    this.#tries = tries;
  }

  /** Sends the objects and the changes. */
  async run(): Promise<void> {
    const subscriber = this.#subscriber;
    const isRetry = this.#tries.started++ > 0;
    try {
      const warmth = await this.#from.open();
      if (subscriber.closed) return;
      if (warmth === undefined) return this.#startCold();
      this.#at = warmth.resourceVersion;
      const newest = this.#newestVersion();
      // A refusal of the server is handled below, after the objects.
      newest.catch(() => undefined);
      // The objects are shown already, so they are not read again for a server that does not answer.
      if (isRetry) await newest;
      if (!(await warmth.isSame(newest))) return this.#startCold();
      await this.#load(warmth);
      this.#target = await newest;
      if (subscriber.closed) return;
      const order = compareResourceVersion(this.#at, this.#target);
      if (order === undefined)
        throw expired(`the versions ${this.#at} and ${this.#target} have no order`);
      if (order > 0) {
        throw expired(
          `they are of version ${this.#at}, and the server is at ${this.#target}; it was restored from a backup`,
        );
      }
      if (order === 0) subscriber.next({ kind: 'events', events: [this.#endMark()] });
      this.#follow();
    } catch (error) {
      this.#fail(error);
    }
  }

  #startCold(): void {
    if (this.#subscriber.closed) return;
    this.#from.end('unusable');
    this.#subscriber.add(
      coldWatch(this.#inner, this.#from, this.#request).subscribe(this.#subscriber),
    );
  }

  /** Sends the stored objects, and yields to the event loop as the demand says. */
  async #load({ parts }: LoadedSnapshot<T>): Promise<void> {
    const { demand = () => null } = this.#request;
    try {
      for await (const objects of parts) {
        for (let wait = demand(); wait !== null; wait = demand()) {
          await firstValueFrom(wait.pipe(defaultIfEmpty(0)));
        }
        if (this.#subscriber.closed) return;
        const events = objects.map((object): WatchEvent<T> => {
          return { type: 'ADDED', key: metaNamespaceKeyFunc(object as KubernetesObject), object };
        });
        if (events.length > 0) this.#subscriber.next({ kind: 'events', events });
      }
    } catch (error) {
      throw expired(`the store is damaged: ${ApiError.from(error, 'reading').message}`);
    }
  }

  /** The newest version on the server, from the smallest list. */
  #newestVersion(): Promise<string> {
    const { demand } = this.#request;
    return new Promise<string>((resolve, reject) => {
      let version = '';
      this.#subscriber.add(
        this.#inner
          .list({
            ...{ resourceVersion: '', limit: 1, demand },
            onTurn: (kind, reason) => this.#subscriber.next({ kind, reason }),
          })
          .subscribe({
            next: ({ metadata }) => {
              version = metadata?.resourceVersion ?? version;
            },
            error: reject,
            complete: () => resolve(version),
          }),
      );
    });
  }

  /** Watches from the last version, again and again until the end mark was sent. */
  #follow(): void {
    const { sendInitialEvents: _initial, resourceVersionMatch: _match, ...request } = this.#request;
    const timeoutSeconds = this.#isConfirmed
      ? request.timeoutSeconds
      : Math.min(request.timeoutSeconds, SHORT_SECONDS);
    const from = this.#at;
    let isEmpty = true;
    const subscription = new Subscription();
    this.#subscriber.add(subscription);
    subscription.add(
      this.#inner
        .watch({ ...request, resourceVersion: from, timeoutSeconds, reuse: undefined })
        .subscribe({
          next: (signal) => {
            if (signal.kind === 'events') isEmpty &&= signal.events.length === 0;
            this.#signal(signal);
          },
          error: (error) => this.#fail(error),
          complete: () => {
            if (this.#isConfirmed) return this.#subscriber.complete();
            this.#subscriber.remove(subscription);
            // Each try receives the changes since the stored version again, so they say nothing about bookmarks.
            if (!isEmpty) return this.#follow();
            this.#fail(
              ++this.#tries.empty < MOST_EMPTY
                ? ApiError.local('Network', 'the server closed the watch without a bookmark')
                : expired('the server sends no bookmarks'),
            );
          },
        }),
    );
  }

  #signal(signal: WatchSignal<T>): void {
    if (this.#isConfirmed || (signal.kind !== 'events' && signal.kind !== 'listed')) {
      return this.#subscriber.next(signal);
    }
    if (signal.kind === 'listed') return this.#fail(expired('the collection is polled'));
    const events: WatchEvent<T>[] = [];
    for (const event of signal.events) {
      if (event.type === 'ERROR') return this.#fail(event.error);
      const version = versionIn(event);
      const isBack = isOlder(version, this.#at);
      if (!this.#isConfirmed && isBack && event.type !== 'DELETED') {
        return this.#fail(expired('an event is older than a version already seen'));
      }
      if (this.#isConfirmed || event.type !== 'BOOKMARK') events.push(event);
      if (this.#isConfirmed) continue;
      if (event.type !== 'BOOKMARK') this.#from.changed(event.key);
      if (!isBack && version !== '') this.#at = version;
      if (!isOlder(this.#at, this.#target)) events.push(this.#endMark());
    }
    this.#subscriber.next(events.length === 0 ? { kind: 'alive' } : { kind: 'events', events });
  }

  #endMark(): WatchEvent<T> {
    this.#isConfirmed = true;
    this.#from.end('confirmed', this.#at);
    return { type: 'BOOKMARK', resourceVersion: this.#at, initialEventsEnd: true };
  }

  /** Ends the request. The reflector retries it, warm if the failure says nothing about the stored objects. */
  #fail(thrown: unknown): void {
    if (this.#subscriber.closed) return;
    const error = ApiError.from(thrown, 'the warm start');
    if (this.#isConfirmed) return this.#subscriber.error(error);
    if ([401, 403, 404].includes(error.code)) {
      this.#from.end('refused');
      return this.#subscriber.error(error);
    }
    const isPassing =
      error.code === 0 ? error.reason === 'Network' || error.reason === 'Yielded' : error.retryable;
    if (isPassing) return this.#subscriber.error(error);
    this.#from.end('unusable');
    this.#subscriber.error(error.isExpired ? error : expired(error.message));
  }
}

/** The watch after the warm start, or without one. A streaming list that may not be requested is refused, so that a list follows. */
function coldWatch<T>(
  inner: ListerWatcher<T>,
  from: WarmSource<T>,
  request: WatchRequest<T>,
): Observable<WatchSignal<T>> {
  if (request.sendInitialEvents !== true || from.mayStream()) return inner.watch(request);
  const message = 'streaming lists are turned off';
  return throwError(() => new ApiError({ code: 501, reason: 'NotImplemented', message }));
}

/** Adds the warm start to a ListerWatcher. */
export function warmListWatch<T>(inner: ListerWatcher<T>, from: WarmSource<T>): ListerWatcher<T> {
  const tries: Tries = { started: 0, empty: 0 };
  // The getters of `inner` stay getters, because the reflector reads them before each request.
  return Object.create(inner, {
    watchList: { get: () => from.isWarm || from.mayStream() },
    onWatchListUnsupported: {
      value: () => {
        // It may be the refusal above.
        if (from.mayStream()) inner.onWatchListUnsupported?.();
      },
    },
    list: {
      value: (request: Parameters<ListerWatcher<T>['list']>[0]) => {
        if (from.isWarm) from.end('unusable');
        return inner.list(request);
      },
    },
    watch: {
      value: (request: WatchRequest<T>) => {
        if (request.sendInitialEvents !== true || !from.isWarm)
          return coldWatch(inner, from, request);
        return new Observable<WatchSignal<T>>((subscriber) => {
          void new WarmStart(inner, from, request, subscriber, tries).run();
        });
      },
    },
  }) as ListerWatcher<T>;
}
