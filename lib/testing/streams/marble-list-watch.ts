/**
 * `marbleListWatch`: a ListerWatcher that answers from marble diagrams, so that a complete informer runs in virtual
 * time. The fake API server cannot be used there, because it answers with promises.
 */
import { Observable } from 'rxjs';
import { map, takeWhile } from 'rxjs/operators';
import { TestScheduler } from 'rxjs/testing';
import type { ListerWatcher, WatchSignal } from '../../list-watch/lister-watcher.ts';
import { ApiError } from '../../meta/api-error.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { listPart, type MarbleValue, watchSignal } from './marble-values.ts';
import type { MarbleHelpers } from './marbles.ts';
import { failMarbles } from './virtual-time.ts';

/** Options of {@link marbleListWatch}. */
export interface MarbleListWatchOptions<T> {
  /** One diagram per LIST, in the order of the requests. A LIST without a diagram fails the test. */
  readonly lists?: readonly string[] | undefined;
  /**
   * One diagram per WATCH, in the order of the requests. A WATCH without a diagram fails the test.
   * @defaultValue every watch is answered and sends nothing
   */
  readonly watches?: readonly string[] | undefined;
  /** The values of the letters in the diagrams. */
  readonly values?: Readonly<Record<string, MarbleValue<T>>> | undefined;
  /** The namespace of the ListerWatcher, if several of them fill one store. @defaultValue all namespaces */
  readonly scope?: string | undefined;
  /** Whether the informer requests a streaming LIST, which a diagram of `watches` answers. @defaultValue false */
  readonly watchList?: boolean | undefined;
}

/** A request that was sent to a {@link MarbleListWatch}. */
export interface MarbleRequest {
  readonly verb: 'list' | 'watch';
  /** The frame at which the request was sent. */
  readonly frame: number;
  readonly resourceVersion: string;
  readonly resourceVersionMatch?: 'NotOlderThan' | 'Exact' | undefined;
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  readonly sendInitialEvents?: boolean | undefined;
}

type SubscriptionLogs = ReturnType<MarbleHelpers['cold']>['subscriptions'];

/** The result of {@link marbleListWatch}. */
export interface MarbleListWatch<T> extends ListerWatcher<T> {
  /** All requests, oldest first. */
  readonly requests: readonly MarbleRequest[];
  /** The frames at which each LIST was sent and ended, for `expectSubscriptions`. */
  readonly listSubscriptions: SubscriptionLogs;
  /** The frames at which each WATCH was sent and ended, for `expectSubscriptions`. */
  readonly watchSubscriptions: SubscriptionLogs;
}

/** The part that the diagrams of both verbs share. */
interface Shared<T> {
  readonly helpers: Pick<MarbleHelpers, 'cold' | 'scheduler'>;
  readonly values: Readonly<Record<string, MarbleValue<T>>>;
  readonly requests: MarbleRequest[];
}

/** The diagrams of one verb. Each request takes the next one. */
class Diagrams<T, R> {
  readonly subscriptions: SubscriptionLogs = [];
  readonly #shared: Shared<T>;
  readonly #verb: 'list' | 'watch';
  readonly #diagrams: readonly string[] | undefined;
  readonly #read: (value: MarbleValue<T>) => R | undefined;
  /** Emitted when a request is answered without a letter that says so. */
  readonly #opened: R | undefined;
  #taken = 0;

  constructor(
    shared: Shared<T>,
    verb: 'list' | 'watch',
    diagrams: readonly string[] | undefined,
    read: (value: MarbleValue<T>) => R | undefined,
    opened?: R,
  ) {
    this.#shared = shared;
    this.#verb = verb;
    this.#diagrams = diagrams;
    this.#read = read;
    this.#opened = opened;
    for (const diagram of diagrams ?? []) this.#check(diagram);
  }

  /** Answers one request, which takes its diagram when it is subscribed. */
  answer({ resourceVersion, ...request }: Omit<MarbleRequest, 'verb' | 'frame'>): Observable<R> {
    return new Observable((subscriber) => {
      const { helpers, values, requests } = this.#shared;
      const index = this.#taken++;
      const frame = helpers.scheduler.now();
      const { resourceVersionMatch, limit, sendInitialEvents } = request;
      const given = { resourceVersionMatch, limit, continue: request.continue, sendInitialEvents };
      const fields = Object.entries(given).filter(([, value]) => value !== undefined);
      const sent = { verb: this.#verb, frame, resourceVersion };
      requests.push({ ...sent, ...Object.fromEntries(fields) });
      const diagram = this.#diagrams === undefined ? '-' : this.#diagrams[index];
      if (diagram === undefined) failMarbles(this.#missing(index, frame, resourceVersion));
      const lost = ApiError.local('Network', 'the connection was lost (# in a diagram)');
      const source = helpers.cold<MarbleValue<T>>(diagram ?? '-', values, lost);
      const log = () => this.subscriptions.splice(index, 1, ...source.subscriptions);
      source.pipe(map((value) => this.#answerOf(value))).subscribe(subscriber);
      log();
      // Added last, so that the source has already logged the end of its subscription.
      subscriber.add(log);
      // After the request was counted, because its consumer may unsubscribe or send the next one.
      if (this.#opened !== undefined && this.#opensAtOnce(diagram)) subscriber.next(this.#opened);
    });
  }

  /** Whether the answer to a request begins when it is sent. */
  #opensAtOnce(diagram = '-'): boolean {
    const values = this.#valuesOf(diagram).map(([, value]) => value);
    return !(values[0] instanceof ApiError) && !values.includes('opened');
  }

  #answerOf(value: MarbleValue<T>): R {
    if (value instanceof ApiError) throw value;
    return this.#read(value) as R;
  }

  #valuesOf(diagram: string): [frame: number, value: MarbleValue<T> | undefined][] {
    const { values } = this.#shared;
    const messages = TestScheduler.parseMarbles(diagram, values, undefined, false, true);
    return messages.flatMap(({ frame, notification }) =>
      notification.kind === 'N' ? [[frame, notification.value]] : [],
    );
  }

  #check(diagram: string): void {
    // Throws on a diagram that rxjs refuses.
    this.#shared.helpers.cold(diagram, this.#shared.values);
    for (const [frame, value] of this.#valuesOf(diagram)) {
      if (value instanceof ApiError) continue;
      if (value !== undefined && value !== null && this.#read(value) !== undefined) continue;
      const wanted =
        this.#verb === 'list'
          ? '{ items, resourceVersion } or an ApiError'
          : "{ type, object } as on the wire, an array of these, 'opened', 'alive', 'doubted' or an ApiError";
      throw new TypeError(
        `marbleListWatch: the letter at frame ${frame} of ${JSON.stringify(diagram)} has the value ` +
          `${JSON.stringify(value)}; the value of a letter of ${this.#option} must be ${wanted}`,
      );
    }
  }

  get #option(): string {
    return this.#verb === 'list' ? 'lists' : 'watches';
  }

  #missing(index: number, frame: number, resourceVersion: string): Error {
    const count = this.#diagrams?.length ?? 0;
    return new Error(
      `marbleListWatch: ${this.#verb.toUpperCase()} number ${index + 1} was sent at frame ${frame} ` +
        `with resourceVersion ${JSON.stringify(resourceVersion)}, but ${this.#option} has ${count}. ` +
        "Add a diagram for this request ('-' is a request that gets no further answer), or unsubscribe before it.",
    );
  }
}

/**
 * Creates a ListerWatcher that answers from marble diagrams, within {@link marbles}. Each request takes the next
 * diagram, whose frame 0 is the frame of the request. In a diagram `|` is a clean end and `#` a lost connection.
 * Unsubscribing ends a request. A watch is answered immediately, unless one of its letters has the value `'opened'`
 * or its first letter is an `ApiError`, which refuses it.
 *
 * Pass the informer the same `scheduler`, and `random: () => 0` so that the backoff has no jitter. Give each
 * expectation an unsubscription marble, because an informer never completes. Throws a `TypeError` if a letter has no
 * value, or a value that is not valid for its kind of request. A request without a diagram ends the test with an error.
 *
 * ```
 * lists     --l             sent at 0: completes at 2
 * watches     --m-#         sent at 2: the connection is lost at 6
 *                  --d      sent at 806, after 800 ms of backoff, at the version of m
 * added$    --l
 * updated$  ----m
 * deleted$  808ms d
 * ```
 *
 * @example
 * ```ts
 * import { createSharedInformer } from 'rx-informer';
 * import { marbleListWatch, marbles } from 'rx-informer/testing';
 * import { distinctUntilChanged, map } from 'rxjs/operators';
 *
 * const web = (resourceVersion: string) => ({
 *   metadata: { namespace: 'shop', name: 'web', uid: 'u1', resourceVersion },
 * });
 *
 * marbles((helpers) => {
 *   const { scheduler, expectObservable, expectSubscriptions } = helpers;
 *   const source = marbleListWatch(helpers, {
 *     lists: ['  --l'],
 *     watches: ['  --m-#', '--d'],
 *     values: {
 *       l: { items: [web('1')], resourceVersion: '1' },
 *       m: { type: 'MODIFIED', object: web('2') },
 *       d: { type: 'DELETED', object: web('3') },
 *     },
 *   });
 *   const informer = createSharedInformer(source, { scheduler, random: () => 0, lingerMs: 0 });
 *   const sizes = informer.snapshot$.pipe(map(({ size }) => size), distinctUntilChanged());
 *   expectObservable(sizes, '       ^ 899ms !').toBe('0-1 805ms 0', { 0: 0, 1: 1 });
 *   expectSubscriptions(source.watchSubscriptions).toBe(['--^---!', '806ms ^ 93ms !']);
 * });
 * ```
 */
export function marbleListWatch<T extends KubernetesObject>(
  helpers: Pick<MarbleHelpers, 'cold' | 'scheduler'>,
  options: MarbleListWatchOptions<T> = {},
): MarbleListWatch<T> {
  const { scope, watchList = false, values = {} } = options;
  const requests: MarbleRequest[] = [];
  const shared = { helpers, values, requests };
  const lists = new Diagrams(shared, 'list', options.lists ?? [], listPart);
  const opened: WatchSignal<T> = { kind: 'opened' };
  const watches = new Diagrams(shared, 'watch', options.watches, watchSignal, opened);
  return {
    ...(scope === undefined ? {} : { scope }),
    watchList,
    requests,
    listSubscriptions: lists.subscriptions,
    watchSubscriptions: watches.subscriptions,
    list: (request) => lists.answer(request).pipe(takeWhile(({ metadata }) => !metadata, true)),
    watch: (request) => watches.answer(request),
  };
}
