/** Informers of users who may not list the complete cluster. */
import {
  createClient,
  createInformerFactory,
  createLiveQueries,
  liveQuery,
  namespaceFallback,
} from 'rx-informer';
import { namespaces, nodes, pods } from 'rx-informer/resources';
import { type AccessAttributes, createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { REVIEWS, rig } from './fallback-rig.ts';

const listNamespaces = ({ verb, resource }: AccessAttributes) =>
  verb === 'list' && resource === 'namespaces';

describe('a user without rights in all namespaces', () => {
  it('G17: sees the given namespaces in which list and watch are permitted, and what is missing', async () => {
    const fallback = { namespaceFallback: namespaceFallback(['a', 'b', 'c']) };
    const { time, informer, factory, names, server, reviewed } = rig(fallback, ['a', 'c']);
    let isSynced = false;
    void factory.whenSynced().then(() => (isSynced = true));
    await time.advance(5_000);
    expect(isSynced).toBe(true);
    expect(names()).toEqual(['pod-a', 'pod-c']);
    expect(informer.status).toMatchObject({
      live: true,
      access: { namespaces: ['a', 'c'], missing: ['b'] },
    });
    expect(informer.status.access?.message).toBe(
      'listing and watching pods in all namespaces is not permitted; shown: namespaces a, c. Not permitted in b',
    );
    expect(Object.keys(informer.status.scopes ?? {})).toEqual(['a', 'c']);
    expect(server.openWatches).toHaveLength(2);
    expect(reviewed).toHaveLength(8);
    server.objects.create(pods, { metadata: { namespace: 'c', name: 'late' } });
    await time.advance(100);
    expect(names()).toContain('late');
    // What is permitted of another group is another question.
    factory.informer({ ...pods, group: 'example.com', apiVersion: 'example.com/v1' });
    await time.advance(1_000);
    expect(reviewed).toHaveLength(16);
  });

  it('G17, R13: the informer ends if onError returns stop', async () => {
    const errors: number[] = [];
    const { time, informer, server } = rig(
      {
        namespaceFallback: namespaceFallback(['a']),
        onError: ({ code }) => {
          errors.push(code);
          return 'stop';
        },
      },
      ['a'],
    );
    await time.advance(5_000);
    expect(informer.status).toMatchObject({ live: true, access: { namespaces: ['a'] } });
    server.faults.failNext({ use: 'watch' }, { status: 500 });
    server.faults.closeWatches();
    await time.advance(60_000);
    expect([errors, informer.status.phase]).toEqual([[500], 'stopped']);
  });

  it('G17: sees the namespaces that can be listed, and at most four reviews are open', async () => {
    const found = rig({ namespaceFallback: namespaceFallback() }, ['b'], listNamespaces);
    await found.time.advance(5_000);
    expect(found.names()).toEqual(['pod-b']);
    expect(found.informer.status.access?.missing).toEqual(['a', 'c']);
    expect(found.most).toBeLessThanOrEqual(4);
    await found.factory.stop();
    found.reviewed.length = 0;
    found.factory.start();
    await found.time.advance(5_000);
    expect(found.reviewed).toEqual([]);
    expect(found.names()).toEqual(['pod-b']);
    await found.factory.stop();
  });

  it('G17: reads the names of namespaces when a run begins, and after a 403', async () => {
    const { time, server, factory, informer, permitted, names } = rig(
      { namespaceFallback: namespaceFallback() },
      ['a', 'b'],
      listNamespaces,
    );
    const make = (name: string) => {
      permitted.push(name);
      server.objects.create(namespaces, { metadata: { name } });
      server.objects.create(pods, { metadata: { namespace: name, name: `pod-${name}` } });
    };
    await time.advance(5_000);
    make('d');
    await time.advance(600_000);
    expect(informer.status.access).toMatchObject({ namespaces: ['a', 'b'], missing: ['c'] });
    await factory.stop();
    factory.start();
    await time.advance(5_000);
    expect(names()).toEqual(['pod-a', 'pod-b', 'pod-d']);
    make('e');
    permitted.splice(permitted.indexOf('b'), 1);
    server.faults.dropWatches();
    await time.advance(60_000);
    expect(informer.status.access).toMatchObject({
      namespaces: ['a', 'd', 'e'],
      missing: ['b', 'c'],
    });
  });

  it('G17: a later informer of the client uses an answer for a minute, and then sees new rights', async () => {
    const { time, factory, permitted, reviewed } = rig(
      { namespaceFallback: namespaceFallback(['a', 'b']) },
      ['a'],
    );
    await time.advance(5_000);
    permitted.push('b');
    reviewed.length = 0;
    const seenBy = async (labelSelector: string) => {
      const informer = factory.informer(pods, { labelSelector });
      factory.start();
      await time.advance(5_000);
      return informer.status.access?.namespaces;
    };
    expect([await seenBy('app=one'), reviewed]).toEqual([['a'], []]);
    await time.advance(60_000);
    expect(await seenBy('app=two')).toEqual(['a', 'b']);
  });

  it('G17: with all rights has one watch, and so has a cluster-scoped resource', async () => {
    const { time, server, informer, factory } = rig(
      { namespaceFallback: namespaceFallback() },
      [],
      () => true,
    );
    factory.informer(nodes);
    await time.advance(5_000);
    expect(informer.status.access).toBeUndefined();
    expect(server.openWatches).toHaveLength(2);
  });

  it.each([
    ['HTML', () => new Response('<html></html>', { headers: { 'content-type': 'text/html' } })],
    ['a Status', () => Response.json({ kind: 'Status', status: 'Failure', code: 500 })],
    ['a review without a decision', () => Response.json({ kind: 'SelfSubjectAccessReview' })],
  ])('G17: with %s as a review, requests everything', async (_what, answer) => {
    const { time, informer } = rig(
      { namespaceFallback: namespaceFallback(['a']) },
      [],
      () => true,
      (url) => (url.endsWith(REVIEWS) ? Promise.resolve(answer()) : undefined),
    );
    await time.advance(5_000);
    expect(informer.status.access).toBeUndefined();
    expect(informer.status.live).toBe(true);
    expect(informer.indexer.size).toBe(3);
  });

  it.each(['', '.', 'bad/name', 5, undefined, null])(
    'G17: refuses %j as the name of a namespace',
    (name) => {
      expect(() => namespaceFallback(['a', name as string])).toThrow(
        new RegExp(
          `^namespaceFallback: a namespace is ${JSON.stringify(name)}; it must be the name of a namespace`,
        ),
      );
    },
  );

  it('G17: follows a namespace that is named twice, or listed on two pages, once', async () => {
    const named = rig({ namespaceFallback: namespaceFallback(['a', 'b', 'a']) }, ['a', 'b']);
    const listed = rig({ namespaceFallback: namespaceFallback() }, ['a', 'b'], undefined, (url) => {
      const { pathname, searchParams } = new URL(url);
      if (pathname !== '/api/v1/namespaces') return undefined;
      const items = ['a', 'b'].map((name) => ({ metadata: { name } }));
      const metadata = searchParams.has('continue') ? {} : { continue: 'more' };
      return Promise.resolve(Response.json({ items, metadata }));
    });
    for (const { time, informer, server, factory } of [named, listed]) {
      await time.advance(5_000);
      expect(informer.status.access?.namespaces).toEqual(['a', 'b']);
      expect(server.openWatches).toHaveLength(2);
      let isRefreshed = false;
      void informer.refresh().then(() => (isRefreshed = true));
      await time.advance(5_000);
      expect(isRefreshed).toBe(true);
      await factory.stop();
    }
  });

  it('G17, G2: stop() ends the reviews, except those that another informer waits for', async () => {
    const given = Array.from({ length: 30 }, (_, at) => `n${at}`);
    const { time, client, informer, factory, reviewed } = rig(
      { namespaceFallback: namespaceFallback(given) },
      given,
    );
    const other = createInformerFactory(client, {
      scheduler: time,
      namespaceFallback: namespaceFallback(['n0', 'n1']),
    });
    const others = other.informer(pods);
    other.start();
    await time.advance(15);
    await factory.stop();
    expect(informer.isStopped).toBe(true);
    const before = reviewed.length;
    expect(before).toBeLessThan(10);
    await time.advance(5_000);
    // All and two namespaces, each for two verbs.
    expect(reviewed.length).toBeLessThan(before + 6);
    expect(new Set(reviewed).size).toBe(reviewed.length);
    expect(others.status).toMatchObject({ live: true, access: { namespaces: ['n0', 'n1'] } });
    await other.stop();
    reviewed.length = 0;
    factory.start();
    await time.advance(5_000);
    expect(informer.status.access?.namespaces).toEqual(given);
  });

  it('G18: without any namespace sees the refusal of the server', async () => {
    const { time, informer } = rig({ namespaceFallback: namespaceFallback() }, []);
    await time.advance(5_000);
    expect(informer.status).toMatchObject({ blocked: 'forbidden', synced: false });
    expect(informer.status.access?.message).toContain('The namespaces cannot be listed either');
  });

  it('G18, G19: follows rights that are taken and given while it runs, and keeps its objects if none is left', async () => {
    const fallback = { namespaceFallback: namespaceFallback(['a', 'b']) };
    const { time, informer, names, server, permitted } = rig(fallback, ['a', 'b']);
    const gone: string[] = [];
    informer.changes$.subscribe(({ deleted, left, cause }) => {
      for (const { key } of deleted) gone.push(`deleted ${key}`);
      for (const { key } of left) gone.push(`left ${key} ${cause}`);
    });
    await time.advance(5_000);
    expect(names()).toEqual(['pod-a', 'pod-b']);
    permitted.splice(1, 1);
    server.faults.dropWatches();
    await time.advance(30_000);
    expect(names()).toEqual(['pod-a']);
    expect(gone).toEqual(['left b/pod-b rebalance']);
    expect(informer.status).toMatchObject({ live: true, access: { missing: ['b'] } });
    // The right for everything makes one watch of all, after the next 403.
    permitted.push('');
    permitted.splice(0, 1);
    server.faults.dropWatches();
    await time.advance(30_000);
    expect(names()).toEqual(['pod-a', 'pod-b', 'pod-c']);
    expect(informer.status.access).toBeUndefined();
    permitted.length = 0;
    server.faults.dropWatches();
    await time.advance(60_000);
    expect(names()).toEqual(['pod-a', 'pod-b', 'pod-c']);
    expect(informer.status).toMatchObject({ blocked: 'forbidden', synced: false, live: false });
  });
});

describe('the fake API server', () => {
  it('G17, Q73: is answered from the informer of all namespaces only what that informer shows', async () => {
    const fallback = { namespaceFallback: namespaceFallback(['a', 'b']) };
    const { time, factory, names, server, permitted } = rig(fallback, ['a', 'c']);
    const queries = createLiveQueries(factory);
    const of = (namespace: string | readonly string[]) => liveQuery({ from: pods, namespace });
    const seen = (namespace: string | readonly string[]) => {
      const [source] = queries.explain(of(namespace)).sources;
      return `${source?.use} ${source?.informer}`;
    };
    // It is not known yet which namespaces it will show.
    expect(seen('a')).toBe('new pods/a');
    await time.advance(5_000);
    expect([seen('a'), seen('b'), seen('c')]).toEqual(['wider pods', 'new pods/b', 'new pods/c']);
    expect(seen(['a', 'c'])).toBe('part pods');
    const views = ['a', 'b', 'c'].map((namespace) => queries.view(of(namespace)));
    for (const view of views) view.subscribe(() => undefined);
    await time.advance(5_000);
    const [a, b, c] = views.map((view) => view.getSnapshot());
    expect(a?.rows.map(({ metadata }) => metadata.name)).toEqual(['pod-a']);
    expect([b?.synced, b?.status.blocked]).toEqual([false, 'forbidden']);
    expect(c?.rows.map(({ metadata }) => metadata.name)).toEqual(['pod-c']);
    // The query of one namespace stays one when the informer shows more.
    permitted.splice(0, 1, '');
    server.faults.dropWatches();
    await time.advance(30_000);
    expect(names()).toEqual(['pod-a', 'pod-b', 'pod-c']);
    expect(views[0]?.getSnapshot().rows.map(({ metadata }) => metadata.name)).toEqual(['pod-a']);
  });

  it('Q73: a query does not read an informer that the server has come to refuse', async () => {
    const { time, factory, server, permitted } = rig({}, ['', 'a', 'b', 'c']);
    await time.advance(1_000);
    const queries = createLiveQueries(factory);
    const query = liveQuery({ from: pods, namespace: 'a' });
    expect(queries.explain(query).sources[0]?.use).toBe('wider');
    permitted.splice(0, 1);
    server.faults.dropWatches();
    await time.advance(5_000);
    expect(queries.explain(query).sources[0]?.use).toBe('new');
  });

  it('A14: refuses and reviews by one rule', async () => {
    const server = createFakeApiServer({ allows: ({ namespace }) => namespace === 'a' });
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const review = (namespace: string) =>
      client.request<object>({
        method: 'POST',
        path: REVIEWS,
        body: { spec: { resourceAttributes: { verb: 'list', resource: 'pods', namespace } } },
      });
    expect(await review('a')).toMatchObject({ status: { allowed: true } });
    expect(await review('b')).toMatchObject({ status: { allowed: false } });
    await client.request({ path: '/api/v1/namespaces/a/pods' });
    for (const path of ['/api/v1/namespaces/b/pods', '/api/v1/pods', '/api/v1/namespaces/b/pods/x'])
      await expect(client.request({ path })).rejects.toMatchObject({ code: 403 });
    await expect(client.request({ method: 'POST', path: REVIEWS, body: {} })).rejects.toMatchObject(
      {
        code: 422,
      },
    );
  });
});
