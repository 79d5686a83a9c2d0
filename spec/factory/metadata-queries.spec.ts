/** Live queries of the metadata alone: what they request, which informer they read, and what they may ask. */
import {
  createClient,
  createLiveQueries,
  explain,
  forResource,
  label,
  liveQuery,
} from 'rx-informer';
import { configMaps, nodes, pods, secrets } from 'rx-informer/resources';
import { describe, expect, it } from 'vitest';
import { projections } from '../support/projections.ts';
import { worldOf } from './clusters/world.ts';
import { place, rig } from './rig.ts';

function quiet(): void {
  // A listener that does nothing.
}

const metadataOfPods = { from: pods, as: 'metadata' } as const;

describe('live queries of the metadata', () => {
  it('Q72: the rows are metadata, the request asks for nothing else, and changes arrive', async () => {
    const r = rig();
    const accepted: (string | null)[] = [];
    const client = createClient({
      baseUrl: 'http://fake',
      scheduler: r.time,
      fetch: (input, init) => {
        accepted.push(new Request(input, init).headers.get('accept'));
        return r.server.fetch(input, init);
      },
    });
    const secret = { metadata: place('password'), data: { key: 'aHVudGVyMg==' } };
    r.server.objects.create(secrets, secret);
    const { createInformerFactory } = await import('rx-informer');
    const factory = createInformerFactory(client, { scheduler: r.time, projections });
    const view = createLiveQueries(factory).view(
      liveQuery({ from: secrets, as: 'metadata', orderBy: { path: 'metadata.name' } }),
    );
    const leave = view.subscribe(quiet);
    factory.start();
    await r.until(factory.whenSynced());
    expect(view.getSnapshot().rows).toMatchObject([
      { kind: 'PartialObjectMetadata', metadata: { name: 'password', namespace: 'shop' } },
    ]);
    r.server.objects.create(secrets, { ...secret, metadata: place('token') });
    await r.time.advance(100);
    const { rows } = view.getSnapshot();
    expect(rows.map(({ metadata }) => metadata.name)).toEqual(['password', 'token']);
    expect(JSON.stringify(rows)).not.toContain('aHVudGVyMg');
    expect(accepted.length).toBeGreaterThan(0);
    expect(accepted.filter((accept) => !accept?.includes('PartialObjectMetadata'))).toEqual([]);
    leave();
    await r.until(factory.stop());
  });

  it('Q72: a query of the metadata reads no informer of complete objects, and the reverse', async () => {
    const r = rig();
    const factory = r.factory();
    const queries = createLiveQueries(factory);
    factory.start();
    const complete = queries.view(liveQuery({ from: pods, namespace: 'shop' }));
    const metadata = queries.view(liveQuery({ ...metadataOfPods, namespace: 'shop' }));
    const leaves = [complete.subscribe(quiet), metadata.subscribe(quiet)];
    await r.time.advance(100);
    expect(factory.informers).toEqual(['pods/shop', 'pods/shop/as metadata']);
    expect(complete.getSnapshot().rows[0]).toHaveProperty('status.phase', 'Running');
    expect(metadata.getSnapshot().rows[0]).toMatchObject({ kind: 'PartialObjectMetadata' });
    expect(metadata.getSnapshot().rows[0]).not.toHaveProperty('status');
    for (const leave of leaves) leave();
  });

  it('Q73: a query of the metadata reads a running informer of metadata with a wider scope', async () => {
    const r = rig();
    const factory = r.factory();
    const queries = createLiveQueries(factory);
    factory.start();
    factory.informer(pods, { as: 'metadata' });
    await r.until(factory.whenSynced());
    const query = liveQuery({
      ...metadataOfPods,
      namespace: ['shop', 'till'],
      labelSelector: 'app=web',
      where: { path: label('of'), eq: 'till' },
      select: { name: 'metadata.name', namespace: 'metadata.namespace' },
    });
    const view = queries.view(query);
    const leave = view.subscribe(quiet);
    expect(factory.informers).toEqual(['pods/as metadata']);
    expect(view.getSnapshot().rows).toEqual([{ name: 'web-0', namespace: 'till' }]);
    expect(queries.explain(query).text).toContain('reads the informer pods/as metadata');
    leave();
  });

  it('Q76: the explanation says that only the metadata is requested', () => {
    const { sources, wholeObjects, text } = explain(liveQuery(metadataOfPods));
    expect(sources[0]?.requests.as).toBe('metadata');
    expect(wholeObjects).toBe(false);
    expect(text).toContain('requests all namespaces, metadata only');
    expect(text).toContain('needs the metadata of the objects');
    expect(explain(liveQuery({ from: pods })).sources[0]?.requests).not.toHaveProperty('as');
  });

  it('Q75: an index of the factory is read, and one of a resource is refused, because it reads complete objects', async () => {
    const r = rig();
    const byPhase = forResource(pods, {
      indexers: { phase: ({ status }) => [status?.phase ?? ''] },
    });
    const factory = r.factory({
      resources: [byPhase],
      indexers: { app: ({ metadata }) => [metadata?.labels?.['app'] ?? ''] },
    });
    const queries = createLiveQueries(factory);
    factory.start();
    const byApp = liveQuery({ ...metadataOfPods, where: { index: 'app', eq: 'web' } });
    const view = queries.view(byApp);
    const leave = view.subscribe(quiet);
    await r.time.advance(100);
    expect(view.getSnapshot().rows).toHaveLength(3);
    expect(queries.explain(byApp).sources[0]?.index).toEqual({ name: 'app', value: 'web' });
    const wrong = liveQuery({ ...metadataOfPods, where: { index: 'phase', eq: 'Running' } });
    expect(() => queries.view(wrong)).toThrow(/have only these indices: namespace, app;/);
    leave();
  });

  it('U6: a query of the metadata reads all clusters', async () => {
    const { time, clusters, fake } = worldOf(['east', 'west']);
    fake('east').put('a');
    fake('west').put('b');
    const view = createLiveQueries(clusters).view(liveQuery(metadataOfPods));
    const leave = view.subscribe(quiet);
    await time.advance(100);
    const { rows } = view.getSnapshot();
    expect(rows.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
      ['PartialObjectMetadata', 'a'],
      ['PartialObjectMetadata', 'b'],
    ]);
    const informer = clusters.informer(pods, { as: 'metadata' });
    expect(informer.indexer.getByKey('west/shop/b')).toBe(rows[1]);
    leave();
    await clusters.stop();
  });
});

describe('the argument of a query of the metadata', () => {
  it('Q61: it has a key of its own, also after JSON', () => {
    const query = liveQuery({ ...metadataOfPods, limit: 2 });
    expect(query.key).not.toBe(liveQuery({ from: pods, limit: 2 }).key);
    const copy = liveQuery(JSON.parse(JSON.stringify(query)));
    expect([copy.key, copy.as]).toEqual([query.key, 'metadata']);
    expect(liveQuery({ ...query } as never)).toEqual(query);
  });

  it.each<[string, object, string]>([
    ['another form', { as: 'table' }, `as is "table"; it must be 'metadata'`],
    ['a condition', { where: { path: 'data.key', exists: true } }, 'where.path is "data.key"'],
    [
      'a part of a condition',
      { where: { not: { path: 'metadatas.name', eq: 'a' } } },
      'where.path is "metadatas.name"',
    ],
    ['a column', { select: { value: 'data.key' } }, 'select.value is "data.key"'],
    ['an order', { orderBy: { path: 'status.phase' } }, 'orderBy.path is "status.phase"'],
  ])('Q60: %s that reads something else is refused', (_title, more, words) => {
    const query = { from: configMaps, as: 'metadata', ...more };
    expect(() => liveQuery(query as never)).toThrow(TypeError);
    expect(() => liveQuery(query as never)).toThrow(words);
  });

  it('Q60: paths of the metadata, indices and functions are accepted', () => {
    const query = liveQuery({
      from: nodes,
      as: 'metadata',
      where: {
        and: [
          { path: 'metadata.labels', exists: true },
          { path: label('a/b'), eq: 'c' },
          { key: 'named', test: ({ metadata }) => metadata.name !== '' },
        ],
      },
      orderBy: { path: 'metadata.creationTimestamp', as: 'time' },
      select: { key: 'name', project: ({ metadata }) => ({ name: metadata.name }) },
    });
    expect(query.as).toBe('metadata');
  });
});
