/** Tests warm starts: what is requested, when objects are shown, and when they are confirmed. */
import { describe, expect, it } from 'vitest';
import { contents, persistRig, type Rig, requestsOf } from './rig.ts';

async function stored(objects = 3) {
  const rig = persistRig();
  for (let at = 0; at < objects; at++) rig.put(`s${at}`, 1);
  await rig.once();
  return rig;
}

/** A life that has started warm from three stored objects, and has followed the server for five seconds. */
async function followed() {
  const rig = await stored();
  const life = rig.life();
  life.informer.start();
  await rig.time.advance(5_000);
  return { rig, ...life };
}

/** Ends the watches, and lets the server refuse every list and watch, or those of a namespace, until the faults are healed. */
async function refuseAll({ server, time }: Rig, namespace?: string) {
  const refusals = (['list', 'watch'] as const).map((use) =>
    server.faults.failNext({ use, ...(namespace && { namespace }) }, { status: 403, times: 999 }),
  );
  server.faults.closeWatches();
  await time.advance(100);
  return refusals;
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

  it('P6: stores nothing while requests are refused, also if a change was due, and after a failure of another kind', async () => {
    const { rig, informer, end } = await followed();
    rig.put('s0', 2);
    await rig.time.advance(500);
    const refusals = await refuseAll(rig);
    expect(informer.status.blocked).toBe('forbidden');
    const before = rig.store.written.length;
    await rig.time.advance(60_000);
    for (const refusal of refusals) refusal.heal();
    // A failure of the server says nothing about the permission.
    const outage = rig.server.faults.refuse();
    await rig.time.advance(120_000);
    expect(informer.status.blocked).toBeUndefined();
    expect(rig.store.only).toBeUndefined();
    expect(rig.store.written.length).toBe(before);
    outage.heal();
    await rig.time.advance(120_000);
    expect(rig.store.only?.objects.size).toBe(3);
    await end();
  });

  it('P6: stores everything again when the watch is answered again, without a change', async () => {
    const { rig, end } = await followed();
    rig.server.faults.failNext({ use: 'watch' }, { status: 403 });
    rig.server.faults.closeWatches();
    await rig.time.advance(100);
    expect(rig.store.only).toBeUndefined();
    rig.server.faults.withoutBookmarks();
    rig.server.clearRequests();
    await rig.time.advance(5_000);
    expect(requestsOf(rig.server)).toEqual([expect.stringMatching(/^W/)]);
    expect(rig.store.only?.objects.size).toBe(3);
    await end();
  });

  it('P6: the end of a run writes nothing that is refused', async () => {
    const { rig, informer, end } = await followed();
    rig.put('s0', 2);
    await rig.time.advance(500);
    await refuseAll(rig);
    expect(informer.status.blocked).toBe('forbidden');
    await end();
    expect(rig.store.only).toBeUndefined();
  });

  it('P6: deletes what is stored also if the store has asked for a complete collection', async () => {
    const { rig, end } = await followed();
    rig.store.answer = 'rewrite';
    rig.put('s0', 2);
    await rig.time.advance(2_000);
    expect(rig.store.only?.objects.size).toBe(3);
    await refuseAll(rig);
    expect(rig.store.only).toBeUndefined();
    await end();
    expect(rig.store.only).toBeUndefined();
  });

  it('P6, P9: the changes of another scope store nothing that is refused', async () => {
    const rig = persistRig();
    rig.put('a', 1, 'one');
    rig.put('b', 1, 'two');
    const { informer, end } = rig.life({ scopes: [{ namespace: 'one' }, { namespace: 'two' }] });
    informer.start();
    await rig.time.advance(5_000);
    expect(rig.store.collections.size).toBe(2);
    for (const [name, namespace] of [
      ['a', 'one'],
      ['b', 'two'],
    ] as const) {
      rig.put(name, 2, namespace);
      await rig.time.advance(1_500);
      expect(rig.store.written.at(-1)?.keys).toEqual([`${namespace}/${name}`]);
    }
    await refuseAll(rig, 'two');
    const before = rig.store.written.length;
    for (let revision = 3; revision < 11; revision++) {
      rig.put('a', revision, 'one');
      await rig.time.advance(1_500);
      expect([...rig.store.collections.keys()]).toEqual([expect.stringContaining('/one/')]);
    }
    expect(rig.store.written.slice(before).map(({ keys }) => keys)).toEqual(
      Array.from({ length: 8 }, () => ['one/a']),
    );
    await end();
    expect([...rig.store.collections.keys()]).toEqual([expect.stringContaining('/one/')]);
  });

  it.each([0, 1])(
    'P8: lists if the server sends no bookmarks, after %i changes',
    async (changes) => {
      const rig = await stored();
      for (let at = 0; at < changes; at++) rig.put('s0', 2);
      rig.server.objects.advance(5);
      rig.server.faults.withoutBookmarks();
      const { informer, end } = rig.life({ informer: { initialList: 'pages' } });
      informer.start();
      await rig.time.advance(70_000);
      expect(informer.hasSynced).toBe(true);
      expect(requestsOf(rig.server).filter((each) => each === 'L')).toHaveLength(1);
      await end();
    },
  );

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

  it('P2, P9: the changes of one scope write nothing of another one, which may be out of date', async () => {
    const rig = persistRig();
    rig.put('a', 1, 'one');
    rig.put('b', 1, 'two');
    const scopes = [{ namespace: 'one' }, { namespace: 'two' }];
    const { informer, crash } = rig.life({ scopes });
    informer.start();
    await rig.time.advance(5_000);
    const outage = rig.server.faults.refuse({ namespace: 'two' });
    rig.server.faults.closeWatches();
    const lostMs = rig.time.now();
    for (let revision = 2; revision < 60; revision++) {
      rig.put('a', revision, 'one');
      await rig.time.advance(2_000);
    }
    crash();
    const next = rig.life({ scopes: [{ namespace: 'two' }] });
    next.informer.start();
    await rig.time.advance(1_000);
    expect(contents(next.informer)).toEqual(['two/b=1']);
    expect(next.informer.status.staleSinceMs).toBeLessThanOrEqual(lostMs);
    outage.heal();
    await next.end();
  });

  it('I8: loads nothing into an informer that still has the objects of an earlier run', async () => {
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
