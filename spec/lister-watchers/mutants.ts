/** ListerWatchers with one fault each, by the scenario that must notice the fault. */
import {
  ApiError,
  type KubernetesObject,
  type ListerWatcher,
  type ListPart,
  type ListRequest,
  type WatchEvent,
  type WatchRequest,
  type WatchSignal,
} from 'rx-informer';
import { catchError, concat, concatMap, map, NEVER, Observable, of, throwError } from 'rxjs';

type Source = ListerWatcher<KubernetesObject>;
type Event = WatchEvent<KubernetesObject>;
type Lists = (
  request: ListRequest<KubernetesObject>,
  list: Source['list'],
) => Observable<ListPart<KubernetesObject>>;
type Watches = (
  request: WatchRequest<KubernetesObject>,
  watch: Source['watch'],
) => Observable<WatchSignal<KubernetesObject>>;
type Mutant = (source: Source) => Source;

function over(source: Source, methods: Partial<Source>): Source {
  return Object.assign(Object.create(source), { list: source.list, watch: source.watch }, methods);
}

const listing =
  (lists: Lists): Mutant =>
  (source) =>
    over(source, { list: (request) => lists(request, source.list) });

const watching =
  (watches: Watches): Mutant =>
  (source) =>
    over(source, { watch: (request) => watches(request, source.watch) });

/** Changes the events of each watch, one group of events at a time. */
const changing = (change: () => (events: readonly Event[]) => readonly Event[]): Mutant =>
  watching((request, watch) => {
    const changed = change();
    return watch(request).pipe(
      map((signal) =>
        signal.kind === 'events' ? { ...signal, events: changed(signal.events) } : signal,
      ),
    );
  });

const isBookmark = ({ type }: Event) => type === 'BOOKMARK';

/** Loses one event in `oneIn`. */
const losing = (oneIn: number): Mutant => {
  let met = 0;
  return changing(
    () => (events) => events.filter((event) => isBookmark(event) || ++met % oneIn !== 0),
  );
};

/** Subscribes when the method is called, and repeats to each subscriber what arrived so far. */
function hot<V>(source: Observable<V>): Observable<V> {
  const emitted: V[] = [];
  const subscribers = new Set<(value: V) => void>();
  let isDone = false;
  const run = source.subscribe({
    next: (value) => {
      emitted.push(value);
      for (const next of subscribers) next(value);
    },
    complete: () => (isDone = true),
    error: () => (isDone = true),
  });
  return new Observable((subscriber) => {
    for (const value of emitted) subscriber.next(value);
    if (isDone) return subscriber.complete();
    const next = (value: V) => subscriber.next(value);
    subscribers.add(next);
    return () => {
      subscribers.delete(next);
      if (subscribers.size === 0) run.unsubscribe();
    };
  });
}

/** Forwards the values and keeps its source when it is unsubscribed. */
function keeping<V>(source: Observable<V>): Observable<V> {
  return new Observable((subscriber) => {
    source.subscribe({
      next: (value) => subscriber.next(value),
      complete: () => subscriber.complete(),
      error: (error) => subscriber.error(error),
    });
  });
}

let firstPart: ListPart<KubernetesObject> | undefined;

/** Mutants as [how the title of the scenario begins, fault, ListerWatcher]. */
export const MUTANTS: readonly (readonly [string, string, Mutant])[] = [
  [
    'W80: a list has',
    'a list omits its last object',
    listing((request, list) =>
      list(request).pipe(map((part) => ({ ...part, items: part.items.slice(0, -1) }))),
    ),
  ],
  [
    'W80: a list has',
    'a list has an object twice',
    listing((request, list) =>
      list(request).pipe(
        map((part) => ({ ...part, items: [...part.items, ...part.items.slice(0, 1)] })),
      ),
    ),
  ],
  [
    'W80: a list has',
    'the version of a list is older than its objects',
    listing((request, list) =>
      list(request).pipe(
        map((part) =>
          part.metadata === undefined
            ? part
            : { ...part, metadata: { ...part.metadata, resourceVersion: '2' } },
        ),
      ),
    ),
  ],
  [
    'W81: the list of',
    'an empty list never ends',
    listing((request, list) =>
      list(request).pipe(concatMap((part) => (part.items.length > 0 ? of(part) : NEVER))),
    ),
  ],
  ['W81: a watch from', 'the first event of a watch is lost', losing(1)],
  [
    'W81: a watch from',
    'a watch shows only what happens after it was answered',
    changing(() => {
      let isFirst = true;
      return (events) => {
        const kept = isFirst ? [] : events;
        isFirst = false;
        return kept;
      };
    }),
  ],
  [
    'W83: a watch resumes',
    'a watch always starts at the version of the first watch',
    (source) => {
      let first: string | undefined;
      return over(source, {
        watch: (request) => {
          first ??= request.resourceVersion;
          return source.watch({ ...request, resourceVersion: first });
        },
      });
    },
  ],
  [
    'W84: a version',
    'an expired version is answered with silence',
    changing(() => (events) => events.filter(({ type }) => type !== 'ERROR')),
  ],
  [
    'W84: a version',
    'an expired version fails with an error that does not say so',
    changing(
      () => (events) =>
        events.map((event) =>
          event.type === 'ERROR'
            ? { ...event, error: ApiError.local('Malformed', 'garbage') }
            : event,
        ),
    ),
  ],
  [
    'W85: versions',
    'events of one batch come in the wrong order',
    changing(() => (events) => [...events].reverse()),
  ],
  [
    'W85: versions',
    'a deletion has the version of the state before it',
    changing(
      () => (events) =>
        events.map((event) =>
          event.type === 'DELETED' ? { ...event, resourceVersion: '2' } : event,
        ),
    ),
  ],
  [
    'W85: bookmarks',
    'there are no bookmarks',
    changing(() => (events) => events.filter((one) => !isBookmark(one))),
  ],
  [
    'W85: bookmarks',
    'a bookmark has a version that the watch has not reached',
    changing(
      () => (events) =>
        events.map((event) =>
          isBookmark(event)
            ? ({
                ...event,
                resourceVersion: `${Number(('resourceVersion' in event && event.resourceVersion) || 0) + 2}`,
              } as Event)
            : event,
        ),
    ),
  ],
  [
    'W6: unsubscribing',
    'an unsubscribed watch stays open',
    watching((request, watch) => keeping(watch(request))),
  ],
  [
    'W6: unsubscribing',
    'a list emits after it was unsubscribed',
    (source) =>
      over(source, {
        list: (request) =>
          new Observable((subscriber) => {
            const { destination } = subscriber as unknown as {
              destination: { partialObserver?: typeof subscriber };
            };
            source.list(request).subscribe({
              next: (part) =>
                subscriber.closed ? destination.partialObserver?.next(part) : subscriber.next(part),
              complete: () => subscriber.complete(),
            });
          }),
      }),
  ],
  [
    'W6: nothing is',
    'a request is sent when the method is called',
    (source) =>
      over(source, {
        list: (request) => hot(source.list(request)),
        watch: (request) => hot(source.watch(request)),
      }),
  ],
  [
    'W89',
    'a list ignores the demand',
    listing(({ demand: _demand, ...request }, list) => list(request)),
  ],
  [
    'W89',
    'a watch ignores the demand',
    watching(({ demand: _demand, ...request }, watch) => watch(request)),
  ],
  [
    'W89',
    'events that arrive without demand are lost',
    watching(({ demand, ...request }, watch) =>
      watch(request).pipe(
        concatMap((signal) => (signal.kind === 'events' && demand?.() ? of() : of(signal))),
      ),
    ),
  ],
  [
    'W1: pages together',
    'a continue token is ignored',
    listing(({ continue: _token, ...request }, list) => list(request)),
  ],
  [
    'W1: pages together',
    'pages are ignored',
    listing(({ limit: _limit, ...request }, list) => list(request)),
  ],
  [
    'W84: the next page',
    'a page at a forgotten version is read from the newest state',
    listing(({ continue: token, ...request }, list) =>
      list(token === undefined ? request : { ...request, continue: token }).pipe(
        catchError(() => list(request)),
      ),
    ),
  ],
  [
    'W80: a streaming list',
    'the end mark comes before the last object',
    changing(() => {
      let held: Event | undefined;
      return (events) => {
        const [first, ...rest] = events;
        if (held === undefined && first?.type === 'ADDED') {
          held = first;
          return rest;
        }
        const kept = held === undefined ? events : [...events, held];
        return events.some(isBookmark) ? kept : events;
      };
    }),
  ],
  [
    'W80: a streaming list',
    'the end mark is missing',
    changing(() => (events) => events.filter((one) => !isBookmark(one))),
  ],
  [
    'W80: a list at',
    'the first answer of a list is repeated',
    listing((request, list) =>
      firstPart === undefined
        ? list(request).pipe(map((part) => (firstPart = part)))
        : of(firstPart),
    ),
  ],
  [
    'W80: a list at',
    'each list at a version fails',
    listing((request, list) =>
      request.resourceVersion === ''
        ? list(request)
        : throwError(() => ApiError.local('Malformed', 'garbage')),
    ),
  ],
  [
    'W83: a watch ends',
    'a watch never ends',
    watching((request, watch) => concat(watch(request), NEVER)),
  ],
  ['W94', 'one event in five is lost', losing(5)],
  [
    'W94',
    'deletions are lost',
    changing(() => (events) => events.filter(({ type }) => type !== 'DELETED')),
  ],
];
