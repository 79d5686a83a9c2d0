/** Tests what a message cannot carry (rows, errors and parameters that are not data), and what a worker says about the queries of its tabs. */
import { liveQuery } from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { askedQueries, workerQuery } from 'rx-informer/worker';
import { describe, expect, it } from 'vitest';
import { BrowserRig, follow, type RigTab } from './browser-rig.ts';
import { names, podOf, rigWith } from './rig-pods.ts';

const selecting = (project: (pod: Pod) => unknown) => () =>
  liveQuery({ from: pods, select: { key: 'own', project } } as never) as never;
const own = { named: 'own' } as never;

describe('what cannot be copied', () => {
  it.each<[string, unknown, string]>([
    ['a function', () => 1, 'a function'],
    ['a Date', new Date(0), 'a Date'],
    ['a Map', new Map(), 'a Map'],
    ['a list of a Set', [new Set(['a'])], 'a Set'],
    ['NaN', Number.NaN, 'NaN'],
    ['a bigint', 1n, 'a BigInt'],
    ['undefined in a list', [undefined], 'undefined'],
    ['an Error', new TypeError('no'), 'a Error'],
    ['an object with toJSON', new URL('http://a/'), 'a URL'],
  ])(
    'B20: a row with %s is refused, and the tab has the other rows and queries',
    async (_what, value, what) => {
      const rig = rigWith('a', 'b');
      rig.queries = {
        own: selecting(({ metadata: { name = '' } = {} }) => ({
          name,
          at: name === 'b' ? value : undefined,
        })),
      };
      const { cluster } = rig.open();
      const [tab, other] = [follow(cluster, own), follow(cluster, names)];
      await rig.pass(3_000);
      expect(tab.shown.error).toBeUndefined();
      expect((tab.shown.rows as { name: string }[]).map(({ name }) => name)).toEqual(['a']);
      expect([tab.shown.total, tab.shown.synced]).toEqual([1, true]);
      expect(tab.shown.status.refusedRows.map(({ error }) => `${error}`)).toEqual([
        expect.stringMatching(
          new RegExp(
            `^TypeError: .* cannot be sent, because at(\\.0)? is ${what}; select data of JSON$`,
          ),
        ),
      ]);
      expect([other.shown.rows.length, other.shown.synced]).toEqual([2, true]);
      await rig.pass(120_000);
      expect(rig.counts.tabs).toBe(1);
    },
  );

  it('B20: a row that is a proxy, which no port copies, reaches the tab as JSON', async () => {
    const rig = rigWith('a');
    rig.queries = { own: selecting(({ metadata }) => new Proxy({ name: metadata?.name }, {})) };
    const tab = follow(rig.open().cluster, own);
    await rig.pass(3_000);
    expect(tab.shown.rows).toEqual([{ name: 'a' }]);
  });

  it.each(['objects', 'columns without an order'])(
    'B20: an object that is nested too deeply is a refused row, and the tab has the others: %s',
    async (form) => {
      const rig = rigWith('a', 'b', 'd');
      const deep = (levels: number): unknown =>
        Array.from({ length: levels }).reduce((inner) => ({ k: inner }), 1);
      const areObjects = form === 'objects';
      const query = areObjects
        ? liveQuery({ from: pods, limit: 200, orderBy: { path: 'metadata.name' } })
        : liveQuery({ from: pods, select: { metadata: 'metadata', spec: 'spec' } });
      const { cluster } = rig.open();
      const [tab, columns] = [
        follow(cluster, query as unknown as typeof names),
        follow(cluster, names),
      ];
      await rig.pass(1_000);
      const namesOf = (rows: readonly unknown[]) =>
        (rows as Pod[]).map(({ metadata }) => metadata?.name);
      const initial = namesOf(tab.shown.rows);
      expect(initial).toEqual(['a', 'b', 'd']);
      const spec = { containers: deep(2_000) } as never;
      rig.server.objects.create(pods, { ...podOf('c'), spec });
      rig.server.objects.create(pods, podOf('e'));
      await rig.pass(1_000);
      expect(namesOf(tab.shown.rows)).toEqual(['a', 'b', 'd', 'e']);
      expect([tab.shown.total, tab.shown.synced, tab.shown.status.error]).toEqual([
        4,
        true,
        undefined,
      ]);
      const [refused] = tab.shown.status.refusedRows;
      expect([refused?.key, `${refused?.error}`]).toEqual([
        'shop/c',
        'RangeError: shop/c cannot be sent, because it is nested over 500 levels deep; select fields above these levels',
      ]);
      expect(columns.shown.rows).toHaveLength(5);
      // A tab that comes later is told the same, and its rows keep their places.
      const later = follow(rig.open().cluster, query as unknown as typeof names);
      rig.server.objects.create(pods, podOf('bb'));
      rig.server.objects.delete(pods, { namespace: 'shop', name: 'a' });
      await rig.pass(1_000);
      const now = areObjects ? ['b', 'bb', 'd', 'e'] : ['b', 'd', 'e', 'bb'];
      for (const each of [tab, later]) {
        expect(namesOf(each.shown.rows)).toEqual(now);
        expect(each.shown.status.refusedRows).toHaveLength(1);
      }
      // An object that was shown and becomes too deep leaves, and comes back.
      const change = async (name: string, levels: number) => {
        const had = rig.server.objects.get(pods, { namespace: 'shop', name });
        rig.server.objects.update(pods, {
          ...had,
          spec: { containers: deep(levels) } as never,
        } as Pod);
        await rig.pass(1_000);
      };
      await change('d', 600);
      expect(namesOf(tab.shown.rows)).toEqual(now.filter((name) => name !== 'd'));
      expect(tab.shown.status.refusedRows.map(({ key }) => key).toSorted()).toEqual([
        'shop/c',
        'shop/d',
      ]);
      await change('d', 400);
      await change('c', 400);
      expect(namesOf(tab.shown.rows).toSorted()).toEqual(['b', 'bb', 'c', 'd', 'e']);
      if (areObjects) expect(namesOf(tab.shown.rows)).toEqual(['b', 'bb', 'c', 'd', 'e']);
      expect([tab.shown.total, tab.shown.status.refusedRows]).toEqual([5, []]);
    },
  );

  it.each<[string, unknown]>([
    ['without a text', Object.create(null)],
    ['whose message is a function', Object.assign(new Error('a'), { message: () => 1 })],
    ['whose stack is a list of functions', Object.assign(new Error('a'), { stack: [() => 1] })],
    [
      'whose message throws',
      Object.defineProperty(new Error('a'), 'message', {
        get: () => {
          throw new Error('no');
        },
      }),
    ],
  ])('B4: an error %s reaches the tab, and the other rows do, too', async (_what, thrown) => {
    const rig = rigWith('a', 'b');
    rig.queries = {
      own: selecting(({ metadata }) => {
        if (metadata?.name === 'b') throw thrown;
        return { name: metadata?.name };
      }),
    };
    const tab = follow(rig.open().cluster, own);
    await rig.pass(3_000);
    expect([tab.shown.rows.length, tab.shown.status.refusedRows.length]).toEqual([1, 1]);
    expect(tab.shown.status.refusedRows[0]?.error).toBeInstanceOf(Error);
  });

  it.each<[string, unknown]>([
    ['Set', new Set(['a'])],
    ['Map', new Map()],
    ['Date', new Date(0)],
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['BigInt', 1n],
    ['Symbol', Symbol('a')],
    ['Promise', Promise.resolve()],
    ['Uint8Array', new Uint8Array(1)],
  ])('B3: a parameter that is not JSON is refused with its place: %s', (type, value) => {
    const { cluster } = new BrowserRig().open();
    const message = new RegExp(`since is (a )?${type}, .*pass data of JSON`);
    expect(() => workerQuery('own', { since: value } as never)).toThrow(message);
    expect(() => cluster.view({ named: 'own', params: { since: value } } as never)).toThrow(
      message,
    );
    expect(() => cluster.view({ from: pods, limit: 1, since: value } as never)).toThrow(message);
  });

  it('B3: undefined in a list, which JSON makes null, is refused with its place', () => {
    const of = (params: unknown) => () => workerQuery('own', params as never);
    expect(of([1, undefined])).toThrow('1 is undefined, which a worker cannot receive');
    // biome-ignore lint/suspicious/noSparseArray: a hole is the case
    expect(of({ names: [, 'a'] })).toThrow('names.0 is undefined, which a worker cannot receive');
    expect(of({ name: undefined })).not.toThrow();
    expect(of(undefined)).not.toThrow();
  });

  it('B3: queries are the same if and only if the worker receives the same', async () => {
    const rig = rigWith('a');
    const received: unknown[] = [];
    rig.queries = {
      own: (params: never) => {
        received.push(params);
        return liveQuery({ from: pods, select: { name: 'metadata.name' } }) as never;
      },
    };
    const { cluster } = rig.open();
    const view = (params: unknown) => cluster.view(workerQuery('own', params as never) as never);
    expect(view({ a: -0, b: undefined })).toBe(view({ a: 0 }));
    expect(view({ a: 0 })).not.toBe(view({ a: null }));
    await rig.pass(100);
    view({ a: -0, b: undefined }).subscribe(() => undefined);
    await rig.pass(1_000);
    expect(received).toEqual([{ a: 0 }]);
    expect(Object.keys(received[0] as object)).toEqual(['a']);
  });
});

function rigOf(...podNames: string[]): BrowserRig {
  const rig = rigWith(...podNames);
  rig.queries = {
    asked: (_page: string) => askedQueries(rig.served, { scheduler: rig.scheduler }),
  };
  return rig;
}

/** Asks as the page of this name. */
const panel = ({ cluster }: RigTab, page: string) =>
  follow(
    cluster,
    workerQuery<{ asked: (page: string) => ReturnType<typeof askedQueries> }, 'asked'>(
      'asked',
      page,
    ),
  );

/** `podsOf 1 2h`: the query of the tabs 1 and 2, of which the second is hidden. */
function shown(followed: ReturnType<typeof panel>): string[] {
  const { rows } = followed.view.getSnapshot();
  return rows
    .map(({ query, tabs }) => {
      const numbers = tabs.map(({ tab, isHidden }) => `${tab}${isHidden ? 'h' : ''}`);
      return [query['named'] ?? 'pods', ...numbers].join(' ');
    })
    .sort();
}

describe('what tabs ask', () => {
  it('B19: equal queries are one row with the numbers of their tabs, hidden ones marked', async () => {
    const rig = rigOf('a');
    const tabs = [rig.open(), rig.open(), rig.open({ hidden: true })] as const;
    const first = panel(tabs[0], 'one');
    await rig.pass(100);
    follow(tabs[0].cluster, names);
    follow(tabs[1].cluster, names);
    follow(tabs[2].cluster, names);
    // A tab that asks twice counts once.
    follow(tabs[1].cluster, names);
    await rig.pass(1_100);
    expect(shown(first)).toEqual(['asked 1', 'pods 1 2 3h']);
    tabs[2].turn('shown');
    tabs[1].turn('hidden');
    await rig.pass(1_100);
    expect(shown(first)).toEqual(['asked 1', 'pods 1 2h 3']);
  });

  it('B19: a page finds itself, and a query and a tab that are gone leave the rows', async () => {
    const rig = rigOf('a');
    const tabs = [rig.open(), rig.open()] as const;
    const first = panel(tabs[0], 'one');
    const second = panel(tabs[1], 'two');
    const asked = follow(tabs[0].cluster, names);
    await rig.pass(1_100);
    expect(shown(second)).toEqual(['asked 1', 'asked 2', 'pods 1']);
    const own = second.view.getSnapshot().rows.find(({ query }) => query['params'] === 'two');
    expect(own?.tabs).toEqual([{ tab: 2, isHidden: false }]);
    asked.leave();
    await rig.pass(1_100);
    expect(shown(second)).toEqual(['asked 1', 'asked 2']);
    tabs[0].turn('left');
    await rig.pass(1_100);
    expect(shown(second)).toEqual(['asked 2']);
    // Another tab has another number.
    expect(first.view.getSnapshot().stale).toBe(true);
    const third = panel(rig.open(), 'three');
    await rig.pass(1_100);
    expect(shown(third)).toEqual(['asked 2', 'asked 3']);
  });

  it('B19: after the death of the worker the rows are those of the next one', async () => {
    const rig = rigOf('a');
    const tabs = [rig.open(), rig.open()] as const;
    const first = panel(tabs[0], 'one');
    follow(tabs[1].cluster, names);
    await rig.pass(1_100);
    rig.kill();
    await rig.pass(3_000);
    expect(rig.starts).toBe(2);
    const both = shown(first).join(' ');
    expect(both).toMatch(/^asked [12] pods [12]$/);
    expect(new Set(both.match(/[12]/g)).size).toBe(2);
  });

  it('refuses what is not a server of queries', () => {
    expect(() => askedQueries({} as never)).toThrow(
      'askedQueries: the first argument is {}; it must be what serveQueries(…) returned',
    );
    const rig = rigOf('a');
    rig.open();
    for (const periodMs of [-1, 0, Number.NaN]) {
      expect(() => askedQueries(rig.served, { periodMs })).toThrow('askedQueries: periodMs');
    }
  });
});
