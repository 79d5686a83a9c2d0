/** Clusters that fail in part: one informer, a factory, a value of clients$; and what a wait for the sync says. */
import { createClusters, createInformerFactory, type KubeClient } from 'rx-informer';
import { configMaps, pods } from 'rx-informer/resources';
import { config, of, throwError } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/patience.ts';
import { folding, worldOf } from './world.ts';

afterEach(() => {
  config.onUnhandledError = null;
});

describe('the sync of a view whose clusters fail', () => {
  it('U4: a view is not synced by a cluster that leaves before another one is listed', async () => {
    const { time, clusters, clients$, clientsOf, fake } = worldOf(['east', 'west']);
    clients$.next(clientsOf('east'));
    const informer = clusters.informer(pods);
    const early = folding();
    fake('east').server.faults.neverAnswer();
    informer.changes$.subscribe(early);
    await time.advance(100);
    // The list of the next cluster arrives in parts.
    fake('west').server.faults.withoutInitialEventsEnd();
    fake('west').put('web');
    clients$.next(clientsOf('west'));
    await time.advance(100);
    fake('west').put('db');
    await time.advance(100);
    expect(early.lines.filter((line) => line.endsWith('synced'))).toEqual([]);
    expect(informer.hasSynced).toBe(false);
  });

  it('U4: a subscription made while the only cluster is replaced is not synced without rows', async () => {
    const { time, clusters, clients$, clientsOf, clusterOf, fakes, fake } = worldOf(['east']);
    fake('east').put('web');
    const informer = clusters.informer(pods);
    const late = folding();
    clusters.start();
    informer.changes$.subscribe(({ cause }) => {
      if (cause === 'rebalance') informer.changes$.subscribe(late);
    });
    await time.advance(100);
    fakes['east'] = clusterOf('east');
    fake('east').put('db');
    clients$.next(clientsOf('east'));
    expect(late.lines).toEqual(['reset …']);
    await time.advance(100);
    expect(late.lines).toEqual(['reset …', 'initial +east/shop/db synced']);
  });

  it('U4: a view is synced when the last cluster without a list leaves, also if it has no rows', async () => {
    const { time, clusters, clients$, clientsOf, fake } = worldOf(['east', 'west']);
    fake('east').put('web');
    fake('west').server.faults.neverAnswer();
    const seen = folding();
    clusters.informer(pods).changes$.subscribe(seen);
    await time.advance(100);
    expect(seen.isSynced).toBe(false);
    clients$.next(clientsOf('east'));
    expect(seen.lines.at(-1)).toBe('initial synced');
  });

  it('U4: a view of clusters that cannot be shown is not synced, and shows why', () => {
    const { clusters, clients$ } = worldOf([]);
    const seen = folding();
    clients$.next({ west: undefined as unknown as KubeClient });
    const informer = clusters.informer(pods);
    informer.changes$.subscribe(seen);
    expect([seen.isSynced, informer.hasSynced, informer.status.live]).toEqual([
      false,
      false,
      false,
    ]);
    expect(informer.status.error?.message).toContain('"west" has no client');
    clients$.next({});
    expect([seen.isSynced, informer.hasSynced, informer.status.error]).toEqual([
      true,
      true,
      undefined,
    ]);
  });

  it('U4: a wait for the sync rejects when every cluster refuses the list, or waits for access', async () => {
    const { time, clusters, fake } = worldOf(['east', 'west']);
    const refused = fake('east').server.faults.refuse();
    const refusals = [fake('west').server.faults.failNext(undefined, { status: 403, times: 99 })];
    const informer = clusters.informer(pods);
    clusters.start();
    const outcomes: string[] = [];
    const note = (name: string, wait: Promise<void>) =>
      wait.then(
        () => outcomes.push(`${name}: synced`),
        (error: Error) => outcomes.push(`${name}: ${error.message}`),
      );
    void note('reject', informer.whenSynced());
    void note('wait', informer.whenSynced({ whileBlocked: 'wait' }));
    await time.advance(1_000);
    // The first cluster may answer at any time.
    expect(outcomes).toEqual([]);
    refused.heal();
    refusals.push(fake('east').server.faults.failNext(undefined, { status: 403, times: 99 }));
    await time.advance(60_000);
    expect(outcomes.length).toBe(1);
    expect(outcomes[0]).toMatch(
      /^reject: .*east\/pods \(forbidden.*west\/pods \(forbidden.*wait'$/,
    );
    for (const refusal of refusals) refusal.heal();
    await time.advance(120_000);
    expect(outcomes[1]).toBe('wait: synced');
  });
});

describe('a cluster that fails in part', () => {
  it('U4: a wait without a time limit ends if the informer is removed', async () => {
    const { time, clusters } = worldOf(['east']);
    const { informer, release } = clusters.acquire(pods);
    const waited = informer.whenSynced().catch((error: Error) => error.message);
    release();
    await time.advance(100);
    const still = Promise.resolve('still waits');
    expect(await Promise.race([waited, still])).toBe(
      'pods is not synced: it was removed from the clusters: pods (stopped)',
    );
  });

  it('U4, U8: an informer that was removed is stopped, and begins nothing', async () => {
    const { time, clusters, fake } = worldOf(['east']);
    fake('east').put('web');
    clusters.start();
    const { informer, release } = clusters.acquire(pods);
    await time.advance(1_000);
    expect(informer.status).toMatchObject({ synced: true, live: true });
    const phases: string[] = [];
    informer.status$.subscribe(({ phase }) => phases.push(phase));
    release();
    await time.advance(60_000);
    expect(phases.at(-1)).toBe('stopped');
    expect(informer.hasSynced).toBe(false);
    expect(informer.status).toMatchObject({ phase: 'stopped', synced: false, live: false });
    await expect(informer.whenSynced()).rejects.toThrow('it was removed from the clusters');
    const seen: string[] = [];
    informer.changes$.subscribe({ next: () => seen.push('set'), complete: () => seen.push('end') });
    expect(seen).toEqual(['end']);
  });

  it.each([
    ['no cluster has a client', of({ east: {} as never })],
    ['clients$ errors before a value', throwError(() => new Error('no discovery'))],
    ['clients$ errors with a value without a text', throwError(() => Object.create(null))],
  ])('U4: a wait without a time limit rejects with the cause if %s', async (_what, clients$) => {
    const clusters = createClusters(clients$);
    const informer = clusters.informer(pods);
    clusters.start();
    await expect(informer.whenSynced()).rejects.toThrow(/no client|no discovery|cannot be shown/);
    expect(informer.status).toMatchObject({ synced: false, live: false });
    await clusters.stop();
  });

  it('U5: an informer that cannot be created is marked alone', async () => {
    const { time, clusters, fake } = worldOf(['east', 'west'], {
      listWatch: ({ plural }) => {
        if (plural === 'configmaps') throw new Error('no bucket for configmaps');
        return undefined;
      },
    });
    fake('east').put('web');
    const [some, none] = [clusters.informer(pods), clusters.informer(configMaps)];
    clusters.start();
    const waited = none.whenSynced().catch((error: Error) => error.message);
    await time.advance(100);
    const { east } = clusters.status.clusters;
    expect(east?.informers['pods']?.live).toBe(true);
    expect(east?.text).toBe(
      'configmaps: stopped: the informer could not be created: no bucket for configmaps',
    );
    expect([some.hasSynced, some.status.live, some.status.error]).toEqual([true, true, undefined]);
    expect([none.hasSynced, none.status.live, none.status.phase]).toEqual([
      false,
      false,
      'connecting',
    ]);
    expect(none.status.error?.message).toContain('no bucket for configmaps');
    expect(await waited).toContain('east/configmaps (stopped: the informer could not be created');
  });

  it('U5: a factory that cannot be started or stopped makes only its cluster fail', async () => {
    const errors: string[] = [];
    config.onUnhandledError = (error: Error) => errors.push(error.message);
    const { clusters, clients$, clientsOf } = worldOf(['east', 'west', 'north'], {
      factory: (client, cluster) => {
        const own = createInformerFactory(client);
        if (cluster === 'west') {
          const start = () => {
            throw new Error('west does not start');
          };
          return { ...own, start };
        }
        const stop = () => {
          throw new Error('north does not stop');
        };
        return cluster === 'north' ? { ...own, stop } : own;
      },
    });
    const names = () => [clusters.names, Object.keys(clusters.status.clusters)];
    // The clusters are known before the start, and come after it.
    const early = clusters.informer(pods).changes$.subscribe();
    clusters.start();
    expect(names()).toEqual([
      ['east', 'north'],
      ['east', 'north', 'west'],
    ]);
    expect(clusters.status.text).toContain('west: cannot be shown: west does not start');
    clients$.next({});
    clients$.next(clientsOf('west', 'north', 'east'));
    expect(names()).toEqual([
      ['north', 'east'],
      ['north', 'east', 'west'],
    ]);
    expect(clusters.status.text).toContain('west: cannot be shown: west does not start');
    early.unsubscribe();
    await clusters.stop();
    await eventually(() => expect(errors).toEqual(['north does not stop', 'north does not stop']));
  });

  it('U5: two versions of one resource have a status each', async () => {
    const { time, clusters } = worldOf(['east']);
    clusters.informer(pods);
    clusters.informer({ ...pods, version: 'v2' });
    clusters.start();
    await time.advance(100);
    const { informers = {} } = clusters.status.clusters['east'] ?? {};
    expect(Object.entries(informers).map(([name, { live }]) => [name, live])).toEqual([
      ['pods', true],
      ['pods@v2', false],
    ]);
  });

  it('U5: a name of a cluster is never taken for a property of an object', async () => {
    const { time, clusters, clients$, fake } = worldOf(['east']);
    fake('east').put('web');
    const informer = clusters.informer(pods);
    clusters.start();
    const names = ['__proto__', 'constructor', 'a:b', ' ', '☃'];
    clients$.next(new Map(names.map((name) => [name, fake('east').client])));
    await time.advance(100);
    expect(Object.keys(clusters.status.clusters)).toEqual(names);
    expect(clusters.status.text).toBe('5 of 5 clusters live');
    for (const name of names) {
      expect(informer.indexer.getByKey(`${name}/shop/web`)?.metadata.name).toBe('web');
      expect(clusters.get(`${name}/shop/web`)?.name).toBe(name);
    }
  });

  it.each<[string, unknown, string]>([
    ['a Promise', Promise.resolve({}), 'clients$ emitted Promise'],
    ['a Set', new Set(), 'clients$ emitted Set'],
    ['a list', [], 'clients$ emitted Array'],
    ['null', null, 'clients$ emitted null'],
    ['nothing', undefined, 'clients$ emitted undefined'],
  ])('U5: %s in place of clients removes no cluster', async (_title, value, words) => {
    const { clusters, clients$ } = worldOf(['east']);
    clusters.start();
    clients$.next(value as never);
    expect(clusters.names).toEqual(['east']);
    expect(clusters.status.error?.message).toContain(words);
  });
});
