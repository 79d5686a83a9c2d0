/** Calls within callbacks: subscriptions, stops and changes of the clusters while others are being notified. */
import { type ChangeSet, createInformerFactory, type InformerFactory } from 'rx-informer';
import { configMaps, type Pod, pods } from 'rx-informer/resources';
import { changeSet } from 'rx-informer/testing';
import {
  config,
  defer,
  finalize,
  NEVER,
  Observable,
  repeat,
  Subject,
  Subscription,
  startWith,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import { allReported } from '../../support/reported-errors.ts';
import { folding, worldOf } from './world.ts';

/** A factory whose informers have objects at the first subscription, and emit in the call what the test gives to `source`. */
function emittingFactory(...objects: readonly Pod[]) {
  const source = new Subject<ChangeSet<Pod>>();
  const first = changeSet({ added: objects, reset: true, cause: 'snapshot' });
  const informer = {
    changes$: defer(() => source.pipe(startWith(first))),
    status: { phase: 'watching', synced: true, live: true },
    status$: new Subject(),
    indexer: { list: () => objects, getByKey: () => undefined },
    hasSynced: true,
  };
  const factory = {
    acquire: () => ({ informer, release: () => undefined }),
    start: () => undefined,
    stop: () => Promise.resolve(),
  };
  return { source, factory: factory as unknown as InformerFactory };
}

const pod = (name: string, phase: string): Pod => ({
  metadata: { namespace: 'shop', name, uid: `uid-${name}` },
  status: { phase },
});

describe('several subscriptions', () => {
  it('U14: share the rows, so each cluster is subscribed once, and a late one first gets them as one reset set', async () => {
    const { source, factory } = emittingFactory(pod('web', 'Running'));
    const { informer } = factory.acquire(pods);
    const { changes$ } = informer;
    const count = { open: 0, opened: 0 };
    const counted$ = new Observable<ChangeSet<Pod>>((subscriber) => {
      count.open++;
      count.opened++;
      subscriber.add(() => count.open--);
      subscriber.add(changes$.subscribe(subscriber));
    });
    Object.assign(informer, { changes$: counted$ });
    const { clusters } = worldOf(['east'], { factory: () => factory });
    const merged = clusters.informer(pods);
    clusters.start();
    const sets: ChangeSet<Pod>[][] = [[], [], []];
    const early = sets.map((each) => merged.changes$.subscribe((set) => each.push(set)));
    source.next(changeSet({ added: [pod('db', 'Running')] }));
    const late = folding();
    const last = merged.changes$.subscribe(late);
    source.next(changeSet({ added: [pod('api', 'Running')] }));
    expect(count).toEqual({ open: 1, opened: 1 });
    expect(late.lines).toEqual([
      'reset +east/shop/web +east/shop/db synced',
      'watch +east/shop/api synced',
    ]);
    expect(sets.map(({ length }) => length)).toEqual(sets.map(() => 3));
    expect(new Set(sets.map((each) => each.at(-1))).size).toBe(1);
    for (const subscription of early) subscription.unsubscribe();
    expect(count.open).toBe(1);
    last.unsubscribe();
    expect(count.open).toBe(0);
    const next = folding();
    merged.changes$.subscribe(next);
    expect([next.lines, count.opened]).toEqual([['reset +east/shop/web synced'], 2]);
    await clusters.stop();
  });
});

it('U11: a run of a cluster that begins with other rows gives the difference, of which deletions were missed', async () => {
  const { factory } = emittingFactory();
  const { informer } = factory.acquire(pods);
  const [web, db, api] = ['web', 'db', 'api'].map((name) => pod(name, 'Running')) as [
    Pod,
    Pod,
    Pod,
  ];
  const ended = new Subject<ChangeSet<Pod>>();
  const first = (...added: Pod[]) => changeSet({ added, reset: true, cause: 'snapshot' });
  const runs = [ended.pipe(startWith(first(web, db))), NEVER.pipe(startWith(first(db, api)))];
  Object.assign(informer, { changes$: defer(() => runs.shift() as Observable<ChangeSet<Pod>>) });
  const { clusters } = worldOf(['east'], { factory: () => factory });
  clusters.start();
  const seen = folding();
  const deleted: (readonly [string, boolean])[] = [];
  clusters.informer(pods).changes$.subscribe((set) => {
    seen.next(set);
    for (const { key, finalStateUnknown } of set.deleted) deleted.push([key, finalStateUnknown]);
  });
  ended.complete();
  (informer.status$ as Subject<unknown>).next(informer.status);
  expect(seen.lines.at(-1)).toBe('initial -east/shop/web +east/shop/api synced');
  expect(deleted).toEqual([['east/shop/web', true]]);
  await clusters.stop();
});

describe('subscriptions within callbacks', () => {
  it('U8: a subscription made while the clusters end belongs to the next run', async () => {
    const { time, clusters, fake } = worldOf(['east']);
    fake('east').put('web');
    const informer = clusters.informer(pods);
    const seen = folding();
    clusters.start();
    const repeated = informer.changes$.pipe(repeat()).subscribe(seen);
    await time.advance(100);
    await clusters.stop();
    await time.advance(100);
    const once = ['reset …', 'initial +east/shop/web synced'];
    expect(seen.lines).toEqual([...once, ...once]);
    fake('east').put('db');
    await time.advance(100);
    expect(seen.rows.size).toBe(2);
    repeated.unsubscribe();
    await time.advance(100);
    expect([fake('east').server.openWatches.length, time.pending]).toEqual([0, 0]);
  });

  it('U8: a subscription made when the status becomes stopped does not keep the former ones', async () => {
    const { time, clusters, fake } = worldOf(['east']);
    fake('east').put('web');
    const [former, next] = [folding(), folding()];
    const informers = [clusters.informer(pods), clusters.informer(configMaps)] as const;
    let completed = 0;
    clusters.start();
    informers[0].changes$.subscribe({
      next: (set) => former.next(set),
      complete: () => completed++,
    });
    informers[1].changes$.subscribe({ complete: () => completed++ });
    const phases: string[] = [];
    informers[0].status$.subscribe(({ phase }) => {
      if (phase === 'stopped') informers[0].changes$.subscribe(next);
    });
    informers[1].status$.subscribe(({ phase }) => phases.push(phase));
    await time.advance(100);
    await clusters.stop();
    await time.advance(100);
    expect(completed).toBe(2);
    // The status of the stop comes first, although the next run begins before it is told.
    expect(phases.slice(phases.indexOf('stopped')).slice(0, 2)).toEqual(['stopped', 'connecting']);
    expect(phases.filter((phase) => phase === 'stopped')).toHaveLength(1);
    expect(next.lines).toEqual(['reset …', 'initial +east/shop/web synced']);
    expect(former.lines).toEqual(next.lines);
    await clusters.stop();
  });

  it('U8: observers of the status see its transitions in one order', async () => {
    const { time, clusters } = worldOf(['east']);
    const informer = clusters.informer(pods);
    const seen: string[][] = [[], []];
    let isRestarted = false;
    informer.status$.subscribe(({ phase }) => {
      seen[0]?.push(phase);
      if (phase !== 'idle' || (seen[0]?.length ?? 0) < 2 || isRestarted) return;
      isRestarted = true;
      informer.changes$.subscribe();
    });
    informer.status$.subscribe(({ phase }) => seen[1]?.push(phase));
    const first = informer.changes$.subscribe();
    await time.advance(100);
    first.unsubscribe();
    await time.advance(100);
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[1]?.at(-1)).toBe('watching');
    await clusters.stop();
  });

  it('U8, I70: a teardown that throws is reported, and the other subscribers complete', async () => {
    const reported: string[] = [];
    config.onUnhandledError = (error) => reported.push(String(error));
    const { time, clusters } = worldOf(['east']);
    const { informer, release } = clusters.acquire(pods);
    const completed: string[] = [];
    const cleanup = () => {
      throw new Error('cleanup');
    };
    for (const name of ['changes$', 'status$'] as const) {
      const stream: Observable<unknown> = informer[name];
      stream.pipe(finalize(cleanup)).subscribe();
      stream.subscribe({ complete: () => completed.push(name) });
    }
    clusters.start();
    await time.advance(100);
    await clusters.stop();
    expect(completed).toEqual(['changes$']);
    release();
    expect(completed).toEqual(['changes$', 'status$']);
    await allReported();
    config.onUnhandledError = null;
    expect(reported).toEqual(Array(2).fill(expect.stringContaining('cleanup')));
  });

  it('U9: a subscription made while a cluster leaves has no rows of it', async () => {
    const { time, clusters, clients$, clientsOf, fake } = worldOf(['east', 'west']);
    fake('east').put('web');
    fake('west').put('web');
    const informer = clusters.informer(pods);
    const [first, late] = [folding(), folding()];
    clusters.start();
    informer.changes$.subscribe((set) => {
      first.next(set);
      if (set.cause === 'rebalance') informer.changes$.subscribe(late);
    });
    await time.advance(100);
    clients$.next(clientsOf('west'));
    await time.advance(100);
    expect(late.lines).toEqual(['reset +west/shop/web …', 'initial synced']);
    expect(first.shown).toEqual(late.shown);
    await clusters.stop();
  });

  it('U9: a subscription made while a cluster joins receives each of its sets once', () => {
    const { source, factory } = emittingFactory(pod('web', 'Running'));
    const { clusters, clients$, clientsOf } = worldOf(['east'], { factory: () => factory });
    clients$.next({});
    const informer = clusters.informer(pods);
    const late = folding();
    let isNested = false;
    informer.changes$.subscribe(({ changes }) => {
      if (changes.length === 0 || isNested) return;
      isNested = true;
      informer.changes$.subscribe(late);
    });
    clients$.next(clientsOf('east'));
    source.next(changeSet({ added: [pod('db', 'Running')] }));
    expect(late.lines).toEqual([
      'reset +east/shop/web …',
      'initial synced',
      'watch +east/shop/db synced',
    ]);
  });

  it('U8: a subscription that ends while a cluster joins does not follow that cluster', () => {
    const { source, factory } = emittingFactory(pod('web', 'Running'));
    const { clusters, clients$, clientsOf } = worldOf(['east'], { factory: () => factory });
    clients$.next({});
    const informer = clusters.informer(pods);
    const second = new Subscription();
    informer.changes$.subscribe(({ changes }) => {
      if (changes.length > 0) second.unsubscribe();
    });
    second.add(informer.changes$.subscribe());
    let followers = 0;
    const { changes$ } = factory.acquire(pods).informer;
    Object.assign(factory.acquire(pods).informer, {
      changes$: new Observable((subscriber) => {
        followers++;
        subscriber.add(() => followers--);
        return changes$.subscribe(subscriber as never);
      }),
    });
    clients$.next(clientsOf('east'));
    expect([source.observed, followers]).toEqual([true, 1]);
  });
});

it('U8: a subscription that ends while a cluster runs again does not follow the others', () => {
  const stopped = new Subject<ChangeSet<Pod>>();
  let [followers, phase] = [0, 'Running'];
  const { factory } = emittingFactory();
  const { informer } = factory.acquire(pods);
  const changes$ = new Observable<ChangeSet<Pod>>((subscriber) => {
    followers++;
    subscriber.add(() => followers--);
    const set = changeSet({ added: [pod('web', phase)], reset: true, cause: 'snapshot' });
    const rest: Observable<ChangeSet<Pod>> = stopped.closed ? NEVER : stopped;
    subscriber.add(rest.pipe(startWith(set)).subscribe(subscriber));
  });
  Object.assign(informer, { changes$ });
  const { clusters } = worldOf(['east', 'west'], { factory: () => factory });
  clusters.start();
  const subscription = clusters.informer(pods).changes$.subscribe(({ updated }) => {
    if (updated.length > 0) subscription.unsubscribe();
  });
  expect(followers).toBe(2);
  stopped.complete();
  stopped.unsubscribe();
  phase = 'Failed';
  (informer.status$ as Subject<unknown>).next(informer.status);
  expect([subscription.closed, followers]).toEqual([true, 0]);
});

describe('changes within callbacks', () => {
  it('U9: a set that a cluster emitted before it left, and that waits behind that change, is dropped', () => {
    const east = emittingFactory(pod('web', 'Running'));
    const { clusters, clients$ } = worldOf(['east'], { factory: () => east.factory });
    const seen = folding();
    clusters.informer(pods).changes$.subscribe((set) => {
      seen.next(set);
      if (set.updated.length === 0) return;
      clients$.next({});
      // The drain of the clusters is busy, so this set waits behind the change of the clusters.
      east.source.next(changeSet({ added: [pod('db', 'Running')] }));
    });
    const [previous, object] = [pod('web', 'Running'), pod('web', 'Failed')];
    east.source.next(changeSet({ updated: [{ previous, object }] }));
    expect(seen.lines.slice(-2)).toEqual([
      'watch east/shop/web synced',
      'rebalance -east/shop/web synced',
    ]);
    expect(seen.shown).toEqual([]);
  });

  it('U8: an informer that is requested in the callback that released it stays', async () => {
    const { time, clusters, fake } = worldOf(['east']);
    fake('east').put('web');
    clusters.start();
    const handle = clusters.acquire(pods);
    const kept: unknown[] = [];
    handle.informer.changes$.subscribe(({ synced }) => {
      if (!synced || kept.length > 0) return;
      handle.release();
      kept.push(clusters.informer(pods));
    });
    await time.advance(100);
    expect(clusters.informer(pods)).toBe(kept[0]);
    fake('east').put('db');
    await time.advance(100);
    expect(clusters.informer(pods).indexer.list().length).toBe(2);
    await clusters.stop();
  });

  it('U8: a callback that hears of a new informer may stop the clusters', async () => {
    const { time, clusters, fake } = worldOf(['east']);
    clusters.start();
    await time.advance(100);
    let isStopping = false;
    clusters.status$.subscribe(({ text }) => {
      if (!text.includes('pods') || isStopping) return;
      isStopping = true;
      void clusters.stop();
    });
    const informer = clusters.informer(pods);
    expect([isStopping, informer.status.phase]).toEqual([true, 'stopped']);
    informer.changes$.subscribe();
    await time.advance(100);
    // One run for the subscription, and none on the former informer of the cluster.
    expect(fake('east').server.openWatches.length).toBe(1);
    await clusters.stop();
    await time.advance(100);
    expect([fake('east').server.openWatches.length, time.pending]).toEqual([0, 0]);
  });

  it('U8: each stop resolves when the factories have stopped, also those of clusters that have left', async () => {
    const releases: (() => void)[] = [];
    const { clusters, clients$, clientsOf } = worldOf(['east', 'west'], {
      factory: (client) => ({
        ...createInformerFactory(client),
        stop: () => new Promise<void>((resolve) => releases.push(resolve)),
      }),
    });
    clusters.start();
    clients$.next(clientsOf('west'));
    const stopped: string[] = [];
    const stops = ['one', 'two'].map((name) => clusters.stop().then(() => stopped.push(name)));
    await new Promise((resolve) => setImmediate(resolve));
    expect([releases.length, stopped]).toEqual([2, []]);
    releases[1]?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(stopped).toEqual([]);
    releases[0]?.();
    await Promise.all(stops);
  });
});
