/** Tests warm starts: what is requested, when objects are shown, and when they are confirmed. */
import { describe, expect, it } from 'vitest';
import { contents, persistRig, requestsOf } from './rig.ts';

async function stored(objects = 3) {
  const rig = persistRig();
  for (let at = 0; at < objects; at++) rig.put(`s${at}`, 1);
  await rig.once();
  return rig;
}

describe('a warm start', () => {
  it('P1: sends one list with limit 1 and a watch from the stored version, and no other list', async () => {
    const rig = await stored();
    const at = rig.server.objects.resourceVersion;
    rig.put('s0', 2);
    const { informer, end } = rig.life();
    informer.start();
    await rig.time.advance(10_000);
    expect(requestsOf(rig.server).slice(0, 2)).toEqual(['L1', `W${at}`]);
    expect(
      requestsOf(rig.server)
        .slice(2)
        .every((each) => each.startsWith('W')),
    ).toBe(true);
    expect(contents(informer)).toEqual(['shop/s0=2', 'shop/s1=1', 'shop/s2=1']);
    expect(informer.status).toMatchObject({ synced: true, live: true, relists: 0 });
    await end();
  });

  it('P2: shows the stored objects as stale and not synced, with the time at which they were right', async () => {
    const rig = await stored();
    const savedAtMs = rig.store.only?.savedAtMs ?? 0;
    await rig.time.advance(60_000);
    // The server is ahead, and sends no bookmark yet.
    rig.server.objects.advance(5);
    const { informer, end } = rig.life();
    const sets: boolean[] = [];
    informer.changes$.subscribe((set) => sets.push(set.synced));
    await rig.time.advance(1_000);
    expect(contents(informer)).toEqual(['shop/s0=1', 'shop/s1=1', 'shop/s2=1']);
    expect(informer.status).toMatchObject({
      synced: false,
      live: false,
      stale: true,
      staleSinceMs: savedAtMs,
    });
    expect(sets).not.toContain(true);
    await rig.time.advance(4_000);
    expect(informer.status).toMatchObject({ synced: true, live: true });
    expect(informer.status.stale).toBeUndefined();
    expect(informer.status.staleSinceMs).toBeUndefined();
    await end();
  });

  it('P3: is synced at the first bookmark at the version that the server had at the start, or later', async () => {
    const rig = await stored();
    rig.server.objects.advance(5);
    const { informer, end } = rig.life();
    informer.start();
    let at = -1;
    void informer.whenSynced().then(() => {
      at = rig.time.now();
    });
    const from = rig.time.now();
    await rig.time.advance(10_000);
    // The server sends the last bookmark of a watch 2 s before its end.
    expect(at - from).toBeGreaterThanOrEqual(3_000);
    expect(at - from).toBeLessThan(3_100);
    const [, first] = rig.server.requests.filter(({ resource }) => resource === 'services');
    expect(first?.query['timeoutSeconds']).toBe('5');
    await end();
  });

  it('P3: is synced at the first event at that version, and not at an earlier one', async () => {
    const rig = await stored();
    rig.put('s0', 2);
    rig.put('s1', 2);
    const { informer, end } = rig.life();
    const seen: string[] = [];
    informer.changes$.subscribe((set) => {
      seen.push(`${set.synced} ${contents(informer).join(' ')}`);
    });
    await rig.time.advance(1_000);
    expect(seen.filter((each) => each.startsWith('true'))).toEqual([
      'true shop/s0=2 shop/s1=2 shop/s2=1',
    ]);
    await end();
  });

  it('P3: is synced immediately if the server has not changed since', async () => {
    const rig = await stored();
    const { informer, end } = rig.life();
    informer.start();
    await rig.time.advance(0);
    await rig.time.advance(1);
    expect(informer.hasSynced).toBe(true);
    const watch = rig.server.requests.at(-1);
    expect(Number(watch?.query['timeoutSeconds'])).toBeGreaterThan(200);
    await end();
  });

  it('P4: drops the stored objects of a server that is older, and lists once', async () => {
    const rig = await stored();
    const backup = rig.server.objects.snapshot();
    rig.put('s0', 2);
    rig.put('s3', 1);
    await rig.once();
    rig.server.objects.restoreSnapshot(backup);
    const { informer, end } = rig.life();
    const sets: string[] = [];
    informer.changes$.subscribe(({ synced, deleted, updated }) => {
      if (synced) sets.push(`-${deleted.length} ~${updated.length}`);
    });
    await rig.time.advance(1_000);
    expect(sets).toEqual(['-1 ~1']);
    expect(contents(informer)).toEqual(['shop/s0=1', 'shop/s1=1', 'shop/s2=1']);
    expect(requestsOf(rig.server)).toEqual(['L1', 'S']);
    await end();
    expect(rig.store.only?.objects.size).toBe(3);
  });

  it('P5: turns an expired version into one list and one difference', async () => {
    const rig = await stored();
    rig.put('s0', 2);
    rig.delete('s1');
    rig.server.objects.compact();
    const { informer, end } = rig.life();
    const sets: string[] = [];
    informer.changes$.subscribe(({ synced, deleted, updated }) => {
      if (synced) sets.push(`-${deleted.length} ~${updated.length}`);
    });
    await rig.time.advance(5_000);
    expect(sets).toEqual(['-1 ~1']);
    expect(requestsOf(rig.server).slice(0, 3)).toEqual(['L1', expect.stringMatching(/^W/), 'S']);
    await end();
  });

  it.each([401, 403, 404])(
    'P6: removes the objects from the informer and from the store after a %i',
    async (code) => {
      const rig = await stored();
      rig.server.objects.advance(5);
      const { informer, end } = rig.life();
      const refusals = (['list', 'watch'] as const).map((use) =>
        rig.server.faults.failNext({ use }, { status: code, times: 99 }),
      );
      const sizes: number[] = [];
      informer.changes$.subscribe(() => sizes.push(informer.indexer.size));
      await rig.time.advance(10);
      expect(Math.max(...sizes)).toBe(3);
      expect(informer.indexer.size).toBe(0);
      expect(informer.hasSynced).toBe(false);
      expect(rig.store.only).toBeUndefined();
      // A later try lists as without a store.
      for (const refusal of refusals) refusal.heal();
      await rig.time.advance(5_000);
      expect(contents(informer)).toHaveLength(3);
      await end();
      expect(rig.store.only?.objects.size).toBe(3);
    },
  );

  it('P6: deletes what is stored if a request is refused later, and stores everything again after that', async () => {
    const rig = await stored();
    const { informer, end } = rig.life();
    informer.start();
    await rig.time.advance(1_000);
    rig.server.faults.failNext({ use: 'watch' }, { status: 403 });
    rig.server.faults.closeWatches();
    await rig.time.advance(100);
    expect(informer.status.blocked).toBe('forbidden');
    expect(rig.store.only).toBeUndefined();
    expect(informer.indexer.size).toBe(3);
    rig.put('s0', 5);
    await rig.time.advance(5_000);
    expect(rig.store.only?.objects.size).toBe(3);
    expect(rig.store.written.at(-1)).toMatchObject({ replaces: true });
    await end();
  });

  it('P7: is tried again after a failure of the network or of the server, with the objects still shown', async () => {
    const rig = await stored();
    rig.put('s0', 2);
    rig.delete('s1');
    for (let times = 0; times < 5; times++)
      rig.server.faults.failNext({ use: 'list' }, { status: 503 });
    const { informer, end } = rig.life();
    informer.start();
    await rig.time.advance(100);
    expect(informer.indexer.size).toBe(3);
    expect(informer.status).toMatchObject({ phase: 'backoff', stale: true });
    rig.server.faults.failNext({ use: 'watch' }, { status: 503 });
    await rig.time.advance(120_000);
    expect(contents(informer)).toEqual(['shop/s0=2', 'shop/s2=1']);
    expect(requestsOf(rig.server).filter((each) => each === 'L' || each === 'S')).toEqual([]);
    await end();
  });

  it('P8: lists if the server sends no bookmarks', async () => {
    const rig = await stored();
    rig.server.objects.advance(5);
    rig.server.faults.withoutBookmarks();
    const { informer, end } = rig.life({ informer: { initialList: 'pages' } });
    informer.start();
    await rig.time.advance(40_000);
    expect(informer.hasSynced).toBe(true);
    expect(requestsOf(rig.server).filter((each) => each === 'L')).toHaveLength(1);
    await end();
  });

  it.each([
    ['pages', 'L'],
    ['auto', 'S'],
  ] as const)(
    'P8: lists as initialList: %s says where a warm start is not possible',
    async (initialList, request) => {
      const rig = await stored();
      rig.put('s0', 2);
      rig.server.objects.compact();
      const { informer, end } = rig.life({ informer: { initialList } });
      informer.start();
      await rig.time.advance(2_000);
      expect(informer.hasSynced).toBe(true);
      const [, , list] = requestsOf(rig.server);
      expect(list).toBe(request);
      await end();
    },
  );

  it('P9: brings each of several scopes up to date on its own', async () => {
    const rig = persistRig();
    rig.put('a', 1, 'one');
    rig.put('b', 1, 'two');
    const scopes = [{ namespace: 'one' }, { namespace: 'two' }];
    await rig.once({ scopes });
    rig.put('a', 2, 'one');
    rig.server.objects.compact();
    rig.put('b', 2, 'two');
    const { informer, end } = rig.life({ scopes });
    informer.start();
    await rig.time.advance(8_000);
    expect(informer.hasSynced).toBe(true);
    expect(contents(informer)).toEqual(['one/a=2', 'two/b=2']);
    expect(rig.store.collections.size).toBe(2);
    await end();
  });

  it('P10: loads nothing into an informer that still has the objects of an earlier run', async () => {
    const rig = await stored();
    const { informer, end } = rig.life();
    informer.start();
    await rig.time.advance(1_000);
    await informer.stop();
    rig.put('s0', 2);
    rig.delete('s2');
    const seen: string[] = [];
    informer.changes$.subscribe(({ reset, changes }) => {
      if (!reset) seen.push(...changes.map(({ key }) => key));
    });
    await rig.time.advance(8_000);
    expect(seen.sort()).toEqual(['shop/s0', 'shop/s2']);
    expect(contents(informer)).toEqual(['shop/s0=2', 'shop/s1=1']);
    await end();
    expect([...(rig.store.only?.objects.keys() ?? [])]).toEqual(['shop/s0', 'shop/s1']);
  });
});
