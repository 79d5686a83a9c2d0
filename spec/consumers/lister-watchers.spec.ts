/** ListerWatchers of one's own that break their promises: told, tried again without a storm, and forgotten once they behave. */
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
/** Goes on talking when nobody listens any more, and after its own end. */
const deaf = <V>(...values: V[]) =>
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
  'throws at once': () => {
    throw new Error('no list');
  },
  'gives no Observable': () => garbage<List>(undefined),
  'gives a number': () => garbage<List>(7),
  errors: () => throwError(() => 'a string, no error'),
  'errors after its part': () =>
    concat(
      of(part(5, pod('web', 5))),
      throwError(() => new Error()),
    ),
  'is empty': () => EMPTY,
  'never ends': () => NEVER,
  'never ends after its part': () => concat(of(part(5, pod('web', 5))), NEVER),
  'gives null': () => of(garbage<ListPart<Pod>>(null)),
  'gives a part without items': () =>
    of(garbage<ListPart<Pod>>({ metadata: { resourceVersion: '5' } })),
  'gives a part without metadata': () => of(garbage<ListPart<Pod>>({ items: [pod('web', 5)] })),
  'gives a version that is no text': () =>
    of(garbage<ListPart<Pod>>({ items: [pod('half', 5)], metadata: { resourceVersion: 5 } })),
  'gives metadata that are none': () =>
    of(garbage<ListPart<Pod>>({ items: [pod('half', 5)], metadata: 7 })),
  'gives a token that is no text': () =>
    of(garbage<ListPart<Pod>>({ items: [], metadata: { resourceVersion: '5', continue: 7 } })),
  'gives the same token again and again': () =>
    of({ items: [], metadata: { resourceVersion: '5', continue: 'x' } }),
  ...Object.fromEntries(
    Object.entries({
      name: 7,
      namespace: {},
      uid: Symbol('uid'),
      resourceVersion: 5,
    }).map(([field, value]) => [
      `gives half a part, then an item whose ${field} is no text`,
      (): List => of(garbage<ListPart<Pod>>({ ...part(5, pod('half', 5), strange(field, value)) })),
    ]),
  ),
  'gives an item whose metadata is none': () =>
    of(garbage<ListPart<Pod>>({ ...part(5), items: [pod('half', 5), { metadata: 7 }] })),
  'gives keys of refused objects that are none': () =>
    of(garbage<ListPart<Pod>>({ ...part(5, pod('half', 5)), rejected: [7] })),
  'gives items that are none': () =>
    of(garbage<ListPart<Pod>>({ items: [null, 7, {}], metadata: { resourceVersion: '5' } })),
};

/** As many pages as there are, all at once: nothing may recurse. */
const paged = (asked: ListRequest<Pod>, pages: number): List => {
  const at = Number(asked.continue ?? 0);
  const next = at + 1 < pages ? { continue: String(at + 1) } : {};
  return of({ items: [pod(`pod-${at}`, 5)], metadata: { resourceVersion: '5', ...next } });
};

const watches: Record<string, () => Watch> = {
  'throws at once': () => {
    throw new Error('no watch');
  },
  'gives no Observable': () => garbage<Watch>(undefined),
  errors: () => throwError(() => undefined),
  'is empty': () => EMPTY,
  'closes as soon as it opens': () => of(opened),
  'never opens': () => NEVER,
  'gives null': () => concat(of(opened, garbage<WatchSignal<Pod>>(null)), NEVER),
  'gives a signal that is none': () =>
    concat(of(opened, garbage<WatchSignal<Pod>>({ kind: 'strange' })), NEVER),
  'gives no events': () => concat(of(opened, garbage<WatchSignal<Pod>>({ kind: 'events' })), NEVER),
  'gives events that are none': () =>
    concat(of(opened, events(...garbage<WatchEvent<Pod>[]>([null, 7, {}]))), NEVER),
  'gives an event without an object': () =>
    concat(of(opened, events(garbage<WatchEvent<Pod>>({ type: 'ADDED', key: 'a/b' }))), NEVER),
  'goes on after its end': () => deaf(opened, events(added(pod('late', 6)))),
  'is a flood at once': () =>
    from(Array.from({ length: 5_000 }, (_, at) => events(modified(pod('web', 6 + at))))),
};

/** Said at once, not found out by the silence that follows. */
const garbled: Record<string, WatchSignal<Pod>> = {
  'an object whose name is no text': events({
    type: 'ADDED',
    key: 'shop/7',
    object: strange('name', 7),
  }),
  'an object under the key of another': events({ type: 'ADDED', key: 'web', object: pod('x', 6) }),
  'a deletion whose version is no text': events(
    garbage({ ...deleted(pod('web', 6)), resourceVersion: 6 }),
  ),
  'a refusal without a version': events(garbage({ type: 'REJECTED', key: 'shop/web' })),
  'a list of what is none': garbage({ kind: 'listed', items: [7], resourceVersion: '6' }),
  'a list without a version': garbage({ kind: 'listed', items: [] }),
};

let errors: ReturnType<typeof unhandled>;
beforeEach(() => {
  errors = unhandled();
});
afterEach(() => errors.restore());

/** Misbehaves for ten minutes, then does its work. */
async function play(bad: Partial<Pick<ListerWatcher<Pod>, 'list' | 'watch'>>) {
  const time = new VirtualTime();
  let behaves = false;
  let asked = 0;
  const reported: unknown[] = [];
  const listerWatcher: ListerWatcher<Pod> = {
    watchList: false,
    list: (request) => {
      asked++;
      return behaves || bad.list === undefined ? of(part(9, pod('web', 9))) : bad.list(request);
    },
    watch: (request) => {
      asked++;
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
  const stormy = asked;
  behaves = true;
  await time.advance(400_000);
  const held = informer.indexer.list().map(({ metadata }) => `${metadata.name}`);
  const { phase, error } = informer.status;
  await informer.stop();
  await time.advance(400_000);
  return { stormy, held: held.sort(), phase, error, phases, reported, left: time.pending };
}

describe('a list that', () => {
  it.each(Object.entries(lists))('W11: %s: is tried again, and told', async (_name, list) => {
    const { stormy, held, phase, error, phases, reported, left } = await play({ list });
    expect(phases).toContain('backoff!');
    expect(stormy).toBeLessThan(60);
    expect({ held, phase, error, left }).toEqual({
      held: ['db', 'web'],
      phase: 'watching',
      error: undefined,
      left: 0,
    });
    expect(reported).toEqual([]);
    expect(await errors.heard()).toEqual([]);
  });
});

describe('a watch that', () => {
  it.each(Object.entries(watches))('W11: %s: is tried again, and told', async (name, watch) => {
    const { stormy, held, phase, error, phases, reported, left } = await play({ watch });
    expect(phases, name).toContain('backoff!');
    expect(stormy).toBeLessThan(80);
    expect({ phase, error, left }).toEqual({ phase: 'watching', error: undefined, left: 0 });
    expect(held).toEqual(expect.arrayContaining(['db', 'web']));
    expect(reported).toEqual([]);
    expect(await errors.heard()).toEqual([]);
  });
});

describe('a watch that gives', () => {
  it.each(Object.entries(garbled))('W11: %s: fails at once', async (_name, signal) => {
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
    expect(await errors.heard()).toEqual([]);
  });
});

it('W9: a list of 20,000 pages that come at once overflows nothing', () => {
  let items = 0;
  let version = '';
  listPages<Pod>(
    { list: (asked) => paged(asked, 20_000), watch: () => NEVER },
    { resourceVersion: '0' },
  ).subscribe((progress) => {
    if (progress.kind === 'part') items += progress.items.length;
    if (progress.kind === 'listed') version = progress.resourceVersion;
  });
  expect({ items, version }).toEqual({ items: 20_000, version: '5' });
});
