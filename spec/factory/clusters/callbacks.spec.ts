/** Calls within callbacks: subscriptions, stops and changes of the clusters while others are being notified. */
import { type ChangeSet, createInformerFactory, type InformerFactory } from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { changeSet } from 'rx-informer/testing';
import { config, defer, finalize, NEVER, Observable, Subject, startWith } from 'rxjs';
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
