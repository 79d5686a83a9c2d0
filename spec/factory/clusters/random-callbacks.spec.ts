/** Random runs in which subscribers act in their callbacks: they subscribe, leave, and stop or change the clusters. */
import { createLiveQueries, liveQuery } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { seededRandom } from 'rx-informer/testing';
import { config, Subscription } from 'rxjs';
import { afterEach, expect, it } from 'vitest';
import { type FakeCluster, folding, worldOf } from './world.ts';

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
