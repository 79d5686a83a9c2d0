/** `liveFilter` and its conditions of text, `liveDistinct`, `liveFlatMap` and `liveUnion`: which rows they give. */

import {
  type ChangeSet,
  createClient,
  createInformerFactory,
  createLiveQueries,
  liveDistinct,
  liveFilter,
  liveFlatMap,
  liveJoin,
  liveMap,
  liveQuery,
  liveSort,
  liveUnion,
  toView,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { changeSet, createFakeApiServer, createVirtualTime } from 'rx-informer/testing';
import { BehaviorSubject, config, EMPTY, type Observable, of, Subject } from 'rxjs';
import { afterEach, describe, expect, expectTypeOf, it } from 'vitest';
import { type Pod, pod } from '../delta/pods.ts';
import * as fc from '../support/fast-check.ts';
import { eventually } from '../support/patience.ts';
import { Mirror } from './mirror.ts';
import { type Item, type Step, World } from './world.ts';

it('Q20: a predicate holds if its value counts as true, as in a filter of an array', () => {
  const values = ['web', '', 0, 1, null, undefined, {}, true, false, Number.NaN];
  const added = values.map((value, at) => ({ metadata: { name: `${at}`, uid: `${at}` }, value }));
  const valued = ({ value }: { readonly value: unknown }) => value as boolean;
  const view = toView(of(changeSet({ added })).pipe(liveFilter(valued)));
  view.subscribe(() => undefined);
  expect(view.getSnapshot().rows.map(valued)).toEqual(added.filter(valued).map(valued));
  expect(view.getSnapshot().rows.length).toBe(4);
});

interface Named {
  readonly metadata: { readonly name: string; readonly uid: string };
}
const web: Named = { metadata: { name: 'web', uid: 'u1' } };
const sets$ = of(changeSet<Named>({ added: [web] } as never));
const later = async () => {
  throw new Error('never reported');
};

/** Functions that return a Promise, which counts as true, or would be taken for a row. */
const promising: Record<string, (source$: Observable<ChangeSet<Named>>) => Observable<unknown>> = {
  liveFilter: liveFilter<Named>(later as never),
  liveMap: liveMap<Named, unknown>(later),
  liveSort: liveSort<Named>(later as never),
  liveJoin: liveJoin<Named, Named>(sets$, {
    on: { owner: 'left' },
    project: later as never,
  }) as never,
};

it.each(Object.entries(promising))(
  'Q23: a function of %s that returns a Promise keeps its row out',
  (_name, operator) => {
    const view = toView(operator(sets$) as Observable<ChangeSet<unknown>>);
    view.subscribe(() => undefined);
    const { rows, status } = view.getSnapshot();
    expect(rows).toEqual([]);
    expect(status.refusedRows.map(({ key, error }) => [key, String(error)])).toEqual([
      [
        'web',
        expect.stringMatching(/^TypeError: .* returned a Promise; it must return synchronously/),
      ],
    ]);
  },
);

it('Q23: so does the test of a query, also behind other conditions', async () => {
  const server = createFakeApiServer();
  server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web' } });
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
  const factory = createInformerFactory(client);
  factory.start();
  const test = { key: 'later', test: later as never };
  const other = { path: 'metadata.name', eq: 'db' } as const;
  for (const where of [test, { and: [test] }, { or: [other, test] }, { not: test }]) {
    const view = createLiveQueries(factory).view(liveQuery({ from: pods, where: where as never }));
    const leave = view.subscribe(() => undefined);
    await eventually(() => expect(view.getSnapshot().synced).toBe(true));
    expect(view.getSnapshot().rows).toEqual([]);
    expect(view.getSnapshot().status.refusedRows.length).toBe(1);
    leave();
  }
  await factory.stop();
});

afterEach(() => {
  config.onUnhandledError = null;
});

const step: fc.Arbitrary<Step> = fc.record({
  name: fc.constantFrom('p', 'q', 'r', 's', 't'),
  what: fc.constantFrom('set', 'set', 'delete', 'recreate', 'again'),
  n: fc.nat(9),
  group: fc.constantFrom('a', 'b', 'c'),
});
/** One text, several or none. */
const textsOf = ({ n, group }: Item): string | undefined | readonly string[] => {
  if (n === 0) return undefined;
  return n % 3 === 0 ? [group, 'every third', group] : group;
};

describe('liveDistinct', () => {
  it('Q38: has each text of the present rows once, which is its own id and key', () => {
    fc.assert(
      fc.property(fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 20 }), (commits) => {
        const world = new World();
        const mirror = new Mirror(liveDistinct(textsOf)(world.changes$));
        for (const steps of commits) {
          world.commit(steps);
          const texts = new Set([...world.items.values()].flatMap((item) => textsOf(item) ?? []));
          expect(mirror.ids()).toEqual([...texts].sort());
          for (const [id, { key, object }] of mirror.rows) expect([key, object]).toEqual([id, id]);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('Q38: the function may be an Observable, and an object for which it throws gives no text', () => {
    config.onUnhandledError = () => undefined;
    const world = new World();
    world.reset(['x', 'y'].map((name, n) => ({ name, n })));
    const value$ = new BehaviorSubject(({ metadata }: Item) => metadata.name);
    const view = toView(liveDistinct(value$)(world.changes$));
    const leave = view.subscribe(() => undefined);
    expect(view.getSnapshot().rows).toEqual(['x', 'y']);
    value$.next(({ n }) => {
      if (n === 1) throw new Error('refuses 1');
      return 'z';
    });
    expect(view.getSnapshot().rows).toEqual(['z']);
    expect(view.getSnapshot().status.refusedRows.map(({ key }) => key)).toEqual(['y']);
    leave();
  });

  it('Q22, Q37: refuses a constant that is not a function', () => {
    expect(() => liveDistinct('namespace' as never)).toThrow(
      'liveDistinct: value is "namespace"; it must be a function, or an Observable of functions',
    );
  });
});

interface Part {
  readonly name?: string;
  readonly type?: string;
  readonly n?: number;
}
const podOf = (uid: string, ...parts: readonly (Part | string)[]) => ({
  metadata: { name: `pod-${uid}`, uid, namespace: 'shop' },
  parts,
});
type PodWithParts = ReturnType<typeof podOf>;

function flat(...first: PodWithParts[]) {
  const sets = new Subject<ReturnType<typeof changeSet<PodWithParts>>>();
  const rows = liveFlatMap<PodWithParts, Part | string>(({ parts }) => parts)(sets);
  const mirror = new Mirror(rows);
  const view = toView(rows);
  view.subscribe(() => undefined);
  sets.next(changeSet({ added: first, reset: true }));
  return { sets, mirror, refusedRows: () => view.getSnapshot().status.refusedRows };
}

describe('liveFlatMap', () => {
  it('Q50: the id of a row is uid/id and its key key/id, by name, type or the string itself', () => {
    const { mirror } = flat(podOf('u1', { name: 'a' }, { type: 'example.com/Ready' }, 'finalizer'));
    expect([...mirror.rows.values()].map(({ id, key }) => [id, key])).toEqual([
      ['u1/a', 'shop/pod-u1/a'],
      ['u1/example.com%2FReady/', 'shop/pod-u1/example.com/Ready'],
      ['u1/finalizer', 'shop/pod-u1/finalizer'],
    ]);
  });

  it('Q50: rows of two objects never share an id, whatever contains a slash', () => {
    const names = ['b/c', 'c', 'b%2Fc', 'b%2Fc/', '/', '//', '%2F/'];
    const rows = names.map((name) => ({ name }));
    const all = ['a', 'a/b', 'a/b%2Fc/', 'a/'].map((uid, at) => {
      const { metadata, parts } = podOf(uid, ...rows);
      return { metadata: { ...metadata, name: `pod-${at}` }, parts };
    });
    const { sets, mirror, refusedRows } = flat(...all);
    expect([mirror.rows.size, refusedRows().length]).toEqual([names.length * all.length, 0]);
    sets.next(changeSet({ deleted: all.slice(0, 1) }));
    expect(mirror.rows.size).toBe(names.length * (all.length - 1));
  });

  it('Q50: a row that is equal to the former one is kept, and only the others are emitted', () => {
    const before = podOf('u1', { name: 'a', n: 1 }, { name: 'b', n: 1 }, { name: 'c' });
    const now = podOf('u1', { name: 'b', n: 2 }, { name: 'a', n: 1 }, { name: 'd' });
    const { sets, mirror } = flat(before);
    sets.next(changeSet({ updated: [{ previous: before, object: now }] }));
    const changes = mirror.sets[1]?.changes.map(({ id, previous, object }) => [
      id,
      previous,
      object,
    ]);
    expect(changes).toEqual([
      ['u1/c', { name: 'c' }, undefined],
      ['u1/b', { name: 'b', n: 1 }, { name: 'b', n: 2 }],
      ['u1/d', undefined, { name: 'd' }],
    ]);
    expect(mirror.rows.get('u1/a')?.object).toBe(before.parts[0]);
    sets.next(changeSet({ deleted: [now] }));
    expect(mirror.objects()).toEqual([]);
  });

  it('names what replaces the removed option equals', () => {
    const options = { idOf: () => 'a', equals: () => true };
    expect(() => liveFlatMap(() => [1], options)).toThrow(
      new TypeError(
        'liveFlatMap: the option equals was removed; append liveMap((row) => row, { equals })',
      ),
    );
  });

  it('Q50: two rows with one id, or a row without one, reject their object and say what to do', () => {
    const twice = podOf('u1', { name: 'a' }, { name: 'a' });
    const { sets, mirror, refusedRows } = flat(twice, podOf('u2', { n: 1 }), podOf('u3', 'ok'));
    expect(mirror.ids()).toEqual(['u3/ok']);
    expect(refusedRows().map(({ operator, id, key }) => [operator, id, key])).toEqual([
      ['liveFlatMap', 'u1', 'shop/pod-u1'],
      ['liveFlatMap', 'u2', 'shop/pod-u2'],
    ]);
    expect(refusedRows().map(({ error }) => (error as Error).message)).toEqual([
      'liveFlatMap: two rows of shop/pod-u1 have the id "a"; return different ids with the option idOf',
      'liveFlatMap: a row of shop/pod-u2 has no id, because it has neither a name nor a type; return one with the option idOf',
    ]);
    const healed = podOf('u1', { name: 'a' });
    sets.next(changeSet({ updated: [{ previous: twice, object: healed }] }));
    expect([mirror.ids(), refusedRows().length]).toEqual([['u1/a', 'u3/ok'], 1]);
    sets.next(changeSet({ updated: [{ previous: healed, object: twice }] }));
    expect([mirror.ids(), refusedRows().length]).toEqual([['u3/ok'], 2]);
  });
});

const update = (previous: Pod, object: Pod) => changeSet<Pod>({ updated: [{ previous, object }] });
const add = (...added: Pod[]) => changeSet<Pod>({ added });
const remove = (...deleted: Pod[]) => changeSet<Pod>({ deleted });
const first = (...added: Pod[]) => changeSet<Pod>({ added, reset: true });

function sources() {
  return [new Subject<ChangeSet<Pod>>(), new Subject<ChangeSet<Pod>>()] as const;
}

describe('liveUnion', () => {
  it('Q46: puts the name of the source before each id and key, so one object in two sources is two rows', () => {
    const [east, west] = sources();
    const mirror = new Mirror(liveUnion({ east, west }));
    const web = pod('shop/web', 1);
    east.next(first(web));
    west.next(first(web, pod('shop/db', 1)));
    expect([...mirror.rows.values()].map(({ id, key }) => `${id} ${key}`)).toEqual([
      'east/u-shop/web east/shop/web',
      'west/u-shop/web west/shop/web',
      'west/u-shop/db west/shop/db',
    ]);
    const web2 = pod('shop/web', 2);
    west.next(update(web, web2));
    east.next(remove(web));
    east.next(first(pod('shop/other', 1)));
    expect(mirror.ids()).toEqual(['east/u-shop/other', 'west/u-shop/db', 'west/u-shop/web']);
    expect(mirror.rows.get('west/u-shop/web')?.object).toBe(web2);
    expect(mirror.sets.at(-1)?.resourceVersion).toBe('');
  });

  it('Q46: a name that cannot be told from an id is refused, and so is a source that is no stream', () => {
    expect(() => liveUnion({ 'a/b': EMPTY })).toThrow(
      /^liveUnion: the name of a source is "a\/b"; it must/,
    );
    expect(() => liveUnion({ '': EMPTY })).toThrow(TypeError);
    expect(() => liveUnion({ a: {} as never })).toThrow(
      /^liveUnion: a is .*; it must be a stream of change sets/,
    );
  });

  it('Q46: a list of streams is refused, with the words of what to write instead', () => {
    for (const list of [[], [EMPTY], [EMPTY, EMPTY]]) {
      const unite = () => liveUnion(list as never);
      expect(unite).toThrow(TypeError);
      expect(unite).toThrow(
        'liveUnion: sources is a list; give each stream a name, as in liveUnion({ a: one$, b: other$ }). To show the rows that one of several filters of a stream selects, use one filter: liveFilter((row) => one(row) || other(row))',
      );
    }
  });

  it('Q46: has the rows of all sources for the compiler, and takes no ordered stream', () => {
    const one$ = of(changeSet<Pod>({}));
    const other$ = of(changeSet<Item>({}));
    expectTypeOf(liveUnion({ one: one$, other: other$ })).toExtend<
      import('rxjs').Observable<ChangeSet<Pod | Item>>
    >();
    const sorted$ = one$.pipe(liveSort<Pod>(() => 0));
    // @ts-expect-error a list has no names
    expect(() => liveUnion([one$])).toThrow(TypeError);
    // @ts-expect-error the union would forget the order
    liveUnion({ sorted: sorted$ });
  });
  it('Q48: is synced when all sources are, and completes when all have; what has completed keeps its rows', () => {
    const [one, other] = sources();
    const mirror = new Mirror(liveUnion({ one, other }));
    one.next(first(pod('a', 1)));
    expect(mirror.sets.at(-1)?.synced).toBe(false);
    one.complete();
    other.next(first());
    expect([mirror.sets.at(-1)?.synced, mirror.sets.length]).toEqual([true, 2]);
    other.next(add(pod('b', 1)));
    expect([mirror.ids().length, mirror.completed]).toEqual([2, false]);
    other.complete();
    expect(mirror.completed).toBe(true);
    const [fine, failing] = sources();
    const failed = new Mirror(liveUnion({ fine, failing }));
    failing.error(new Error('gone'));
    expect(failed.error).toEqual(new Error('gone'));
  });

  it('Q46: what is no object is refused by name', () => {
    for (const [given, shown] of [
      [null, 'null'],
      [undefined, 'undefined'],
      [7, '7'],
    ]) {
      expect(() => liveUnion(given as never)).toThrow(
        `liveUnion: sources is ${shown}; it must be { name: stream }`,
      );
    }
  });

  it('Q48: a union of no sources is empty, synced and complete', () => {
    const mirror = new Mirror(liveUnion({}));
    expect([mirror.ids(), mirror.sets[0]?.synced, mirror.completed]).toEqual([[], true, true]);
  });
});

type Condition = { readonly path: string; readonly ignoreCase?: boolean } & (
  | { readonly contains: string }
  | { readonly prefix: string }
);

/** Whether a Pod is a row of a query with a condition. */
async function holds(where: Condition): Promise<boolean> {
  const { scheduler, advance } = createVirtualTime();
  const server = createFakeApiServer({ scheduler });
  server.objects.create(pods, {
    metadata: { namespace: 'shop', name: 'Web-0', labels: { 'a.b/team': 'WebShop' } },
    spec: {
      containers: [
        { name: 'a', image: 'Nginx' },
        { name: 'b', image: 'redis' },
      ],
    },
  });
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler });
  const live = createLiveQueries(createInformerFactory(client, { scheduler }));
  const view = live.view(liveQuery({ from: pods, where: where as never }));
  const leave = view.subscribe(() => undefined);
  await advance(2_000);
  const { rows, synced } = view.getSnapshot();
  leave();
  expect(synced).toBe(true);
  return rows.length === 1;
}

describe('ignoreCase', () => {
  it.each<[Condition, boolean]>([
    [{ path: 'metadata.name', contains: 'wEB', ignoreCase: true }, true],
    [{ path: 'metadata.name', contains: 'wEB', ignoreCase: false }, false],
    [{ path: 'metadata.name', contains: 'wEB' }, false],
    [{ path: 'metadata.name', contains: 'B-0', ignoreCase: true }, true],
    [{ path: 'metadata.name', prefix: 'B-0', ignoreCase: true }, false],
    [{ path: 'metadata.name', prefix: 'WEB', ignoreCase: true }, true],
    [{ path: 'metadata.name', prefix: 'WEB' }, false],
    [{ path: 'metadata.labels["a.b/team"]', contains: 'shop', ignoreCase: true }, true],
    [{ path: 'spec.containers.image', contains: 'REDIS', ignoreCase: true }, true],
    [{ path: 'spec.containers.image', contains: 'apache', ignoreCase: true }, false],
    [{ path: 'spec.nodeName', contains: '', ignoreCase: true }, false],
  ])('Q62: %j finds the Pod Web-0: %s', async (where, isFound) => {
    expect(await holds(where)).toBe(isFound);
  });

  it('Q62: equal conditions make equal queries, which are data', () => {
    const of = (where: Condition) => liveQuery({ from: pods, where: where as never });
    const key = (path: string, contains: string, ignoreCase = true) =>
      of({ path, contains, ignoreCase }).key;
    expect(key('metadata["name"]', 'WEB')).toBe(key('metadata.name', 'web'));
    expect(key('metadata.name', 'web')).not.toBe(key('metadata.name', 'web', false));
    expect(key('metadata.name', 'web', false)).toBe(
      of({ path: 'metadata.name', contains: 'web' }).key,
    );
    const query = of({ path: 'metadata.name', contains: 'WEB', ignoreCase: true });
    expect(liveQuery(JSON.parse(JSON.stringify(query))).key).toBe(query.key);
  });

  it('Q62: another value of ignoreCase is refused, and one beside another operator', () => {
    const of = (where: object) => () => liveQuery({ from: pods, where: where as never });
    expect(of({ path: 'metadata.name', contains: 'a', ignoreCase: 'yes' })).toThrow(
      /where.ignoreCase is "yes"; it must be true or false/,
    );
    expect(of({ path: 'metadata.name', in: ['a', 'b'], ignoreCase: true })).toThrow(
      /where.ignoreCase goes with contains or prefix alone/,
    );
  });
});
