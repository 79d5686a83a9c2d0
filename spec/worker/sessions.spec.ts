/**
 * Tests sign-ins, sign-outs and credentials at bad moments: while there is no worker, within a notification, after the worker has ended. And
 * the stores on disk of sessions.
 */

import { liveQuery, snapshotsIn } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { describe, expect, it } from 'vitest';
import { MemoryStore } from '../persist/memory-store.ts';
import { BrowserRig, follow } from './browser-rig.ts';
import { names, rigWith } from './rig-pods.ts';

describe('sessions at bad moments', () => {
  it('B5: a tab of a worker that has ended does not end the session of another user in the next one', async () => {
    const rig = rigWith('a');
    const ann = rig.open();
    const hers = follow(ann.cluster, names);
    await rig.pass(1_000);
    ann.turn('left');
    rig.kill();
    const bob = rig.open({ identity: 'bob' });
    const his = follow(bob.cluster, names);
    await rig.pass(5_000);
    ann.turn('shown');
    await rig.pass(5_000);
    expect([bob.cluster.connection.phase, his.shown.synced]).toEqual(['open', true]);
    expect([ann.cluster.connection.phase, hers.shown.rows]).toEqual(['signed-out', []]);
  });

  it('B5: of two users who return from a worker that has ended, the last one stays', async () => {
    const rig = rigWith('a');
    const ann = rig.open();
    const hers = follow(ann.cluster, names);
    await rig.pass(1_000);
    ann.turn('left');
    const bob = rig.open({ identity: 'bob' });
    const his = follow(bob.cluster, names);
    await rig.pass(1_000);
    bob.turn('left');
    rig.kill();
    ann.turn('shown');
    await rig.pass(1_000);
    bob.turn('shown');
    await rig.pass(5_000);
    expect([bob.cluster.connection.phase, his.shown.rows.length]).toEqual(['open', 1]);
    expect([ann.cluster.connection.phase, hers.shown.rows]).toEqual(['signed-out', []]);
  });

  it.each([
    ['while it is told so', 0],
    ['a minute later', 60_000],
  ])(
    'B5: a tab that was signed out by another user and signs out itself, %s, does not sign out that user',
    async (_, laterMs) => {
      const rig = rigWith('a');
      const ann = rig.open();
      follow(ann.cluster, names);
      await rig.pass(1_000);
      if (laterMs === 0) {
        ann.cluster.connection$.subscribe(({ phase }) => {
          if (phase === 'signed-out') ann.cluster.signedOut();
        });
      }
      const bob = rig.open({ identity: 'bob' });
      const his = follow(bob.cluster, names);
      await rig.pass(5_000 + laterMs);
      ann.cluster.signedOut();
      await rig.pass(5_000);
      expect([ann.cluster.connection.phase, bob.cluster.connection.phase]).toEqual([
        'signed-out',
        'open',
      ]);
      expect(his.shown.rows).toHaveLength(1);
    },
  );

  it('B5: a sign-out while there is no worker holds, although another user signs in and out before one answers', async () => {
    const rig = rigWith('a');
    const [signing, other] = [rig.open(), rig.open()];
    const shown = follow(other.cluster, names);
    await rig.pass(1_000);
    rig.isUnavailable = true;
    rig.kill();
    await rig.pass(500);
    signing.cluster.signedOut();
    signing.cluster.signedIn('bob');
    signing.cluster.signedOut();
    rig.isUnavailable = false;
    await rig.pass(30_000);
    expect([other.cluster.connection.phase, shown.shown.rows]).toEqual(['signed-out', []]);
  });

  it.each([true, false])(
    'B5: a page that was left frozen does not bring a user back who signed out before the worker ended, Web Locks: %s',
    async (hasLocks) => {
      const rig = rigWith('a');
      rig.hasLocks = hasLocks;
      const [frozen, signing] = [rig.open(), rig.open()];
      const shown = [frozen, signing].map(({ cluster }) => follow(cluster, names));
      await rig.pass(1_000);
      frozen.freeze();
      signing.cluster.signedOut();
      await rig.pass(5);
      rig.kill();
      frozen.turn('left');
      frozen.thaw();
      await rig.pass(90_000);
      expect([frozen, signing].map(({ cluster }) => cluster.connection.phase)).toEqual([
        'signed-out',
        'signed-out',
      ]);
      expect(shown.map((each) => each.shown.rows)).toEqual([[], []]);
      frozen.cluster.signedIn('ann');
      await rig.pass(5_000);
      expect(shown.map((each) => each.shown.rows.length)).toEqual([1, 0]);
    },
  );

  it.each([0, 1, 2])(
    'B5: a tab that was signed out does not end a later session of the user, said first, second or last: %s',
    async (place) => {
      const rig = rigWith('a');
      const [away, knows, again] = [rig.open(), rig.open(), rig.open()];
      const shown = follow(again.cluster, names);
      await rig.pass(1_000);
      away.turn('left');
      knows.cluster.signedOut();
      await rig.pass(1_000);
      again.cluster.signedIn('ann');
      await rig.pass(1_000);
      for (const tab of [knows, again]) tab.turn('left');
      rig.kill();
      const order = [away, again];
      order.splice(place, 0, knows);
      for (const tab of order) {
        tab.turn('shown');
        await rig.pass(1_000);
      }
      expect([again.cluster.connection.phase, shown.shown.rows.length]).toEqual(['open', 1]);
      expect(knows.cluster.connection.phase).toBe('signed-out');
    },
  );

  it('B5: a sign-in within the notification of the sign-out holds', async () => {
    const rig = rigWith('a');
    const { cluster } = rig.open();
    const tab = follow(cluster, names);
    await rig.pass(1_000);
    let signsIn = true;
    tab.view.subscribe(() => {
      if (!signsIn || cluster.connection.phase !== 'signed-out') return;
      signsIn = false;
      cluster.signedIn('bob');
    });
    cluster.signedOut();
    await rig.pass(5_000);
    expect([cluster.connection.phase, tab.shown.rows.length]).toEqual(['open', 1]);
    expect(rig.sessions.map(({ identity }) => identity)).toEqual(['ann', 'bob']);
  });

  it('B5: a page that is signed out when it returns stays on its host, and is not told to reload', async () => {
    const rig = rigWith('a');
    let dedicated = 0;
    const other = new BrowserRig();
    const ann = rig.open({
      dedicated: () => {
        dedicated++;
        return other.dedicated();
      },
    });
    follow(ann.cluster, names);
    await rig.pass(1_000);
    ann.turn('left');
    rig.open({ identity: 'bob' });
    await rig.pass(1_000);
    ann.turn('shown');
    const phases = new Set<string>();
    ann.cluster.connection$.subscribe(({ phase }) => phases.add(phase));
    await rig.pass(60_000);
    expect([...phases]).toEqual(['left', 'signed-out']);
    expect(dedicated).toBe(0);
  });

  it('B6: a request without any tab does not end the use of credentials', async () => {
    const rig = rigWith('a');
    rig.isTokenRequired = true;
    const tab = rig.open({ credentials: () => ({ authorization: `Bearer ${rig.token}` }) });
    const shown = follow(tab.cluster, names);
    await rig.pass(1_000);
    tab.turn('left');
    await rig.pass(100);
    rig.token = 't2';
    rig.server.faults.closeWatches();
    await rig.pass(5_000);
    tab.turn('shown');
    await rig.pass(60_000);
    expect([shown.shown.status.live, shown.shown.status.error]).toEqual([true, undefined]);
  });

  it('B6: credentials that cannot be sent are an error at once, and the next tab is asked', async () => {
    const rig = rigWith('a');
    rig.isTokenRequired = true;
    const wrong = rig.open({
      credentials: () => new Headers({ authorization: 'Bearer t1' }) as never,
    });
    const tab = follow(wrong.cluster, names);
    await rig.pass(1_000);
    expect(String(tab.shown.status.error?.cause)).toMatch(/DataCloneError/);
    rig.open({ credentials: () => ({ authorization: 'Bearer t1' }) });
    await rig.pass(30_000);
    expect(tab.shown.rows).toHaveLength(1);
    expect(wrong.asked()).toBeGreaterThan(1);
  });

  it.each(['Bearer secret\ntoken', 'Bearer secret\u0100', 7, undefined])(
    'B6: a value that no header may have is refused without naming it: %j',
    async (authorization) => {
      const rig = rigWith('a');
      const { cluster } = rig.open({ credentials: () => ({ authorization }) as never });
      const tab = follow(cluster, names);
      await rig.pass(3_000);
      const { error } = tab.shown.status;
      expect(error?.reason).toBe('Credentials');
      expect(String(error?.cause)).toMatch(/"authorization" is not the value of a header/);
      const leaks = rig.sent.filter((message) => JSON.stringify(message).includes('secret'));
      expect(new Set(leaks.map((message) => (message as { type: string }).type)).size).toBe(
        String(authorization).includes('secret') ? 1 : 0,
      );
    },
  );
});

describe('a worker with a store on disk', () => {
  const names = liveQuery({ from: pods, select: { name: 'metadata.name' } });

  function rigWith(store: MemoryStore): BrowserRig {
    const rig = new BrowserRig();
    rig.server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web' } });
    rig.persist = ({ identity }) =>
      snapshotsIn(store, { identity, kinds: [pods], env: 'left-out' });
    return rig;
  }

  it('B5: passes it to the factory, and starts from it when it has been killed', async () => {
    const store = new MemoryStore();
    const rig = rigWith(store);
    const tab = follow(rig.open().cluster, names);
    await rig.pass(5_000);
    expect(store.only?.objects.size).toBe(1);
    rig.kill();
    const before = rig.requests.length;
    await rig.pass(5_000);
    expect(tab.shown).toMatchObject({ synced: true, rows: [{ name: 'web' }] });
    const lists = rig.requests.slice(before).filter((each) => each === 'GET /api/v1/pods');
    expect(lists).toHaveLength(1);
  });

  it.each<[string, (rig: BrowserRig, tab: ReturnType<BrowserRig['open']>) => void]>([
    ['signs out', (_rig, tab) => tab.cluster.signedOut()],
    ['is followed by another one', (rig) => rig.open({ identity: 'bob' })],
  ])(
    'B5: deletes what was stored for a user who %s, and stores no more of it',
    async (_what, act) => {
      const store = new MemoryStore();
      const rig = rigWith(store);
      const tab = rig.open();
      follow(tab.cluster, names);
      await rig.pass(5_000);
      expect(store.only?.head).toContain('"ann"');
      // A change is due when the session ends.
      rig.server.objects.create(pods, { metadata: { namespace: 'shop', name: 'late' } });
      await rig.pass(100);
      act(rig, tab);
      await rig.pass(10_000);
      expect([store.collections.size, store.closed]).toEqual([0, true]);
    },
  );

  it('B5: deletes it also if no query was asked in this worker', async () => {
    const store = new MemoryStore();
    const rig = rigWith(store);
    const former = rig.open();
    follow(former.cluster, names);
    await rig.pass(5_000);
    former.cluster.close();
    rig.kill();
    expect(store.collections.size).toBe(1);
    const { cluster } = rig.open();
    await rig.pass(100);
    cluster.signedOut();
    await rig.pass(5_000);
    expect(store.collections.size).toBe(0);
  });

  describe('under a factory with a transform', () => {
    function transformed(transformVersion: string | undefined): BrowserRig {
      const store = new MemoryStore();
      const rig = rigWith(store);
      rig.factoryOptions = () => ({
        transform: ({ metadata, ...object }) => ({
          ...object,
          metadata: { ...metadata, labels: { transformed: 'yes' } },
        }),
      });
      const options = { kinds: [pods], env: 'left-out', transformVersion } as const;
      rig.persist = ({ identity }) => snapshotsIn(store, { identity, ...options });
      return rig;
    }
    const labels = liveQuery({ from: pods, select: { of: 'metadata.labels' } });
    const rows = [{ of: { transformed: 'yes' } }];

    it('P19: follows the server after it has shown what was stored, if the transform has a version', async () => {
      const rig = transformed('1');
      const tab = follow(rig.open().cluster, labels);
      await rig.pass(5_000);
      expect(tab.shown).toMatchObject({ rows, status: { live: true } });
      rig.kill();
      await rig.pass(15_000);
      expect(tab.shown).toMatchObject({ rows, status: { live: true } });
      rig.server.objects.create(pods, { metadata: { namespace: 'shop', name: 'later' } });
      await rig.pass(5_000);
      expect(tab.shown).toMatchObject({ rows: [...rows, ...rows] });
    });

    it('P19: tells the tabs what is missing if the transform has none', async () => {
      const rig = transformed(undefined);
      const tab = follow(rig.open().cluster, labels);
      await rig.pass(5_000);
      expect(tab.shown).toMatchObject({ rows: [], status: { live: false, phase: 'stopped' } });
      expect(tab.shown.status.error?.message).toMatch(/persist needs a transformVersion/);
    });
  });
});
