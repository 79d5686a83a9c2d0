/** Calls within callbacks, single ones and at random: subscriptions, stops and changes of the clusters while others are being notified. */
import {
  type ChangeSet,
  createInformerFactory,
  createLiveQueries,
  type InformerFactory,
  liveQuery,
} from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { changeSet, seededRandom } from 'rx-informer/testing';
import { config, defer, finalize, NEVER, Observable, Subject, Subscription, startWith } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { allReported } from '../../support/errors.ts';
import { type FakeCluster, folding, worldOf } from './world.ts';

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
  it('U14: share the rows, so each cluster is subscribed once, and a late one first gets them as one reset set', () => {
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
  });
});

it('U11: a run of a cluster that begins with other rows gives the difference, of which deletions were missed', () => {
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

afterEach(() => {
  config.onUnhandledError = null;
});

const names = ['a', 'b', 'c'];

// The last four have found an informer that was not stopped.
it.each([1, 2, 3, 4, 5, 6, 7, 8, 47, 136, 148, 183])(
  'U9: whatever subscribers do in callbacks, the rows are those of the clusters, and a stop leaves nothing (seed %i)',
  async (seed) => {
    const errors: unknown[] = [];
    config.onUnhandledError = (error) => errors.push(error);
    const random = seededRandom(seed);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    const world = worldOf(names, { lingerMs: pick([0, 0, 5_000]) });
    const { time, clusters, clients$, clientsOf, clusterOf, fakes, fake } = world;
    const all = new Set<FakeCluster>(Object.values(fakes));
    const informer = clusters.informer(pods);
    const queries = createLiveQueries(clusters, { lingerMs: 1_000 });
    const views = [
      queries.view(liveQuery({ from: pods, namespace: 'shop' })),
      queries.view(liveQuery({ from: pods, as: 'metadata' })),
    ];
    let present: readonly string[] = names;
    let depth = 0;
    const subscribers = new Map<ReturnType<typeof folding>, Subscription>();
    const subscribe = () => {
      const seen = folding();
      const subscription = new Subscription();
      subscribers.set(seen, subscription);
      subscription.add(() => subscribers.delete(seen));
      subscription.add(
        informer.changes$.subscribe({
          next: (set) => {
            if (subscription.closed) return;
            seen.next(set);
            maybe(0.1);
          },
          complete: () => {
            subscription.unsubscribe();
            maybe(0.5);
          },
        }),
      );
    };
    const replace = () => {
      const name = pick(names);
      fakes[name] = clusterOf(name);
      all.add(fake(name));
      fake(name).put('new');
    };
    const change = () => {
      if (random() < 0.3) replace();
      else present = names.filter(() => random() < 0.6);
      clients$.next(clientsOf(...present));
    };
    const hold = () => {
      const { informer: held, release } = clusters.acquire(pods, { namespace: 'shop' });
      held.changes$.subscribe().unsubscribe();
      release();
    };
    const leaveOne = () => pick([...subscribers.values()])?.unsubscribe();
    const stop = () => void clusters.stop();
    const start = () => clusters.start();
    const acts = [subscribe, subscribe, leaveOne, change, change, stop, start, start, hold];
    const act = () => {
      if (depth > 2) return;
      depth++;
      pick(acts)();
      depth--;
    };
    const maybe = (chance: number) => {
      if (random() < chance) act();
    };
    informer.status$.subscribe(() => maybe(0.05));
    clusters.status$.subscribe(() => maybe(0.05));
    const leaves = views.map((view) => view.subscribe(() => maybe(0.05)));
    const faults: { heal(): void }[] = [];
    for (let step = 0; step < 120; step++) {
      const dice = random();
      const { server, put } = fake(pick(names));
      if (dice < 0.5) put(pick(['x', 'y', 'z']), `${step}`);
      else if (dice < 0.6) {
        faults.push(server.faults.refuse());
        server.faults.dropWatches();
      } else if (dice < 0.65) for (const fault of faults.splice(0)) fault.heal();
      else if (dice < 0.8) act();
      else await time.advance(random() * 3_000);
    }
    // From here on, callbacks do nothing.
    depth = 9;
    for (const fault of faults) fault.heal();
    clusters.start();
    subscribe();
    await time.advance(200_000);
    const truth = present.flatMap((name) =>
      fake(name)
        .server.objects.list(pods)
        .map(({ metadata, status }) => `${name}/shop/${metadata.name} ${status?.phase}`),
    );
    expect(errors).toEqual([]);
    for (const { shown } of subscribers.keys()) expect(shown).toEqual([...truth].sort());
    for (const view of views) expect(view.getSnapshot().rows.length).toBe(truth.length);
    for (const leave of leaves) leave();
    await clusters.stop();
    await time.advance(120_000);
    for (const { server } of all) expect(server.openWatches).toEqual([]);
    expect([time.pending, clients$.observed]).toEqual([0, false]);
  },
);
