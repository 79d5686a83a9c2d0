/** Live queries over a factory: sharing, coverage, indices and explanations, with a fake API server. */
import {
  createLiveQueries,
  explain,
  forResource,
  type KubernetesObject,
  label,
  liveFilter,
  liveQuery,
  toView,
} from 'rx-informer';
import { nodes, pods } from 'rx-informer/resources';

import { describe, expect, it } from 'vitest';
import { Mirror } from '../query/mirror.ts';
import { place, type Rig, rig } from './rig.ts';

const byName = { name: 'metadata.name', namespace: 'metadata.namespace' } as const;
const running = { path: 'status.phase', eq: 'Running' } as const;

/** How many lists and watches were requested. */
const collections = ({ server }: Rig) =>
  server.requests.filter(({ path }) => path.includes('pods'));

function quiet(): void {
  // A listener that does nothing.
}

describe('live queries', () => {
  it('Q70: a view shows the rows of a query, and the status of its informer', async () => {
    const r = rig();
    const factory = r.factory();
    const queries = createLiveQueries(factory);
    const query = liveQuery({
      from: pods,
      where: running,
      select: byName,
      orderBy: { path: 'metadata.namespace' },
    });
    const view = queries.view(query);
    expect(view.getSnapshot()).toMatchObject({ rows: [], synced: false });
    const leave = view.subscribe(quiet);
    factory.start();
    await r.until(factory.whenSynced());
    expect(view.getSnapshot().rows).toEqual(
      ['other', 'shop', 'till'].map((namespace) => ({ name: 'web-0', namespace })),
    );
    expect(view.getSnapshot()).toMatchObject({
      total: 3,
      synced: true,
      status: { phase: 'watching' },
    });
    r.server.objects.update(pods, { metadata: place('web-0'), status: { phase: 'Failed' } });
    await r.time.advance(10);
    expect(view.getSnapshot().rows).toHaveLength(2);
    leave();
  });

  it('Q70: a row whose function throws is in the status of the view, also behind further operators', async () => {
    const r = rig();
    const factory = r.factory();
    const test = (pod: KubernetesObject) => {
      if (pod.metadata?.namespace === 'till') throw new Error('till');
      return true;
    };
    const query = liveQuery({ from: pods, where: { key: 'throws', test } });
    const stream = createLiveQueries(factory).stream(query);
    const view = toView(stream.pipe(liveFilter(() => true)));
    const leave = view.subscribe(quiet);
    factory.start();
    await r.until(factory.whenSynced());
    expect(view.getSnapshot().rows).toHaveLength(2);
    const { refusedRows, phase } = view.getSnapshot().status;
    expect(refusedRows).toMatchObject([{ operator: 'liveFilter', key: 'till/web-0' }]);
    expect(phase).toBe('watching');
    leave();
  });

  it('Q70: equal queries share one pipeline and one view, and nothing is left after the linger', async () => {
    const r = rig();
    const factory = r.factory({ lingerMs: 5_000 });
    factory.start();
    const queries = createLiveQueries(factory);
    let calls = 0;
    const make = () =>
      liveQuery({
        from: pods,
        where: {
          key: 'counted',
          test: () => {
            calls++;
            return true;
          },
        },
      });
    const view = queries.view(make());
    const leave = view.subscribe(quiet);
    expect(queries.view(make())).toBe(view);
    await r.until(factory.whenSynced());
    const mirror = new Mirror(queries.stream(make()));
    expect(mirror.objects()).toHaveLength(3);
    expect([calls, queries.size]).toEqual([3, 1]);
    mirror.subscription.unsubscribe();
    leave();
    await r.time.advance(4_900);
    expect([queries.size, factory.informers]).toEqual([1, ['pods']]);
    // Somebody comes back: the answer stands, and nothing is computed.
    const back = new Mirror(queries.stream(make()));
    expect([back.objects().length, calls]).toEqual([3, 3]);
    await r.time.advance(6_000);
    expect(queries.size).toBe(1);
    back.subscription.unsubscribe();
    await r.time.advance(5_000);
    expect([queries.size, factory.informers]).toEqual([0, []]);
    const before = collections(r).length;
    await r.time.advance(600_000);
    expect(collections(r).length).toBe(before);
  });

  it('Q70: queries that begin together read one list of the objects, and those after a commit another one', async () => {
    const r = rig();
    const factory = r.factory();
    const informer = factory.informer(pods);
    factory.start();
    await r.until(factory.whenSynced());
    const everything = liveQuery({ from: pods });
    const begin = () => {
      const mirror = new Mirror(createLiveQueries(factory).stream(everything));
      mirror.subscription.unsubscribe();
      return mirror.sets[0];
    };
    const [first, second] = [begin(), begin()];
    expect(first?.changes).toHaveLength(informer.indexer.size);
    expect(second?.changes).toBe(first?.changes);
    r.server.objects.delete(pods, place('web-0'));
    await r.time.advance(10);
    const later = begin();
    expect(later?.changes).toHaveLength(informer.indexer.size);
    expect(first?.changes).toHaveLength(informer.indexer.size + 1);
  });

  it('Q72: only the resource, the namespace and the selectors reach a request', async () => {
    const r = rig();
    const factory = r.factory();
    factory.start();
    const query = liveQuery({
      from: pods,
      namespace: 'shop',
      labelSelector: 'app=web',
      fieldSelector: 'status.phase=Running',
      where: { path: label('of'), eq: 'shop' },
      orderBy: { path: 'metadata.name' },
      limit: 1,
      select: byName,
    });
    const mirror = new Mirror(createLiveQueries(factory).stream(query));
    await r.until(factory.whenSynced());
    expect(mirror.objects()).toEqual([{ name: 'web-0', namespace: 'shop' }]);
    const sent = r.server.requests.map(({ path, query: each }) => [
      path,
      each['labelSelector'],
      each['fieldSelector'],
    ]);
    expect(new Set(sent.map((each) => JSON.stringify(each)))).toEqual(
      new Set([
        JSON.stringify(['/api/v1/namespaces/shop/pods', 'app=web', 'status.phase=Running']),
      ]),
    );
    mirror.subscription.unsubscribe();
  });

  it('Q73: a query reads a running informer that has all its objects, and sends nothing', async () => {
    const r = rig();
    const factory = r.factory();
    factory.informer(pods);
    factory.start();
    await r.until(factory.whenSynced());
    const before = collections(r).length;
    const queries = createLiveQueries(factory);
    const cases: [object, string[]][] = [
      [{}, ['other/web-0', 'shop/web-0', 'till/web-0']],
      [{ namespace: 'shop' }, ['shop/web-0']],
      [{ namespace: ['shop', 'till'] }, ['shop/web-0', 'till/web-0']],
      [{ labelSelector: 'of in (shop)' }, ['shop/web-0']],
      [{ fieldSelector: 'metadata.namespace=till' }, ['till/web-0']],
      [{ namespace: 'shop', labelSelector: 'of=till' }, []],
    ];
    for (const [spec, keys] of cases) {
      const mirror = new Mirror(queries.stream(liveQuery({ from: pods, ...spec })));
      expect([...mirror.rows.values()].map(({ key }) => key).sort()).toEqual(keys);
      mirror.subscription.unsubscribe();
    }
    expect(collections(r).length).toBe(before);
    expect(factory.informers).toEqual(['pods']);
  });

  it('Q73: a query reads an informer that is complete rather than one with fewer objects that is not', async () => {
    const r = rig();
    const factory = r.factory();
    factory.informer(pods);
    factory.informer(pods, { namespaces: ['shop', 'till'] });
    r.server.faults.neverAnswer({ path: '/api/v1/pods' });
    factory.start();
    await r.time.advance(1_000);
    const queries = createLiveQueries(factory);
    const mirror = new Mirror(queries.stream(liveQuery({ from: pods, namespace: 'shop' })));
    expect([...mirror.rows.values()].map(({ key }) => key)).toEqual(['shop/web-0']);
    mirror.subscription.unsubscribe();
  });

  it('Q73: a query does not read an informer that lacks objects, is refused, stopped or of another form', async () => {
    const r = rig();
    const factory = r.factory({ onWarning: quiet });
    const queries = createLiveQueries(factory);
    const use = (spec: object) => {
      const [source] = queries.explain(liveQuery({ from: pods, ...spec })).sources;
      return `${source?.use} ${source?.informer}`;
    };
    factory.informer(pods);
    // Not started: it may never be.
    expect(use({ namespace: 'shop' })).toBe('new pods/shop');
    expect(use({})).toBe('same pods');
    factory.informer(pods, { as: 'metadata' });
    factory.informer(pods, { namespace: 'till' });
    factory.informer(pods, { namespace: '', labelSelector: 'app=web,of in (shop,till)' });
    factory.informer(pods, { namespace: '', fieldSelector: 'status.phase=Running' });
    r.server.faults.failNext({ resource: pods, path: '/api/v1/pods' }, { status: 403, times: 99 });
    factory.start();
    await r.time.advance(100);
    // The informer of all pods is refused, and that of one namespace is not.
    expect(use({ namespace: 'shop' })).toBe('new pods/shop');
    expect(use({ namespace: 'till', labelSelector: 'a=b' })).toBe('wider pods/till');
    // That of till has a part of the objects.
    expect(use({ namespace: ['shop', 'till'] })).toBe('part pods/till');
    expect(use({ namespace: ['shop', 'other'] })).toBe('new pods/other+shop');
  });

  it('Q73: a wider selector is one that every object of the query satisfies', async () => {
    const r = rig();
    const factory = r.factory();
    const queries = createLiveQueries(factory);
    const wide = {
      namespace: '',
      labelSelector: 'app in (web,db),!old',
      fieldSelector: 'status.phase=Running',
    };
    factory.informer(pods, wide);
    factory.start();
    await r.until(factory.whenSynced());
    const explained = (labelSelector: string, fieldSelector: string) => {
      const query = liveQuery({ from: pods, namespace: '', labelSelector, fieldSelector });
      const [source] = queries.explain(query).sources;
      return [source?.use, ...(source?.local ?? [])];
    };
    const phase = 'status.phase=Running';
    expect(explained('!old,app in (db,web)', phase)).toEqual(['same']);
    expect(explained('app=web,!old', phase)).toEqual(['wider', 'labelSelector app=web,!old']);
    expect(explained('app=web,of=shop,!old', phase)[0]).toBe('wider');
    expect(explained('app=web', phase)).toEqual(['new']);
    expect(explained('app,!old', phase)).toEqual(['new']);
    expect(explained('app in (web,x),!old', phase)).toEqual(['new']);
    const all = '!old,app in (db,web)';
    expect(explained(all, '')).toEqual(['new']);
    expect(explained(all, 'status.phase!=Running')).toEqual(['new']);
    expect(explained(all, `${phase},metadata.name=web-0`)).toEqual([
      'wider',
      'fieldSelector metadata.name=web-0',
    ]);
    // A server may know this field otherwise than by its path, or not at all.
    expect(explained(all, `${phase},spec.nodeName=n`)).toEqual(['new']);
  });

  it('Q74: a query over several namespaces reads the informers that have them, and requests the others', async () => {
    const r = rig();
    const factory = r.factory({ lingerMs: 1_000 });
    factory.informer(pods, { namespace: 'shop' });
    factory.informer(pods, { namespace: 'till' });
    factory.start();
    await r.until(factory.whenSynced());
    const before = collections(r).length;
    const queries = createLiveQueries(factory);
    const of = (...namespace: string[]) =>
      liveQuery({
        from: pods,
        namespace,
        where: running,
        select: byName,
        orderBy: [{ path: 'metadata.namespace', direction: 'desc' }, { path: 'metadata.name' }],
      });
    const both = new Mirror(queries.stream(of('shop', 'till')));
    const names = (mirror: typeof both) =>
      mirror.objects().map(({ namespace, name }) => `${namespace}/${name}`);
    expect(names(both)).toEqual(['till/web-0', 'shop/web-0']);
    expect([both.sets.length, both.sets[0]?.synced]).toEqual([1, true]);
    expect(collections(r).length).toBe(before);
    expect(factory.informers).toEqual(['pods/shop', 'pods/till']);
    const all = new Mirror(queries.stream(of('shop', 'till', 'other')));
    await r.until(factory.whenSynced());
    expect(names(all)).toEqual(['till/web-0', 'shop/web-0', 'other/web-0']);
    expect(factory.informers).toEqual(['pods/shop', 'pods/till', 'pods/other']);
    expect(
      new Set(
        collections(r)
          .slice(before)
          .map(({ path }) => path),
      ),
    ).toEqual(new Set(['/api/v1/namespaces/other/pods']));
    const status = { phase: 'Running' };
    r.server.objects.create(pods, { metadata: place('web-1'), status });
    r.server.objects.delete(pods, place('web-0', 'till'));
    r.server.objects.create(pods, { metadata: place('web-0', 'till'), status });
    r.server.objects.update(pods, { metadata: place('web-0', 'other'), status: {} });
    await r.time.advance(100);
    expect(names(all)).toEqual(['till/web-0', 'shop/web-0', 'shop/web-1']);
    expect(names(both)).toEqual(names(all));
    both.subscription.unsubscribe();
    all.subscription.unsubscribe();
    await r.time.advance(2_000);
    expect([queries.size, factory.informers]).toEqual([0, ['pods/shop', 'pods/till']]);
  });

  it('Q74: the parts of a query are as few as possible, and a wider informer is read by its namespaces', async () => {
    const r = rig();
    const factory = r.factory();
    factory.informer(pods, { namespace: 'shop' });
    factory.informer(pods, { namespaces: ['shop', 'till'] });
    factory.informer(pods, { namespace: 'other', labelSelector: 'app=db' });
    factory.start();
    await r.until(factory.whenSynced());
    const queries = createLiveQueries(factory);
    const query = liveQuery({ from: pods, namespace: ['till', 'shop', 'other'], where: running });
    expect(queries.explain(query)).toMatchObject({
      sources: [
        {
          informer: 'pods/shop+till',
          use: 'part',
          reason: 'the informer runs and has the namespaces shop, till of the query',
          requests: { namespaces: ['shop', 'till'] },
        },
        {
          informer: 'pods/other',
          use: 'new',
          reason: 'no running informer has the other namespaces of the query',
          requests: { namespaces: ['other'], labelSelector: '' },
        },
      ],
      local: ['union of 2 informers'],
    });
    const part = liveQuery({ from: pods, namespace: ['till', 'other'] });
    expect(queries.explain(part).sources).toMatchObject([
      { informer: 'pods/shop+till', index: { name: 'namespace', value: 'till' }, local: [] },
      { informer: 'pods/other', use: 'new' },
    ]);
    expect(queries.explain(part).text).toContain('\n  then union of 2 informers\n');
    const mirror = new Mirror(queries.stream(part));
    await r.until(factory.whenSynced());
    expect([...mirror.rows.values()].map(({ key }) => key).sort()).toEqual([
      'other/web-0',
      'till/web-0',
    ]);
    mirror.subscription.unsubscribe();
    const unknown = liveQuery({ from: pods, namespace: ['other', 'none'] });
    expect(queries.explain(unknown).sources.map(({ informer, use }) => [informer, use])).toEqual([
      ['pods/other', 'part'],
      ['pods/none', 'new'],
    ]);
    // An informer of exactly the other namespaces is used although it does not run.
    await r.until(factory.stop());
    factory.acquire(pods, { namespace: 'other' }).informer.start();
    await r.time.advance(100);
    const stopped = liveQuery({ from: pods, namespace: ['other', 'shop'] });
    expect(queries.explain(stopped).sources.map(({ informer, use }) => [informer, use])).toEqual([
      ['pods/other', 'part'],
      ['pods/shop', 'part'],
    ]);
  });

  it.each([undefined, null, []])(
    'Q75: an index function may return %j, also where the index is not read',
    async (nothing) => {
      const r = rig();
      const byApp = ({ metadata }: KubernetesObject) =>
        (metadata?.namespace === 'shop' ? ['shop'] : nothing) as readonly string[];
      const factory = r.factory({ resources: [forResource(pods, { indexers: { byApp } })] });
      factory.informer(pods);
      factory.start();
      await r.until(factory.whenSynced());
      const queries = createLiveQueries(factory);
      const isShop = { index: 'byApp', eq: 'shop' } as const;
      const isTill = { path: 'metadata.namespace', eq: 'till' } as const;
      const read = (where: object) => {
        const view = queries.view(liveQuery({ from: pods, where: where as never }));
        view.subscribe(quiet)();
        const { rows, status } = view.getSnapshot();
        return [
          rows
            .map(({ metadata }) => metadata.namespace)
            .sort()
            .join(' '),
          status.refusedRows,
        ];
      };
      expect(read(isShop)).toEqual(['shop', []]);
      expect(read({ or: [isShop, isTill] })).toEqual(['shop till', []]);
      expect(read({ not: isShop })).toEqual(['other till', []]);
      expect(read({ and: [isTill, { not: isShop }] })).toEqual(['till', []]);
    },
  );

  it('Q75: an equality on an index, or on the namespace, reads the index', async () => {
    const r = rig();
    const byApp = ({ metadata }: KubernetesObject) => [metadata?.labels?.['of'] ?? ''];
    const factory = r.factory({ resources: [forResource(pods, { indexers: { byApp } })] });
    factory.informer(pods);
    factory.start();
    await r.until(factory.whenSynced());
    const queries = createLiveQueries(factory);
    const read = (spec: object) => {
      const query = liveQuery({ from: pods, ...spec });
      const mirror = new Mirror(queries.stream(query));
      const keys = [...mirror.rows.values()].map(({ key }) => key);
      mirror.subscription.unsubscribe();
      const [source] = queries.explain(query).sources;
      return { keys, index: source?.index, local: source?.local };
    };
    expect(read({ where: { index: 'byApp', eq: 'shop' } })).toEqual({
      keys: ['shop/web-0'],
      index: { name: 'byApp', value: 'shop' },
      local: [],
    });
    expect(
      read({
        where: {
          and: [
            { index: 'byApp', eq: 'shop' },
            { path: 'metadata.namespace', eq: 'till' },
          ],
        },
      }),
    ).toEqual({
      keys: [],
      index: { name: 'byApp', value: 'shop' },
      local: ['where {"path":"metadata.namespace","eq":"till"}'],
    });
    expect(read({ where: { path: 'metadata.namespace', eq: 'till' } })).toEqual({
      keys: ['till/web-0'],
      index: { name: 'namespace', value: 'till' },
      local: [],
    });
    expect(read({ namespace: 'till' })).toMatchObject({
      keys: ['till/web-0'],
      index: { name: 'namespace', value: 'till' },
    });
    expect(read({ where: { not: { index: 'byApp', eq: 'shop' } } })).toMatchObject({
      keys: ['other/web-0', 'till/web-0'],
      index: undefined,
    });
    // The index has objects without a namespace under '', but an absent value equals nothing.
    const nowhere = liveQuery({ from: nodes, where: { path: 'metadata.namespace', eq: '' } });
    const none = new Mirror(queries.stream(nowhere));
    await r.until(factory.whenSynced());
    const [source = {}] = queries.explain(nowhere).sources;
    expect([none.rows.size, 'index' in source]).toEqual([0, false]);
    none.subscription.unsubscribe();
    const odd = liveQuery({ from: pods, where: { or: [{ index: 'byNode', eq: 'a' }] } });
    for (const name of ['stream', 'view', 'explain'] as const) {
      const ask: (query: typeof odd) => unknown = queries[name];
      expect(() => ask(odd)).toThrow(
        /^live queries: where\.index is "byNode", but the informers of pods have only these indices: namespace, byApp/,
      );
    }
  });

  it('Q76: an explanation says what is read from where, what is applied locally and what is needed', () => {
    const query = liveQuery({
      from: pods,
      namespace: 'shop',
      labelSelector: 'app=web',
      where: { path: 'spec.containers.image', prefix: 'nginx' },
      select: { name: 'metadata.name' },
      orderBy: [{ path: 'metadata.creationTimestamp', direction: 'desc', as: 'time' }],
      limit: 5,
    });
    const explained = explain(query);
    expect(explained).toMatchObject({
      key: query.key,
      resource: 'pods',
      sources: [
        {
          informer: 'pods/shop/app=web',
          use: 'new',
          requests: { namespaces: ['shop'], labelSelector: 'app=web', fieldSelector: '' },
          local: ['where {"path":"spec.containers.image","prefix":"nginx"}'],
        },
      ],
      local: ['orderBy metadata.creationTimestamp as time desc', 'limit 5', 'select name'],
      paths: ['metadata.creationTimestamp', 'metadata.name', 'spec.containers.image'],
      functions: [],
      wholeObjects: false,
    });
    expect(JSON.parse(JSON.stringify(explained))).toEqual(explained);
    expect(explained.text).toBe(
      [
        'query of pods',
        '  creates the informer pods/shop/app=web: no running informer has all objects of the query',
        '    requests shop, labels app=web',
        '    selects locally: where {"path":"spec.containers.image","prefix":"nginx"}',
        '  then orderBy metadata.creationTimestamp as time desc',
        '  then limit 5',
        '  then select name',
        '  needs metadata.creationTimestamp, metadata.name, spec.containers.image',
      ].join('\n'),
    );
    const test = () => true;
    const whole = explain(
      liveQuery({ from: pods, where: { key: 'mine', test }, select: { n: 'metadata.name' } }),
    );
    expect(whole).toMatchObject({ functions: ['mine'], wholeObjects: true });
    expect(explain(liveQuery({ from: pods })).wholeObjects).toBe(true);
    const project = () => undefined;
    const kept = explain(liveQuery({ from: pods, limit: 2, select: { key: 'rows', project } }));
    expect(kept.local.slice(-2)).toEqual(['select rows', 'limit 2']);
  });

  it('Q76: while a query runs, its explanation is what it does', async () => {
    const r = rig();
    const factory = r.factory();
    factory.start();
    const queries = createLiveQueries(factory);
    const query = liveQuery({ from: pods, namespace: 'shop' });
    const mirror = new Mirror(queries.stream(query));
    factory.informer(pods);
    await r.until(factory.whenSynced());
    expect(queries.explain(query).sources[0]).toMatchObject({ informer: 'pods/shop', use: 'new' });
    const other = liveQuery({ from: pods, namespace: 'till' });
    expect(queries.explain(other).sources[0]).toMatchObject({ informer: 'pods', use: 'wider' });
    mirror.subscription.unsubscribe();
  });

  it.each(['freeze', 'off'] as const)(
    'Q70: the list of a view can be changed only with the mutationGuard off (%s)',
    async (mutationGuard) => {
      const r = rig();
      const factory = r.factory();
      const view = createLiveQueries(factory, { mutationGuard }).view(liveQuery({ from: pods }));
      const leave = view.subscribe(quiet);
      factory.start();
      await r.until(factory.whenSynced());
      const { rows } = view.getSnapshot();
      expect([rows.length, Object.isFrozen(rows)]).toEqual([3, mutationGuard === 'freeze']);
      leave();
    },
  );

  it('Q70: live queries take a factory of this library and valid options', () => {
    const r = rig();
    expect(() => createLiveQueries({} as never)).toThrow(
      /^createLiveQueries: the factory is .*; it must be/,
    );
    expect(() => createLiveQueries(r.factory(), { lingerMs: -1 })).toThrow(
      /createLiveQueries: lingerMs/,
    );
    expect(() => createLiveQueries(r.factory(), { ready: 5 as never })).toThrow(
      'createLiveQueries: ready is 5; it must be a function',
    );
    expect(() => createLiveQueries(r.factory(), { mutationGuard: 'bogus' as never })).toThrow(
      `createLiveQueries: mutationGuard is "bogus"; it must be 'freeze' or 'off'`,
    );
    for (const options of [{}, { ready: undefined, mutationGuard: 'off' } as const]) {
      expect(createLiveQueries(r.factory(), options).size).toBe(0);
    }
  });
});
