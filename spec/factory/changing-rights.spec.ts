/** Informers whose user gains or loses rights while they run. */
import {
  addEventHandler,
  createController,
  createLiveQueries,
  liveQuery,
  namespaceFallback,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { describe, expect, it } from 'vitest';
import { rig } from './fallback-rig.ts';

const forbidden = () =>
  Promise.resolve(
    Response.json(
      { kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403, message: 'not now' },
      { status: 403 },
    ),
  );

/** Notes when a promise resolves. */
function noted(promise: Promise<unknown>) {
  const note = { done: false };
  promise.then(
    () => (note.done = true),
    () => undefined,
  );
  return note;
}

describe('while rights change', () => {
  it.each([['b'], ['']])(
    'G19, I15, I10, I62: with the right for %j more, is synced only when the new scopes are',
    async (more) => {
      /** Whether the next request is refused, and whether the later ones wait. */
      let phase: 'open' | 'refuse' | 'slow' = 'open';
      const { time, informer, factory, names, server, permitted } = rig(
        { namespaceFallback: namespaceFallback(['a', 'b']) },
        ['a'],
        undefined,
        (url) => {
          if (phase === 'open' || !url.includes('/pods')) return undefined;
          if (phase === 'slow') return new Promise<Response>(() => undefined);
          phase = 'slow';
          permitted.push(more);
          return forbidden();
        },
      );
      const view = createLiveQueries(factory).view(liveQuery({ from: pods }));
      view.subscribe(() => undefined);
      const synced: boolean[] = [];
      informer.changes$.subscribe((set) => synced.push(set.synced));
      await time.advance(5_000);
      expect(informer.hasSynced).toBe(true);
      expect(view.getSnapshot()).toMatchObject({ synced: true, status: { live: true } });
      const other = server.objects.get(pods, { namespace: 'b', name: 'pod-b' });
      const { uid = '', resourceVersion = '' } = other?.metadata ?? {};
      phase = 'refuse';
      server.faults.dropWatches();
      await time.advance(10_000);
      expect(informer.hasSynced).toBe(false);
      expect(informer.status).toMatchObject({ synced: false, live: false });
      expect(informer.status.staleSinceMs).toBeGreaterThan(0);
      expect(names()).toEqual(['pod-a']);
      const shown = view.getSnapshot();
      expect(shown).toMatchObject({ synced: false, status: { live: false } });
      expect(shown.rows).toHaveLength(1);
      expect(synced.at(-1)).toBe(false);
      const waits = [
        informer.whenSynced(),
        informer.whenAtLeast(resourceVersion),
        informer.whenObserved('b/pod-b', { uid, deleted: true }),
      ].map(noted);
      await time.advance(100);
      expect(waits.map(({ done }) => done)).toEqual([false, false, false]);
    },
  );

  it('G19, H56: objects of a namespace whose right was taken leave, and are not deleted', async () => {
    const { time, informer, names, server, permitted } = rig(
      { namespaceFallback: namespaceFallback(['a', 'b']) },
      ['a', 'b'],
    );
    const calls: string[] = [];
    addEventHandler(informer, {
      onDelete: (_deleted, { key }) => calls.push(`delete ${key}`),
      onLeave: (_left, { key }) => calls.push(`leave ${key}`),
    });
    const reconciled: string[] = [];
    const controller = createController({
      for: informer,
      scheduler: time,
      reconcile: async (key, { object }) => {
        reconciled.push(object === undefined ? `${key} is gone` : key);
      },
    });
    controller.start();
    await time.advance(5_000);
    const { uid = '' } = informer.indexer.getByKey('b/pod-b')?.metadata ?? {};
    const next = String(Number(informer.lastSyncResourceVersion) + 1);
    const waits = [
      informer.whenObserved('b/pod-b', { uid, deleted: true }),
      informer.whenObserved('b/pod-b', next),
    ].map(noted);
    permitted.splice(1, 1);
    server.faults.dropWatches();
    await time.advance(30_000);
    expect(informer.hasSynced).toBe(true);
    expect(names()).toEqual(['pod-a']);
    expect(calls).toEqual(['leave b/pod-b']);
    expect(reconciled.toSorted()).toEqual(['a/pod-a', 'b/pod-b']);
    for (let at = 0; at < 3; at++) {
      server.objects.create(pods, { metadata: { namespace: 'a', name: `more-${at}` } });
    }
    await time.advance(100);
    expect(waits.map(({ done }) => done)).toEqual([false, false]);
    await controller.stop();
  });

  it('G22: reviews that permit what the server refuses come ever more rarely, and follow a right after a quiet time', async () => {
    let refuses = true;
    const all = Array.from({ length: 40 }, (_, at) => `n${at}`);
    const { time, informer, server, reviewed, permitted } = rig(
      { namespaceFallback: namespaceFallback(all) },
      [...all],
      undefined,
      (url) => (refuses && url.includes('/pods') ? forbidden() : undefined),
    );
    /** The rounds of each half minute. A round asks for list and watch, in all namespaces and in each. */
    const rounds: number[] = [];
    for (let at = 0; at < 5; at++) {
      const before = reviewed.length;
      await time.advance(30_000);
      rounds.push((reviewed.length - before) / (2 + 2 * all.length));
    }
    // After 0, 1, 3, 7 and 15 s.
    expect(rounds[0]).toBeLessThanOrEqual(6);
    expect(Math.max(...rounds.slice(1))).toBeLessThanOrEqual(2);
    expect(rounds.at(-1)).toBeGreaterThan(0);
    refuses = false;
    await time.advance(90_000);
    expect(informer.status.live).toBe(true);
    const lost = permitted.pop();
    server.faults.dropWatches();
    await time.advance(5_000);
    expect(informer.status.access).toMatchObject({ missing: [lost] });
  });

  it('G19: a refused object of a namespace whose right was taken is forgotten', async () => {
    const { time, informer, server, permitted } = rig(
      {
        namespaceFallback: namespaceFallback(['a', 'b']),
        transform: (pod) => {
          if (pod.metadata?.namespace === 'b') throw new TypeError('not this one');
          return pod;
        },
      },
      ['a', 'b'],
    );
    await time.advance(5_000);
    expect(informer.status.refused).toBe(1);
    permitted.splice(1, 1);
    server.faults.dropWatches();
    await time.advance(30_000);
    expect(informer.status).toMatchObject({ live: true, refused: 0 });
  });

  it('G18, G19: shows no limit once everything is granted to a user who had no right', async () => {
    const { time, informer, names, server, permitted } = rig(
      { namespaceFallback: namespaceFallback(['a', 'b']) },
      [],
    );
    const shown: unknown[] = [];
    informer.status$.subscribe(({ access }) => shown.push(access?.namespaces));
    await time.advance(5_000);
    expect(informer.status.access).toMatchObject({ namespaces: [], missing: ['a', 'b'] });
    // Between two reviews, so that no refusal follows.
    permitted.push('');
    await time.advance(60_000);
    expect(names()).toEqual(['pod-a', 'pod-b', 'pod-c']);
    expect(informer.status.live).toBe(true);
    expect(informer.status.access).toBeUndefined();
    expect(shown.at(-1)).toBeUndefined();
    const { resourceVersion = '' } = informer.indexer.getByKey('c/pod-c')?.metadata ?? {};
    const wait = noted(informer.whenObserved('c/pod-c', resourceVersion));
    await time.advance(0);
    expect(wait.done).toBe(true);
    // The refusal is explained again when the right is taken.
    permitted.splice(0, 1);
    server.faults.dropWatches();
    await time.advance(30_000);
    expect(informer.status).toMatchObject({ blocked: 'forbidden', access: { namespaces: [] } });
  });

  it('G17, I81: a refresh during the reviews resolves with the first lists', async () => {
    const { time, informer, factory } = rig({ namespaceFallback: namespaceFallback(['a', 'b']) }, [
      'a',
      'b',
    ]);
    expect(informer.status.phase).toBe('queued');
    const outcome: string[] = [];
    const refresh = () =>
      informer.refresh().then(
        () => outcome.push(`done with ${informer.indexer.size}`),
        (error) => outcome.push(error.message),
      );
    void refresh();
    await time.advance(5);
    void refresh();
    expect(informer.status.phase).toBe('queued');
    await time.advance(5_000);
    expect(outcome).toEqual(['done with 2', 'done with 2']);
    void refresh();
    await time.advance(5_000);
    expect(outcome).toHaveLength(3);
    // One that is pending at a stop is rejected.
    await factory.stop();
    await time.advance(70_000);
    factory.start();
    void refresh();
    await time.advance(5);
    await factory.stop();
    await time.advance(0);
    expect(outcome).toHaveLength(4);
    expect(outcome[3]).toContain('is not running');
  });
});
