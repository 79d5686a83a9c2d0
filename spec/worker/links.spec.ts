/** Tests the link of a tab to its worker at bad moments: a slow start, an error of a running worker, a freeze, a close in a callback. */

import { pods } from 'rx-informer/resources';
import { describe, expect, it } from 'vitest';
import { PROTOCOL } from '../../lib/worker/messages.ts';
import { type BrowserRig, follow } from './browser-rig.ts';
import { names, podOf, rigWith } from './rig-pods.ts';

describe('a link at bad moments', () => {
  it('B10: a worker of the page that loads slowly is waited for longer with each try', async () => {
    const rig = rigWith('a');
    const { cluster } = rig.open({
      shared: undefined,
      dedicated: () => rig.dedicated(false, 12_000),
    });
    const tab = follow(cluster, names);
    await rig.pass(60_000);
    expect([cluster.connection.phase, tab.shown.synced]).toEqual(['open', true]);
  });

  it('B10: an error of the code of a worker that has answered does not end it', async () => {
    const rig = rigWith('a');
    const made: ReturnType<BrowserRig['dedicated']>[] = [];
    const dedicated = () => {
      const worker = rig.dedicated();
      made.push(worker);
      return worker;
    };
    const { cluster } = rig.open({ shared: undefined, dedicated });
    const tab = follow(cluster, names);
    await rig.pass(1_000);
    made[0]?.onerror?.({ message: 'Uncaught Error: in a timer' } as never);
    rig.server.objects.create(pods, podOf('b'));
    await rig.pass(1_000);
    expect([made.length, cluster.connection.phase, tab.shown.rows.length]).toEqual([1, 'open', 2]);
  });

  it('B20: a message of the worker that cannot be read is an error of the connection, and the tab connects again', async () => {
    const rig = rigWith('a');
    const made: ReturnType<BrowserRig['dedicated']>[] = [];
    const dedicated = () => {
      const worker = rig.dedicated();
      made.push(worker);
      return worker;
    };
    const { cluster } = rig.open({ shared: undefined, dedicated });
    const tab = follow(cluster, names);
    await rig.pass(1_000);
    const phases: string[] = [];
    cluster.connection$.subscribe(({ phase, error }) =>
      phases.push(`${phase} ${error?.message ?? ''}`),
    );
    (made[0] as { onmessageerror?: () => void }).onmessageerror?.();
    rig.server.objects.create(pods, podOf('b'));
    await rig.pass(1_000);
    expect(phases).toContainEqual(
      expect.stringMatching(/^lost a message of the worker cannot be read \(messageerror\)/),
    );
    expect([made.length, cluster.connection.phase, tab.shown.rows.length]).toEqual([2, 'open', 2]);
    expect([rig.counts.tabs, tab.shown.stale]).toEqual([1, undefined]);
  });

  it.each(['left', 'closed'])(
    'B9: the watches end when the only shown tab has %s and a hidden one stays, and begin again when that is shown',
    async (how) => {
      const rig = rigWith('a');
      const hidden = rig.open({ hidden: true });
      const tab = follow(hidden.cluster, names);
      const shown = rig.open();
      follow(shown.cluster, names);
      await rig.pass(1_000);
      expect(rig.server.openWatches.length).toBe(1);
      if (how === 'left') shown.turn('left');
      else shown.cluster.close();
      await rig.pass(300_000);
      expect([rig.counts.tabs, rig.server.openWatches.length]).toEqual([1, 0]);
      rig.server.objects.create(pods, podOf('b'));
      hidden.turn('shown');
      await rig.pass(1_000);
      expect([tab.shown.rows.length, rig.server.openWatches.length]).toEqual([2, 1]);
    },
  );

  it('B10: a worker that cannot be started is tried again after 0, 0.2, 1 and 5 s, and then every 15 s without an end', async () => {
    const rig = rigWith('a');
    const tries: number[] = [];
    const dedicated = () => {
      tries.push(rig.scheduler.now());
      throw new Error('blocked by the policy of the page');
    };
    const { cluster } = rig.open({ shared: undefined, dedicated });
    follow(cluster, names);
    await rig.pass(100_000);
    const waits = tries.slice(1).map((ms, at) => ms - (tries[at] as number));
    expect(waits).toEqual([0, 200, 1_000, 5_000, ...Array(waits.length - 4).fill(15_000)]);
    expect(waits.length).toBe(10);
  });

  it('B8: a tab that was left, and is shown again, can be hidden as before', async () => {
    const rig = rigWith('a');
    const tab = rig.open();
    follow(tab.cluster, names);
    await rig.pass(1_000);
    const hidden: unknown[] = [];
    for (const change of ['left', 'shown', 'hidden', 'shown'] as const) {
      tab.turn(change);
      await rig.pass(1_000);
      hidden.push([...rig.served.tabs].map(({ isHidden }) => isHidden));
    }
    expect(hidden).toEqual([[], [false], [true], [false]]);
  });

  it('B8: a host that has answered too late leaves no tab behind in the worker', async () => {
    const rig = rigWith('a');
    rig.delayMs = 3_000;
    follow(rig.open().cluster, names);
    await rig.pass(5_500);
    rig.delayMs = 1;
    await rig.pass(10_000);
    expect(rig.counts).toEqual({ tabs: 1, pipelines: 1 });
  });

  it('B7: rows that a page has received while it was hidden have an age, also if it was never heard while it was shown', async () => {
    const rig = rigWith('a');
    const tab = rig.open();
    tab.freeze();
    await rig.pass(5);
    const { view } = follow(tab.cluster, names);
    tab.thaw();
    tab.turn('hidden');
    await rig.pass(5);
    tab.turn('left');
    const { rows, stale, status } = view.getSnapshot();
    expect([rows.length, stale]).toEqual([1, true]);
    expect(status.staleSinceMs).toBeLessThanOrEqual(rig.scheduler.now());
  });

  it('B8: the acknowledgement of a set that was sent before the last hello of a tab is none of a later set', async () => {
    const rig = rigWith('a');
    const tab = rig.open();
    await rig.pass(1_000);
    tab.freeze();
    await rig.pass(90_000);
    // The worker has forgotten the tab, and says so. Then it welcomes it, and checks whether it lives.
    tab.turn('shown');
    tab.cluster.signedIn('bob');
    await rig.pass(25_000);
    const { view } = follow(tab.cluster, names);
    await rig.pass(5_000);
    rig.server.objects.create(pods, podOf('b'));
    await rig.pass(5);
    tab.thaw();
    await rig.pass(5_000);
    expect(view.getSnapshot().rows).toHaveLength(2);
    expect(rig.mostUnacknowledged).toBe(1);
  });

  it('B8: the acknowledgement of a set is none of those of other queries', async () => {
    const rig = rigWith('a');
    const { post, received } = rig.connectRaw();
    post({
      type: 'hello',
      protocol: PROTOCOL,
      identity: 'ann',
      isHidden: false,
      hasCredentials: false,
    });
    await rig.pass(10);
    const { incarnation, epoch } = received[0] as { incarnation: string; epoch: number };
    const of = { incarnation, epoch };
    const sets = () =>
      received.flatMap((message) => {
        const {
          type,
          set,
          differences = [],
        } = message as {
          readonly type: string;
          readonly set: number;
          readonly differences?: readonly { readonly id: number }[];
        };
        return type === 'rows' ? [{ set, ids: differences.map(({ id }) => id) }] : [];
      });
    for (const id of [1, 2]) {
      post({ type: 'open', id, query: JSON.parse(JSON.stringify({ ...names, limit: id })), ...of });
      await rig.pass(10);
    }
    expect(sets().map(({ ids }) => ids)).toEqual([[1], [2]]);
    await rig.pass(1_000);
    rig.server.objects.create(pods, podOf('a0'));
    await rig.pass(1_000);
    const [first] = sets();
    post({ type: 'ack', set: first?.set, ...of });
    await rig.pass(1_000);
    expect(sets().map(({ ids }) => ids)).toEqual([[1], [2], [1]]);
  });

  it('B8: a tab that was forgotten keeps its rows, stale, until the answer is complete again', async () => {
    const rig = rigWith('a');
    const tab = rig.open();
    const shown = follow(tab.cluster, names);
    await rig.pass(1_000);
    const [row] = shown.shown.rows;
    tab.freeze();
    // The pipeline and the informer have ended.
    await rig.pass(900_000);
    rig.server.faults.delay(3_000);
    const { length } = rig.sent;
    tab.thaw();
    await rig.pass(100);
    expect(shown.shown).toMatchObject({ stale: true, synced: false });
    expect(shown.shown.rows).toEqual([row]);
    await rig.pass(5_000);
    expect([shown.shown.stale, shown.shown.synced]).toEqual([undefined, true]);
    expect(shown.shown.rows[0]).toBe(row);
    const types = rig.sent.slice(length).map((message) => (message as { type: string }).type);
    expect(types.filter((type) => type === 'open')).toHaveLength(1);
  });

  it.each(['a subscriber of the connection', 'a subscriber of a view'])(
    'B7: a cluster that %s closes stays closed',
    async (who) => {
      const rig = rigWith('a');
      const { cluster } = rig.open();
      const { view } = follow(cluster, names);
      await rig.pass(1_000);
      const close = () => {
        if (cluster.connection.phase === 'lost') cluster.close();
      };
      if (who.endsWith('view')) view.subscribe(close);
      else cluster.connection$.subscribe(close);
      rig.kill();
      await rig.pass(20_000);
      expect([rig.starts, cluster.connection.phase]).toEqual([1, 'left']);
    },
  );
});
