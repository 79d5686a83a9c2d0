import { type KubeClient, liveFilter, toView } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { seededRandom } from 'rx-informer/testing';
import { NEVER, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type FakeCluster, folding, worldOf } from './world.ts';

describe('the rows of many clusters', () => {
  it('U1: the name of the cluster stands before each id and key, and each commit of a cluster is one set', async () => {
    const { time, clusters, fake } = worldOf(['east', 'west']);
    fake('east').put('web');
    fake('west').put('web');
    const seen = folding();
    const informer = clusters.informer(pods);
    informer.changes$.subscribe(seen);
    await time.advance(100);
    expect(seen.shown).toEqual(['east/shop/web Running', 'west/shop/web Running']);
    expect(seen.isSynced).toBe(true);
    const { length } = seen.lines;
    fake('west').put('web', 'Failed');
    fake('west').put('db', 'Pending');
    await time.advance(100);
    fake('east').remove('web');
    await time.advance(100);
    expect(seen.lines.slice(length)).toEqual([
      'watch west/shop/web +west/shop/db synced',
      'watch -east/shop/web synced',
    ]);
    expect(informer.indexer.getByKey('west/shop/web')?.status?.phase).toBe('Failed');
    expect(informer.indexer.getByKey('east/shop/web')).toBeUndefined();
    expect(informer.indexer.getByKey('shop/web')).toBeUndefined();
    expect(informer.indexer.list().length).toBe(2);
    const late = folding();
    informer.changes$.subscribe(late);
    expect([late.shown, late.lines.length, late.isSynced]).toEqual([seen.shown, 1, true]);
  });

  it('U2: another client under a name replaces the cluster', async () => {
    const { time, clusters, clients$, clientsOf, clusterOf, fakes, fake } = worldOf(['east']);
    fake('east').put('old');
    const seen = folding();
    clusters.informer(pods).changes$.subscribe(seen);
    await time.advance(100);
    const former = fake('east');
    fakes['east'] = clusterOf('east');
    fake('east').put('new');
    clients$.next(clientsOf('east'));
    await time.advance(100);
    expect(seen.shown).toEqual(['east/shop/new Running']);
    expect(former.server.openWatches).toEqual([]);
  });

  it('U2: a value with equal clients changes nothing, as a Map or as a record', async () => {
    const { time, clusters, clients$, clientsOf, fake } = worldOf(['east', 'west']);
    const seen = folding();
    clusters.informer(pods).changes$.subscribe(seen);
    await time.advance(100);
    const { length } = seen.lines;
    const requests = fake('east').server.requests.length;
    const factory = clusters.get('east')?.factory;
    clients$.next(clientsOf('west', 'east'));
    clients$.next(new Map(Object.entries(clientsOf('east', 'west'))));
    await time.advance(1_000);
    expect(seen.lines.length).toBe(length);
    expect(fake('east').server.requests.length).toBe(requests);
    expect(clusters.get('east')?.factory).toBe(factory);
  });

  it('U4: a cluster that cannot be reached neither delays the others nor takes their rows away, and its rows come when it can be reached', async () => {
    const { time, clusters, fake } = worldOf(['east', 'west']);
    fake('east').put('web');
    fake('west').put('web');
    const fault = fake('west').server.faults.refuse();
    const seen = folding();
    const informer = clusters.informer(pods);
    informer.changes$.subscribe(seen);
    const waited = informer.whenSynced();
    await time.advance(2_000);
    await waited;
    expect([seen.shown, seen.isSynced]).toEqual([['east/shop/web Running'], true]);
    expect(informer.status.phase).toBe('watching');
    expect(informer.status.live).toBe(false);
    expect(informer.status.error?.message).toContain('http://west');
    fault.heal();
    await time.advance(60_000);
    expect(seen.shown).toEqual(['east/shop/web Running', 'west/shop/web Running']);
    expect(informer.status.live).toBe(true);
    const cut = fake('west').server.faults.refuse();
    fake('west').server.faults.dropWatches();
    fake('east').put('db');
    await time.advance(5_000);
    expect(seen.shown.length).toBe(3);
    cut.heal();
  });

  it('U4: if no cluster can be reached, the view is not synced', async () => {
    const { time, clusters, fake } = worldOf(['east', 'west']);
    const faults = ['east', 'west'].map((name) => fake(name).server.faults.refuse());
    const seen = folding();
    const informer = clusters.informer(pods);
    informer.changes$.subscribe(seen);
    const waited = informer.whenSynced({ timeoutMs: 60_000 }).catch((error) => error);
    await time.advance(61_000);
    const error = await waited;
    expect(error.message).toContain('east/pods (backoff');
    expect(error.message).toContain('west/pods (backoff');
    expect([seen.isSynced, informer.hasSynced]).toEqual([false, false]);
    faults[0]?.heal();
    await time.advance(60_000);
    expect([seen.isSynced, informer.hasSynced]).toEqual([true, true]);
  });

  it.each([1, 2, 3, 4, 5, 6])(
    'U9: after any comings, goings and failures of clusters, the sets add up to the rows of the present clusters (seed %i)',
    async (seed) => {
      const random = seededRandom(seed);
      const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
      const names = ['a', 'b', 'c'];
      const { time, clusters, clients$, clientsOf, clusterOf, fakes, fake } = worldOf(names);
      const all = new Set<FakeCluster>(Object.values(fakes));
      const informer = clusters.informer(pods);
      const early = folding();
      informer.changes$.subscribe(early);
      // A live operator checks that each set fits the rows before it.
      const view = toView(
        informer.changes$.pipe(liveFilter(({ status }) => status?.phase !== '7')),
      );
      const leave = view.subscribe(() => undefined);
      let present: readonly string[] = names;
      const faults: { heal(): void }[] = [];
      const show = () => clients$.next(clientsOf(...present));
      for (let step = 0; step < 300; step++) {
        const dice = random();
        const name = pick(names);
        if (dice < 0.5) fake(name).put(pick(['x', 'y', 'z']), `${step}`);
        else if (dice < 0.6) {
          const [own] = fake(name).server.objects.list(pods);
          if (own !== undefined) fake(name).remove(own.metadata.name as string);
        } else if (dice < 0.7) {
          present = names.filter(() => random() < 0.7);
          show();
        } else if (dice < 0.73) {
          fakes[name] = clusterOf(name);
          all.add(fake(name));
          show();
        } else if (dice < 0.8) {
          faults.push(fake(name).server.faults.refuse());
          fake(name).server.faults.dropWatches();
        } else if (dice < 0.83) {
          for (const fault of faults.splice(0)) fault.heal();
        } else if (dice < 0.85) {
          // The informers of one cluster, without the others.
          void clusters.get(name)?.factory.stop();
          if (random() < 0.5) clusters.get(name)?.factory.start();
        } else await time.advance(random() * 3_000);
      }
      for (const fault of faults) fault.heal();
      for (const name of present) clusters.get(name)?.factory.start();
      await time.advance(120_000);
      const truth = present.flatMap((name) =>
        fake(name)
          .server.objects.list(pods)
          .map(({ metadata, status }) => `${name}/shop/${metadata.name} ${status?.phase}`),
      );
      expect(early.shown).toEqual(truth.sort());
      expect(view.getSnapshot().rows.length).toBe(
        truth.filter((row) => !row.endsWith(' 7')).length,
      );
      leave();
      const late = folding();
      informer.changes$.subscribe(late);
      expect(late.shown).toEqual(early.shown);
      await clusters.stop();
      await time.advance(1_000);
      for (const { server } of all) expect(server.openWatches).toEqual([]);
    },
  );
});

describe('the state of many clusters', () => {
  it('U5: the status says in words which clusters are live, and why the others are not', async () => {
    const { time, clusters, fake } = worldOf(['east', 'west']);
    fake('west').server.faults.failNext(undefined, { status: 403, times: 100 });
    const texts: string[] = [];
    clusters.status$.subscribe(({ text }) => texts.push(text));
    expect(texts).toEqual(['the clusters are not known yet']);
    clusters.informer(pods);
    clusters.start();
    await time.advance(1_000);
    const { status } = clusters;
    expect(status.text).toMatch(/^1 of 2 clusters live; west: pods: forbidden: /);
    expect(status.clusters['east']?.text).toBe('live, 1 informer');
    expect(status.clusters['west']?.error).toBe(status.clusters['west']?.informers['pods']?.error);
    expect([status.clusters['east']?.live, status.clusters['west']?.live]).toEqual([true, false]);
    expect(texts.at(-1)).toMatch(/^1 of 2 clusters live/);
    await clusters.stop();
    expect(clusters.status.text).toBe('the clusters are not known yet');
  });

  it('U5: a name, a client or a factory that is invalid is listed with the reason, and disturbs no other cluster', async () => {
    const { time, clusters, clients$, fake } = worldOf(['east'], {
      factory: undefined,
    });
    const seen = folding();
    fake('east').put('web');
    clusters.informer(pods).changes$.subscribe(seen);
    const { client } = fake('east');
    clients$.next({ east: client, 'a/b': client, none: undefined as unknown as KubeClient });
    await time.advance(100);
    expect(seen.shown).toEqual(['east/shop/web Running']);
    const texts = Object.values(clusters.status.clusters).map(({ name, text }) => [name, text]);
    expect(texts).toEqual([
      ['east', 'live, 1 informer'],
      [
        'a/b',
        expect.stringContaining(
          'createClusters: the name of a cluster is "a/b"; it must be text without',
        ),
      ],
      ['none', expect.stringContaining('has no client')],
    ]);
    clients$.next('nonsense' as never);
    expect(clusters.status.error?.message).toContain('clients$ emitted string');
    expect(seen.shown).toEqual(['east/shop/web Running']);
    clients$.next({ east: client });
    expect(clusters.status.error).toBeUndefined();
    expect(clusters.status.text).toBe('1 of 1 cluster live');
  });

  it('U5: a factory function that throws makes only its cluster fail, and a factory that cannot start is stopped', async () => {
    const { createInformerFactory } = await import('rx-informer');
    const stopped: string[] = [];
    const { clusters, clients$, clientsOf } = worldOf(['east', 'west', 'north', 'south'], {
      factory: (client, cluster) => {
        if (cluster === 'west') throw new Error('no factory for west');
        const factory = createInformerFactory(client);
        if (cluster === 'east') return factory;
        const start = () => {
          throw new Error(`no start of ${cluster}`);
        };
        return Object.assign(factory, { start, stop: async () => void stopped.push(cluster) });
      },
    });
    clients$.next(clientsOf('east', 'west', 'north'));
    clusters.informer(pods).changes$.subscribe();
    expect(clusters.names).toEqual(['east', 'north']);
    clusters.start();
    clients$.next(clientsOf('east', 'west', 'north', 'south'));
    expect(clusters.names).toEqual(['east']);
    expect(clusters.status.text).toMatch(
      /no factory for west.*no start of north.*no start of south/,
    );
    expect(stopped).toEqual(['north', 'north', 'south']);
  });

  it('U5: an error of clients$ keeps the clusters as they are, and the status says so', async () => {
    const clients$ = new Subject<Record<string, KubeClient>>();
    const { time, clusters, clientsOf, fake } = worldOf(['east'], {}, clients$);
    const seen = folding();
    fake('east').put('web');
    clusters.informer(pods).changes$.subscribe(seen);
    expect(seen.isSynced).toBe(false);
    clients$.next(clientsOf('east'));
    await time.advance(100);
    clients$.error(new Error('the file was removed'));
    fake('east').put('db');
    await time.advance(100);
    expect(seen.shown.length).toBe(2);
    expect(clusters.status.text).toBe('1 of 1 cluster live; clients$: the file was removed');
  });
});

describe('the life of many clusters', () => {
  it('U8: nothing is sent before the start or a subscription, and nothing is left after the last subscriber or a stop', async () => {
    const { time, clusters, clients$, fake } = worldOf(['east', 'west']);
    const informer = clusters.informer(pods);
    await time.advance(1_000);
    expect(clients$.observed).toBe(false);
    expect(fake('east').server.requests).toEqual([]);
    const subscription = informer.changes$.subscribe();
    await time.advance(100);
    expect(fake('east').server.openWatches.length).toBe(1);
    subscription.unsubscribe();
    await time.advance(100);
    expect([clients$.observed, fake('east').server.openWatches.length]).toEqual([false, 0]);
    expect(informer.status.phase).toBe('idle');
    clusters.start();
    clusters.start();
    await time.advance(100);
    expect(fake('west').server.openWatches.length).toBe(1);
    let completed = 0;
    informer.changes$.subscribe({ complete: () => completed++ });
    informer.status$.subscribe({ complete: () => completed++ });
    await clusters.stop();
    await time.advance(100);
    expect([clients$.observed, fake('west').server.openWatches.length]).toEqual([false, 0]);
    // The status shows the next run, too.
    expect([completed, informer.status.phase]).toEqual([1, 'stopped']);
    expect(time.pending).toBe(0);
  });

  it('U8: the same informers continue after a stop with a complete set', async () => {
    const { time, clusters, fake } = worldOf(['east']);
    fake('east').put('web');
    const informer = clusters.informer(pods);
    clusters.start();
    await time.advance(100);
    await clusters.stop();
    fake('east').put('db');
    clusters.start();
    const seen = folding();
    informer.changes$.subscribe(seen);
    await time.advance(100);
    expect(seen.shown.length).toBe(2);
    expect(clusters.informer(pods)).toBe(informer);
  });

  it('U8: a handle keeps an informer, and its release removes it', async () => {
    const { time, clusters, fake } = worldOf(['east']);
    clusters.start();
    const handle = clusters.acquire(pods, { namespace: 'shop' });
    expect(clusters.acquire(pods, { namespaces: ['shop'] }).informer).toBe(handle.informer);
    await time.advance(100);
    expect(fake('east').server.openWatches.length).toBe(1);
    handle.release();
    handle.release();
    await time.advance(100);
    expect(fake('east').server.openWatches.length).toBe(1);
    clusters.acquire(pods, { namespace: 'shop' }).release();
    await clusters.stop();
    await time.advance(100);
    expect(fake('east').server.openWatches.length).toBe(0);
  });

  it('U8: an impossible call throws a TypeError that says what to pass', () => {
    expect(() => worldOf([], {}, {} as never)).toThrow(/clients\$ is \{.*\}; it must be/);
    expect(() => worldOf([], { lingerMs: -1 })).toThrow(TypeError);
    const { clusters } = worldOf([], {}, NEVER);
    expect(() => clusters.informer(pods, { as: 'table' } as never)).toThrow(/as is 'table'/);
    expect(() => clusters.informer(pods, { namespaces: [] })).toThrow(TypeError);
  });
});
