/**
 * Custom ListerWatchers that violate their contract: the failure is reported and retried with backoff, and ends when
 * they behave.
 */
import {
  createSharedInformer,
  type ListerWatcher,
  type ListPart,
  type ListRequest,
  listPages,
  type WatchEvent,
  type WatchSignal,
} from 'rx-informer';
import { concat, EMPTY, from, NEVER, Observable, of, throwError, timer } from 'rxjs';
import { map } from 'rxjs/operators';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import {
  added,
  bookmark,
  deleted,
  modified,
  type Pod,
  pod,
} from '../support/scripted-list-watch.ts';
import { unhandled } from './unhandled.ts';

type List = Observable<ListPart<Pod>>;
type Watch = Observable<WatchSignal<Pod>>;

const part = (version: number, ...items: Pod[]): ListPart<Pod> => ({
  items,
  metadata: { resourceVersion: String(version) },
});
const events = (...all: WatchEvent<Pod>[]): WatchSignal<Pod> => ({ kind: 'events', events: all });
const opened: WatchSignal<Pod> = { kind: 'opened' };
const garbage = <V>(value: unknown) => value as V;
/** Emits after an unsubscribe, and after its own completion. */
const emitsAfterEnd = <V>(...values: V[]) =>
  new Observable<V>((subscriber) => {
    for (const value of values) subscriber.next(value);
    subscriber.complete();
    for (const value of values) subscriber.next(value);
    subscriber.error(new Error('after the end'));
  });

const strange = (field: string, value: unknown): Pod => {
  const { metadata } = pod('strange', 5);
  return garbage<Pod>({ metadata: { ...metadata, [field]: value } });
};

const lists: Record<string, (request: ListRequest<Pod>) => List> = {
  throws: () => {
    throw new Error('no list');
  },
  'returns undefined': () => garbage<List>(undefined),
  'returns a number': () => garbage<List>(7),
  errors: () => throwError(() => 'a string instead of an error'),
  'errors after its part': () =>
    concat(
      of(part(5, pod('web', 5))),
      throwError(() => new Error()),
    ),
  'is empty': () => EMPTY,
  'never ends': () => NEVER,
  'never ends after its part': () => concat(of(part(5, pod('web', 5))), NEVER),
  'emits null': () => of(garbage<ListPart<Pod>>(null)),
  'emits a part without items': () =>
    of(garbage<ListPart<Pod>>({ metadata: { resourceVersion: '5' } })),
  'emits a part without metadata': () => of(garbage<ListPart<Pod>>({ items: [pod('web', 5)] })),
  'emits a version that is not a string': () =>
    of(garbage<ListPart<Pod>>({ items: [pod('half', 5)], metadata: { resourceVersion: 5 } })),
  'emits metadata that are not an object': () =>
    of(garbage<ListPart<Pod>>({ items: [pod('half', 5)], metadata: 7 })),
  'emits a token that is not a string': () =>
    of(garbage<ListPart<Pod>>({ items: [], metadata: { resourceVersion: '5', continue: 7 } })),
  'emits the same token again and again': () =>
    of({ items: [], metadata: { resourceVersion: '5', continue: 'x' } }),
  ...Object.fromEntries(
    Object.entries({
      name: 7,
      namespace: {},
      uid: Symbol('uid'),
      resourceVersion: 5,
    }).map(([field, value]) => [
      `emits a valid item, then one whose ${field} is not a string`,
      (): List => of(garbage<ListPart<Pod>>({ ...part(5, pod('half', 5), strange(field, value)) })),
    ]),
  ),
  'emits an item whose metadata is not an object': () =>
    of(garbage<ListPart<Pod>>({ ...part(5), items: [pod('half', 5), { metadata: 7 }] })),
  'emits refused objects that are not valid': () =>
    of(garbage<ListPart<Pod>>({ ...part(5, pod('half', 5)), refused: [7] })),
  'emits items that are not objects': () =>
    of(garbage<ListPart<Pod>>({ items: [null, 7, {}], metadata: { resourceVersion: '5' } })),
};

/** Emits each page synchronously, so that recursive requests would overflow the stack. */
const paged = (request: ListRequest<Pod>, pages: number): List => {
  const at = Number(request.continue ?? 0);
  const next = at + 1 < pages ? { continue: String(at + 1) } : {};
  return of({ items: [pod(`pod-${at}`, 5)], metadata: { resourceVersion: '5', ...next } });
};

const watches: Record<string, () => Watch> = {
  throws: () => {
    throw new Error('no watch');
  },
  'returns undefined': () => garbage<Watch>(undefined),
  errors: () => throwError(() => undefined),
  'is empty': () => EMPTY,
  'closes as soon as it opens': () => of(opened),
  'never opens': () => NEVER,
  'emits null': () => concat(of(opened, garbage<WatchSignal<Pod>>(null)), NEVER),
  'emits an unknown signal': () =>
    concat(of(opened, garbage<WatchSignal<Pod>>({ kind: 'strange' })), NEVER),
  'emits a signal without its events': () =>
    concat(of(opened, garbage<WatchSignal<Pod>>({ kind: 'events' })), NEVER),
  'emits events that are not objects': () =>
    concat(of(opened, events(...garbage<WatchEvent<Pod>[]>([null, 7, {}]))), NEVER),
  'emits an event without an object': () =>
    concat(of(opened, events(garbage<WatchEvent<Pod>>({ type: 'ADDED', key: 'a/b' }))), NEVER),
  'emits after its end': () => emitsAfterEnd(opened, events(added(pod('late', 6)))),
  'emits 5,000 batches synchronously': () =>
    from(Array.from({ length: 5_000 }, (_, at) => events(modified(pod('web', 6 + at))))),
};

/** Signals that must fail immediately, and not only when the silence after them times out. */
const malformed: Record<string, WatchSignal<Pod>> = {
  'an object whose name is not a string': events({
    type: 'ADDED',
    key: 'shop/7',
    object: strange('name', 7),
  }),
  'an object under the key of another object': events({
    type: 'ADDED',
    key: 'web',
    object: pod('x', 6),
  }),
  'a deletion whose version is not a string': events(
    garbage({ ...deleted(pod('web', 6)), resourceVersion: 6 }),
  ),
  'a refusal without a version': events(garbage({ type: 'REFUSED', key: 'shop/web' })),
  'a list of items that are not objects': garbage({
    kind: 'listed',
    items: [7],
    resourceVersion: '6',
  }),
  'a list without a version': garbage({ kind: 'listed', items: [] }),
};

let errors: ReturnType<typeof unhandled>;
beforeEach(() => {
  errors = unhandled();
});
afterEach(() => errors.restore());

/** Plays an informer over a ListerWatcher that is faulty for ten minutes, and then behaves. */
async function play(bad: Partial<Pick<ListerWatcher<Pod>, 'list' | 'watch'>>) {
  const time = new VirtualTime();
  let behaves = false;
  let requests = 0;
  const reported: unknown[] = [];
  const listerWatcher: ListerWatcher<Pod> = {
    watchList: false,
    list: (request) => {
      requests++;
      return behaves || bad.list === undefined ? of(part(9, pod('web', 9))) : bad.list(request);
    },
    watch: (request) => {
      requests++;
      if (!behaves && bad.watch !== undefined) return bad.watch(request);
      const alive = timer(0, 60_000, time).pipe(map((): WatchSignal<Pod> => ({ kind: 'alive' })));
      return concat(of(opened, events(added(pod('db', 90_000)), bookmark(90_001))), alive);
    },
  };
  const informer = createSharedInformer(listerWatcher, {
    scheduler: time,
    random: () => 0,
    onUnhandledError: (error) => reported.push(error),
  });
  const phases: string[] = [];
  informer.status$.subscribe(({ phase, error }) => phases.push(error ? `${phase}!` : phase));
  informer.start();
  await time.advance(600_000);
  const requestsWhileFaulty = requests;
  behaves = true;
  await time.advance(400_000);
  const held = informer.indexer.list().map(({ metadata }) => `${metadata.name}`);
  const { phase, error } = informer.status;
  await informer.stop();
  await time.advance(400_000);
  return {
    requestsWhileFaulty,
    held: held.sort(),
    phase,
    error,
    phases,
    reported,
    left: time.pending,
  };
}

describe('a list that', () => {
  it.each(Object.entries(lists))(
    'W11: %s: the failure is reported and retried',
    async (_name, list) => {
      const { requestsWhileFaulty, held, phase, error, phases, reported, left } = await play({
        list,
      });
      expect(phases).toContain('backoff!');
      expect(requestsWhileFaulty).toBeLessThan(60);
      expect({ held, phase, error, left }).toEqual({
        held: ['db', 'web'],
        phase: 'watching',
        error: undefined,
        left: 0,
      });
      expect(reported).toEqual([]);
      expect(await errors.reports()).toEqual([]);
    },
  );
});

describe('a watch that', () => {
  it.each(Object.entries(watches))(
    'W11: %s: the failure is reported and retried',
    async (name, watch) => {
      const { requestsWhileFaulty, held, phase, error, phases, reported, left } = await play({
        watch,
      });
      expect(phases, name).toContain('backoff!');
      expect(requestsWhileFaulty).toBeLessThan(80);
      expect({ phase, error, left }).toEqual({ phase: 'watching', error: undefined, left: 0 });
      expect(held).toEqual(expect.arrayContaining(['db', 'web']));
      expect(reported).toEqual([]);
      expect(await errors.reports()).toEqual([]);
    },
  );
});

describe('a watch that emits', () => {
  it.each(Object.entries(malformed))('W11: %s: fails immediately', async (_name, signal) => {
    const time = new VirtualTime();
    const informer = createSharedInformer<Pod>(
      {
        watchList: false,
        list: () => of(part(5, pod('web', 5))),
        watch: () => concat(of(opened, signal), NEVER),
      },
      { scheduler: time, random: () => 0 },
    );
    informer.start();
    await time.advance(10);
    const { phase, error } = informer.status;
    expect([phase, error?.reason]).toEqual(['backoff', 'Malformed']);
    expect(informer.indexer.list()).toEqual([pod('web', 5)]);
    await informer.stop();
    expect(await errors.reports()).toEqual([]);
  });
});

it('W9: a list of 20,000 synchronous pages does not overflow the stack', () => {
  let items = 0;
  let version = '';
  listPages<Pod>(
    { list: (request) => paged(request, 20_000), watch: () => NEVER },
    { resourceVersion: '0' },
  ).subscribe((progress) => {
    if (progress.kind === 'part') items += progress.items.length;
    if (progress.kind === 'listed') version = progress.resourceVersion;
  });
  expect({ items, version }).toEqual({ items: 20_000, version: '5' });
});
