/** Tests the stores on disk of a worker's sessions. */
import { liveQuery, snapshotsIn } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { describe, expect, it } from 'vitest';
import { MemoryStore } from '../persist/memory-store.ts';
import { BrowserRig, follow } from './browser-rig.ts';

const names = liveQuery({ from: pods, select: { name: 'metadata.name' } });

function rigWith(store: MemoryStore): BrowserRig {
  const rig = new BrowserRig();
  rig.server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web' } });
  rig.persist = ({ identity }) => snapshotsIn(store, { identity, kinds: [pods], env: 'left-out' });
  return rig;
}

describe('a worker with a store on disk', () => {
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
      expect(store.collections.size).toBe(0);
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
