import {
  createController,
  createLiveQueries,
  createResourceClient,
  forResource,
  type JoinOn,
  liveFilter,
  liveFlatMap,
  liveJoin,
  liveMap,
  liveQuery,
  liveUnion,
  type ObjectName,
  ownerReferenceOf,
  reconcileInCluster,
  toView,
} from 'rx-informer';
import { type ConfigMap, configMaps, type Pod, pods } from 'rx-informer/resources';
import { BehaviorSubject, defer, EMPTY, merge, Observable, of, Subject } from 'rxjs';
import { switchMap } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { worldOf } from './world.ts';

/** Selectors, as ConfigMaps, and the pods that they select. */
async function joinWorld() {
  const world = worldOf(['east', 'west']);
  const { time, clusters, fake } = world;
  for (const name of ['east', 'west']) {
    const { objects } = fake(name).server;
    const labels = { app: 'web' };
    objects.create(configMaps, { metadata: { namespace: 'shop', name: 'web', labels } });
    for (const namespace of ['shop', 'till']) {
      objects.create(pods, { metadata: { namespace, name: `${namespace}-of-${name}`, labels } });
    }
  }
  const [maps, all] = [clusters.informer(configMaps), clusters.informer(pods)];
  const rowsOf = async (
    on: JoinOn<ConfigMap, Pod>,
    right$ = all.changes$,
    left$ = maps.changes$,
  ) => {
    const project = (_map: unknown, right: readonly Pod[]) =>
      right
        .map(({ metadata }) => metadata?.name)
        .sort()
        .join();
    const view = toView(left$.pipe(liveJoin(right$, { on, project })));
    const leave = view.subscribe(() => undefined);
    await time.advance(100);
    const rows = [...view.getSnapshot().rows].sort();
    leave();
    return rows;
  };
  clusters.start();
  await time.advance(100);
  return { ...world, rowsOf, maps, all };
}

describe('joins over many clusters', () => {
  const selectorOf = ({ metadata }: ConfigMap) => ({ matchLabels: metadata?.labels ?? {} });

  it('U12: a selector selects objects of its own cluster', async () => {
    const { clusters, rowsOf, maps, all } = await joinWorld();
    expect(await rowsOf({ selectorOf })).toEqual(['shop-of-east', 'shop-of-west']);
    expect(await rowsOf({ selectorOf, acrossNamespaces: true })).toEqual([
      'shop-of-east,till-of-east',
      'shop-of-west,till-of-west',
    ]);
    // Also behind other operators, a union included, and by the stream of a query.
    const named$ = liveUnion({ maps: maps.changes$ }) as unknown as typeof maps.changes$;
    const web$ = all.changes$.pipe(liveFilter<Pod>('app=web'));
    const query = liveQuery({ from: pods });
    const pods$ = createLiveQueries(clusters).stream(query) as unknown as typeof all.changes$;
    for (const right$ of [web$, pods$]) {
      expect(await rowsOf({ selectorOf }, right$, named$)).toEqual([
        'shop-of-east',
        'shop-of-west',
      ]);
    }
  });

  it('U12: a key function receives the key of the row, which begins with the cluster', async () => {
    const { rowsOf } = await joinWorld();
    const place = (_object: unknown, _nowMs: number, key: string) =>
      key.split('/').slice(0, 2).join('/');
    expect(await rowsOf({ left: place, right: place })).toEqual(['shop-of-east', 'shop-of-west']);
  });

  it('U12: a selector selects in its own cluster from the set on whose stream is of many clusters', async () => {
    const { time, clusters, maps, all } = await joinWorld();
    const own = clusters.get('east')?.factory.informer(pods).changes$ as typeof all.changes$;
    const chosen$ = new BehaviorSubject(own);
    const pods$ = chosen$.pipe(switchMap((stream) => stream));
    const view = toView(maps.changes$.pipe(liveJoin(pods$, { on: { selectorOf } })));
    const leave = view.subscribe(() => undefined);
    const shown = () =>
      view
        .getSnapshot()
        .rows.map(({ right }) => right.map(({ metadata }) => metadata?.name).join())
        .sort();
    await time.advance(100);
    expect(shown()).toEqual(['shop-of-east', 'shop-of-east']);
    chosen$.next(all.changes$);
    await time.advance(100);
    expect(shown()).toEqual(['shop-of-east', 'shop-of-west']);
    leave();
  });

  it('U12: a selector of many clusters selects rows of a stream that belongs to none', async () => {
    const { clusters, rowsOf } = await joinWorld();
    const own = clusters.get('east')?.factory.informer(pods).changes$;
    expect(await rowsOf({ selectorOf }, own)).toEqual(['shop-of-east', 'shop-of-east']);
  });
});

/** ConfigMaps and the Pods that they own, whose ConfigMaps have the same name in each cluster. */
async function ownerWorld() {
  const world = worldOf(['east', 'west']);
  const { time, clusters, fake } = world;
  for (const name of ['east', 'west']) {
    const { objects } = fake(name).server;
    const labels = { app: 'web' };
    const map = objects.create(configMaps, {
      metadata: { namespace: 'shop', name: 'web', labels },
    });
    const ownerReferences = [
      { apiVersion: 'v1', kind: 'ConfigMap', name: 'web', uid: map.metadata?.uid ?? '' },
    ];
    const metadata = { namespace: 'shop', name: `of-${name}`, labels, ownerReferences };
    objects.create(pods, { metadata });
  }
  clusters.start();
  const shownOf = async (left$: unknown, on: unknown, right$: unknown = pods$) => {
    const join = liveJoin(right$ as never, { on: on as never });
    const view = toView((left$ as Observable<never>).pipe(join));
    const leave = view.subscribe(() => undefined);
    await time.advance(100);
    const { rows } = view.getSnapshot();
    leave();
    return (rows as readonly { readonly right: readonly Pod[] }[])
      .map(({ right }) => right.map(({ metadata }) => metadata?.name).join(' '))
      .sort();
  };
  const [maps$, pods$] = [clusters.informer(configMaps).changes$, clusters.informer(pods).changes$];
  return { ...world, shownOf, maps$, pods$ };
}

describe('joins over many clusters of rows that are no objects', () => {
  const own = ['of-east', 'of-west'];
  const bySelector = { selectorOf: () => 'app=web' };
  type Left = (world: Awaited<ReturnType<typeof ownerWorld>>) => unknown;
  const slim = liveMap(({ metadata }: ConfigMap) => ({ name: metadata?.name }));
  const lefts: Record<string, Left> = {
    objects: ({ maps$ }) => maps$,
    'mapped rows': ({ maps$ }) => maps$.pipe(slim),
    'parts of objects': ({ maps$ }) => maps$.pipe(liveFlatMap(() => ['a/b'])),
    'rows of select': ({ clusters }) =>
      createLiveQueries(clusters).stream(
        liveQuery({ from: configMaps, select: { name: 'metadata.name' } }),
      ),
    'mapped rows of a union': ({ maps$ }) => liveUnion({ all: maps$ }).pipe(slim as never),
  };

  it.each(Object.entries(lefts))('Q91: %s find what they own', async (_name, left) => {
    const world = await ownerWorld();
    expect(await world.shownOf(left(world), { owner: 'left' })).toEqual(own);
  });

  it.each(Object.entries(lefts))(
    'Q91, U12: %s select in their own cluster',
    async (_name, left) => {
      const world = await ownerWorld();
      for (const acrossNamespaces of [false, true]) {
        const on = { ...bySelector, acrossNamespaces };
        expect(await world.shownOf(left(world), on)).toEqual(own);
      }
    },
  );

  // These make a stream of their own, so that only the sets tell that the rows are of clusters.
  const passedOn: Record<string, (source$: Observable<unknown>) => Observable<unknown>> = {
    nothing: (source$) => source$,
    defer: (source$) => defer(() => source$),
    switchMap: (source$) => of(0).pipe(switchMap(() => source$)),
    merge: (source$) => merge(source$, EMPTY),
    'new Observable': (source$) => new Observable((subscriber) => source$.subscribe(subscriber)),
  };
  it.each(Object.entries(passedOn))(
    'U12: objects behind %s select in their own cluster',
    async (_name, behind) => {
      const world = await ownerWorld();
      const left$ = behind(world.maps$ as Observable<unknown>);
      expect(await world.shownOf(left$, bySelector)).toEqual(own);
    },
  );
});

describe('queries over many clusters', () => {
  it('U8: an informer that no query uses any more requests nothing of the clusters that come later', async () => {
    const { time, clusters, clients$, clientsOf, fake } = worldOf(['east', 'west']);
    clients$.next(clientsOf('east'));
    clusters.start();
    const view = createLiveQueries(clusters).view(liveQuery({ from: pods }));
    const leave = view.subscribe(() => undefined);
    await time.advance(100);
    expect(fake('east').server.openWatches.length).toBe(1);
    leave();
    await time.advance(1_000);
    clients$.next(clientsOf('east', 'west'));
    await time.advance(1_000);
    expect(clusters.names).toEqual(['east', 'west']);
    expect(fake('east').server.openWatches).toEqual([]);
    expect(fake('west').server.requests).toEqual([]);
  });

  it('U6: a live query reads all clusters, with conditions, order and limit over all of them', async () => {
    const { time, clusters, clients$, clientsOf, fake } = worldOf(['east', 'west']);
    for (const name of ['east', 'west']) {
      fake(name).put('a', 'Failed');
      fake(name).put('b', 'Running');
      fake(name).put('c', 'Failed');
    }
    const queries = createLiveQueries(clusters);
    const viewOf = (phase: string) =>
      queries.view(
        liveQuery({
          from: pods,
          namespace: 'shop',
          where: { path: 'status.phase', eq: phase },
          orderBy: { path: 'metadata.name' },
          limit: 3,
          select: { name: 'metadata.name' },
        }),
      );
    const view = viewOf('Failed');
    const leave = view.subscribe(() => undefined);
    await time.advance(100);
    const names = () => view.getSnapshot().rows.map(({ name }) => name);
    expect(names()).toEqual(['a', 'a', 'c']);
    // Asked when the informers have their objects.
    const running = viewOf('Running');
    running.subscribe(() => undefined)();
    expect(running.getSnapshot().rows.map(({ name }) => name)).toEqual(['b', 'b']);
    expect(view.getSnapshot().total).toBe(4);
    expect(view.getSnapshot().synced).toBe(true);
    clients$.next(clientsOf('west'));
    await time.advance(100);
    expect(names()).toEqual(['a', 'c']);
    fake('west').remove('a');
    await time.advance(100);
    expect(names()).toEqual(['c']);
    leave();
    await time.advance(100);
    expect(fake('west').server.openWatches.length).toBe(0);
  });

  it('U6: a condition on an index is evaluated in all clusters, and an unknown index is refused', async () => {
    const byPhase = forResource(pods, {
      indexers: {
        // Nothing is no value, as for a store.
        phase: ({ status }) =>
          (status?.phase === 'Failed' ? [status.phase] : undefined) as readonly string[],
      },
    });
    const { time, clusters, fake } = worldOf(['east', 'west'], { resources: [byPhase] });
    for (const name of ['east', 'west']) {
      fake(name).put(`${name}-1`, 'Failed');
      fake(name).put(`${name}-2`, 'Running');
    }
    const queries = createLiveQueries(clusters);
    const failed = liveQuery({ from: pods, where: { index: 'phase', eq: 'Failed' } });
    const view = queries.view(failed);
    const leave = view.subscribe(() => undefined);
    await time.advance(100);
    const names = () => view.getSnapshot().rows.map(({ metadata }) => metadata.name);
    expect(names().sort()).toEqual(['east-1', 'west-1']);
    expect(view.getSnapshot().status.refusedRows).toEqual([]);
    fake('east').put('east-2', 'Failed');
    await time.advance(100);
    expect(names().sort()).toEqual(['east-1', 'east-2', 'west-1']);
    const wrong = liveQuery({ from: pods, where: { index: 'node', eq: 'n' } });
    expect(() => queries.view(wrong)).toThrow(/have only these indices: namespace, phase/);
    for (const other of [
      { group: 'example.com', apiVersion: 'example.com/v1' },
      { version: 'v2', apiVersion: 'v2' },
      { plural: 'others' },
    ]) {
      const from = { ...pods, ...other };
      const asked = liveQuery({ from, where: { index: 'phase', eq: 'Failed' } });
      expect(() => queries.view(asked)).toThrow(/ have only these indices: namespace;/);
    }
    expect(queries.explain(failed).sources[0]?.index).toBeUndefined();
    leave();
  });

  it('U11: a view continues when the factory of a cluster has an informer again that it had removed', async () => {
    const { time, clusters, fake } = worldOf(['east', 'west']);
    for (const name of ['east', 'west']) fake(name).put(`${name}-1`);
    const merged = clusters.informer(pods);
    clusters.start();
    const view = toView(merged.changes$);
    const leave = view.subscribe(() => undefined);
    await time.advance(100);
    const names = () =>
      view
        .getSnapshot()
        .rows.map(({ metadata }) => metadata.name)
        .sort();
    const { factory } = clusters.get('east') as NonNullable<ReturnType<typeof clusters.get>>;
    await factory.stop(pods);
    fake('east').put('east-2');
    await time.advance(10_000);
    // Nothing follows the server, and the view says so.
    expect([names(), merged.status.live]).toEqual([['east-1', 'west-1'], false]);
    const requests = fake('east').server.requests.length;
    factory.informer(pods);
    await time.advance(1_000);
    expect(names()).toEqual(['east-1', 'east-2', 'west-1']);
    expect(merged.indexer.list().length).toBe(3);
    expect([merged.status.live, fake('east').server.requests.length > requests]).toEqual([
      true,
      true,
    ]);
    fake('east').put('east-3');
    await time.advance(1_000);
    expect(names()).toContain('east-3');
    leave();
  });

  it('U6: a view shows the merged status, and selects a row by its cluster and UID', async () => {
    const { time, clusters, fake } = worldOf(['east', 'west']);
    fake('east').put('web');
    const view = toView(clusters.informer(pods).changes$);
    const leave = view.subscribe(() => undefined);
    await time.advance(100);
    const { status, rows } = view.getSnapshot();
    expect([status.phase, status.live]).toEqual(['watching', true]);
    const uid = rows[0]?.metadata.uid;
    expect(view.select(`east/${uid}`).getSnapshot()).toBe(rows[0]);
    await clusters.stop();
    clusters.start();
    fake('east').put('db');
    await time.advance(1_000);
    expect(view.getSnapshot().rows.length).toBe(2);
    leave();
  });
});

describe('controllers over many clusters', () => {
  function controlled(names: readonly string[]) {
    const world = worldOf(names);
    const { clusters, time } = world;
    const calls: [key: string, name: ObjectName, phase: string | undefined, baseUrl: string][] = [];
    const controller = createController({
      name: 'over clusters',
      scheduler: time,
      for: clusters.informer(pods),
      owns: [clusters.informer(configMaps)],
      reconcile: reconcileInCluster<Pod>(clusters, (key, { name, object, client, cluster }) => {
        expect(cluster.client).toBe(client);
        calls.push([key, name, object?.status?.phase, client.baseUrl]);
      }),
    });
    const failures: unknown[] = [];
    controller.outcomes$.subscribe((outcome) => {
      if (outcome.type === 'failed') failures.push(outcome);
    });
    return { ...world, controller, calls, failures };
  }

  it('N9: a key without a cluster, from a mapping or a stream, is reported, and the others are reconciled', async () => {
    const { time, clusters, fake } = worldOf(['east', 'west']);
    fake('east').put('web');
    const { objects } = fake('west').server;
    objects.create(configMaps, { metadata: { namespace: 'shop', name: 'web' } });
    const calls: string[] = [];
    const reports: string[] = [];
    const keys$ = new Subject<string>();
    const controller = createController({
      scheduler: time,
      for: clusters.informer(pods),
      watches: [
        {
          informer: clusters.informer(configMaps),
          map: ({ key }) => [key.slice(key.indexOf('/') + 1), `${key}-pod`],
        },
      ],
      sources: [keys$],
      reconcile: (key) => void calls.push(key),
      onUnhandledError: (error, { where, key }) =>
        reports.push(`${where} ${key}: ${(error as Error).message}`),
    });
    controller.start();
    await time.advance(100);
    keys$.next('shop/db');
    keys$.next('west/shop/db');
    await time.advance(100);
    expect(calls.sort()).toEqual(['east/shop/web', 'west/shop/db', 'west/shop/web-pod']);
    expect(reports).toEqual([
      expect.stringContaining("west/shop/web: 'shop/web' begins with the name of no cluster; give"),
      expect.stringContaining("'shop/db' begins with the name of no cluster; give"),
    ]);
    await controller.stop();
  });

  it('U7: a controller reconciles the objects of each cluster with the client of that cluster', async () => {
    const { time, controller, calls, fake } = controlled(['east', 'west']);
    fake('east').put('web');
    fake('west').put('web', 'Pending');
    controller.start();
    await time.advance(100);
    const shopWeb = { namespace: 'shop', name: 'web' };
    expect(calls).toEqual([
      ['east/shop/web', shopWeb, 'Running', 'http://east'],
      ['west/shop/web', shopWeb, 'Pending', 'http://west'],
    ]);
    calls.length = 0;
    fake('west').put('web', 'Failed');
    await time.advance(100);
    expect(calls).toEqual([['west/shop/web', shopWeb, 'Failed', 'http://west']]);
    await controller.stop();
  });

  it('U7: an owned object queues its owner in the same cluster only', async () => {
    const { time, controller, calls, fake } = controlled(['east', 'west']);
    fake('east').put('web');
    fake('west').put('web');
    controller.start();
    await time.advance(100);
    calls.length = 0;
    const owner = fake('west').server.objects.get(pods, { namespace: 'shop', name: 'web' });
    const owned = createResourceClient(fake('west').client, configMaps).create({
      metadata: {
        namespace: 'shop',
        name: 'web-config',
        ownerReferences: [ownerReferenceOf(owner as Pod, pods)],
      },
    });
    await time.advance(100);
    await owned;
    expect(calls.map(([key]) => key)).toEqual(['west/shop/web']);
    await controller.stop();
  });

  it('U7: a cluster that leaves is not cleaned up, and one that cannot be reached does not delay the others', async () => {
    const world = controlled(['east', 'west']);
    const { time, clients$, clientsOf, controller, calls, fake, failures } = world;
    fake('east').put('web');
    fake('west').put('web');
    const fault = fake('west').server.faults.refuse();
    controller.start();
    await time.advance(2_000);
    expect(controller.status.phase).toBe('running');
    expect(calls.map(([key]) => key)).toEqual(['east/shop/web']);
    fault.heal();
    await time.advance(60_000);
    expect(calls.map(([key]) => key)).toEqual(['east/shop/web', 'west/shop/web']);
    calls.length = 0;
    clients$.next(clientsOf('west'));
    await time.advance(1_000);
    expect([calls, failures]).toEqual([[], []]);
    fake('west').remove('web');
    await time.advance(1_000);
    expect(calls.map(([key, , phase]) => [key, phase])).toEqual([['west/shop/web', undefined]]);
    await controller.stop();
  });

  it('U7: a key waits until all informers of the controller are complete in its cluster', async () => {
    const { time, controller, calls, fake } = controlled(['east', 'west']);
    fake('east').put('web');
    fake('west').put('web');
    const refused = fake('west').server.faults.refuse({ path: /configmaps/ });
    controller.start();
    await time.advance(5_000);
    expect(controller.status.phase).toBe('running');
    expect(calls.map(([key]) => key)).toEqual(['east/shop/web']);
    refused.heal();
    await time.advance(60_000);
    expect(calls.map(([key]) => key)).toEqual(['east/shop/web', 'west/shop/web']);
    await controller.stop();
  });

  it('U7: an object is not taken for deleted while the list of its cluster is not complete', async () => {
    const world = worldOf(['east']);
    const { time, clusters, clients$, clientsOf, clusterOf, fakes, fake } = world;
    const calls: string[] = [];
    const controller = createController({
      scheduler: time,
      for: clusters.informer(pods),
      reconcile: (key, { object, attempt }) => {
        calls.push(`${key} ${object?.status?.phase} ${attempt}`);
        if (attempt === 1) throw new Error('try again');
      },
    });
    fake('east').put('web');
    controller.start();
    await time.advance(1);
    expect(calls).toEqual(['east/shop/web Running 1']);
    // The failed key waits for its second attempt while the client is replaced.
    fakes['east'] = clusterOf('east');
    fake('east').put('web', 'Pending');
    const fault = fake('east').server.faults.refuse();
    clients$.next(clientsOf('east'));
    await time.advance(3_000);
    expect(calls.length).toBe(1);
    fault.heal();
    await time.advance(60_000);
    expect(calls.length).toBeGreaterThan(1);
    expect(calls.filter((call) => call.includes('undefined'))).toEqual([]);
    // Nothing is left of a key that waited when its cluster left.
    clients$.next({});
    await time.advance(60_000);
    expect([controller.queued, calls.filter((call) => call.includes('undefined'))]).toEqual([
      0,
      [],
    ]);
    await controller.stop();
  });
});
