/** Tests pages that show the rows of the former page first, with a database in memory. */
import { liveQuery } from 'rx-informer';
import { pods, secrets } from 'rx-informer/resources';
import { type ConnectPaintedWorkerOptions, connectPaintedWorker } from 'rx-informer/worker';
import { describe, expect, it } from 'vitest';
import { Ownership } from '../../lib/persist/indexed-db/ownership.ts';
import { Windows } from '../../lib/persist/indexed-db/windows.ts';
import { FakeBrowser } from '../persist/fake-browser.ts';
import { BrowserRig, follow, type RigTab } from './browser-rig.ts';

const names = liveQuery({
  from: pods,
  select: { name: 'metadata.name', image: 'spec.containers' },
  orderBy: { path: 'metadata.name' },
});
const paint = { kinds: [pods], env: 'left-out' } as const;
const podOf = (name: string) => ({
  metadata: { namespace: 'shop', name },
  spec: { containers: [{ name: 'main', env: [{ name: 'PASSWORD', value: 'hunter2' }] }] },
});

class PaintRig extends BrowserRig {
  readonly disk = new FakeBrowser(() => 0.5);
  paint: ConnectPaintedWorkerOptions['paint'] = paint;

  constructor(...pod: string[]) {
    super();
    for (const name of pod) this.server.objects.create(pods, podOf(name));
  }

  /** A page with a database of its browser. */
  page(identity: string | undefined = 'ann') {
    return this.open({ identity, painted: { paint: this.paint, scope: this.disk.client().scope } });
  }

  /** Lets the time of the page pass, and the database work. */
  override async pass(ms: number): Promise<void> {
    for (let part = 0; part < 5; part++) {
      await super.pass(ms / 5);
      for (let turn = 0; turn < 60; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Leaves the former page, and opens one in which no worker answers. */
  async painted(former: RigTab) {
    former.turn('left');
    await this.pass(100);
    this.kill();
    this.isUnavailable = true;
    const tab = follow(this.page().cluster, names);
    await this.pass(100);
    return tab;
  }

  /** Shows the rows in a page until they are stored, and closes the page and the worker. */
  async former(query: Parameters<typeof follow>[1] = names): Promise<void> {
    const { cluster } = this.page();
    follow(cluster, query);
    await this.pass(3_000);
    cluster.close();
    this.kill();
  }

  get stored(): [unknown, unknown][] {
    const database = this.disk.databases.get('rx-informer:rx-informer/windows');
    return (database?.stores.get('windows') ?? []) as [unknown, unknown][];
  }
}

const shownIn = ({ shown }: ReturnType<typeof follow>) =>
  shown.rows.map((row) => (row as { name: string }).name);

/** Ends the watches, and lets the server refuse every later list and watch until the faults are healed. */
function refuseAll({ server }: PaintRig) {
  const refusals = (['list', 'watch'] as const).map((use) =>
    server.faults.failNext({ use }, { status: 403, times: 999 }),
  );
  server.faults.closeWatches();
  return refusals;
}

describe('a painted page', () => {
  it('B15: shows the rows of the former page as stale until the worker has answered', async () => {
    const rig = new PaintRig('a', 'b');
    await rig.former();
    rig.server.objects.create(pods, podOf('c'));
    rig.isUnavailable = true;
    const tab = follow(rig.page().cluster, names);
    expect(tab.shown.rows).toEqual([]);
    await rig.pass(10);
    expect(shownIn(tab)).toEqual(['a', 'b']);
    expect(tab.shown).toMatchObject({ total: 2, stale: true, synced: false });
    const { rows } = tab.shown;
    rig.isUnavailable = false;
    await rig.pass(3_000);
    expect(shownIn(tab)).toEqual(['a', 'b', 'c']);
    expect(tab.shown).toMatchObject({ total: 3, synced: true });
    expect(tab.shown.stale).toBeUndefined();
    // The values of variables were not stored.
    expect((rows[0] as { image: object }).image).toEqual([
      { name: 'main', env: [{ name: 'PASSWORD' }] },
    ]);
  });

  it('B15: keeps rows that have not changed as the same objects, and says how old they are', async () => {
    const plain = liveQuery({ from: pods, select: { name: 'metadata.name' } });
    const rig = new PaintRig('a', 'b');
    await rig.former(plain);
    const before = rig.scheduler.now();
    const tab = follow(rig.page().cluster, plain);
    rig.delayMs = 500;
    await rig.pass(50);
    expect(shownIn(tab)).toEqual(['a', 'b']);
    expect(tab.shown.stale).toBe(true);
    expect(tab.shown.status.staleSinceMs).toBeLessThanOrEqual(before);
    const { rows } = tab.shown;
    await rig.pass(5_000);
    expect(tab.shown.synced).toBe(true);
    expect(tab.shown.rows.map((row, at) => row === rows[at])).toEqual([true, true]);
  });

  it('B15: the rows keep their age while the worker cannot be started, and while the server does not answer it', async () => {
    const rig = new PaintRig('a');
    await rig.former();
    const before = rig.scheduler.now();
    await rig.pass(60_000);
    rig.isUnavailable = true;
    const outage = rig.server.faults.refuse();
    const tab = follow(rig.page().cluster, names);
    const ages = new Set<number | undefined>();
    tab.view.subscribe(() => {
      if (tab.shown.stale === true) ages.add(tab.shown.status.staleSinceMs);
    });
    await rig.pass(5_000);
    rig.isUnavailable = false;
    await rig.pass(20_000);
    expect(tab.shown).toMatchObject({ stale: true, status: { phase: 'backoff' } });
    expect(ages.size).toBe(1);
    expect([...ages][0]).toBeLessThanOrEqual(before);
    outage.heal();
    await rig.pass(60_000);
    expect(tab.shown).toMatchObject({ synced: true, status: { live: true } });
    expect(tab.shown.status.staleSinceMs).toBeUndefined();
  });

  it('B15: the rows of a quiet page are as old as its end', async () => {
    const rig = new PaintRig('a');
    const former = rig.page();
    follow(former.cluster, names);
    await rig.pass(3_000);
    await rig.pass(3 * 3_600_000);
    const leftMs = rig.scheduler.now();
    const tab = await rig.painted(former);
    expect(shownIn(tab)).toEqual(['a']);
    // The worker was last heard at most 20 s before.
    expect(tab.shown.status.staleSinceMs).toBeGreaterThan(leftMs - 21_000);
    expect(tab.shown.status.staleSinceMs).toBeLessThanOrEqual(leftMs);
  });

  it('B15: rows that were out of date when the page was left keep their age', async () => {
    const rig = new PaintRig('a');
    const former = rig.page();
    const before = follow(former.cluster, names);
    await rig.pass(3_000);
    rig.server.faults.refuse();
    await rig.pass(3_600_000);
    const { staleSinceMs } = before.shown.status;
    expect(staleSinceMs).toBeLessThan(60_000);
    const tab = await rig.painted(former);
    expect(tab.shown.status.staleSinceMs).toBe(staleSinceMs);
  });

  it('B16: a sign-out of a page that has closed the connection deletes the rows, too', async () => {
    const rig = new PaintRig('a');
    const { cluster } = rig.page();
    follow(cluster, names);
    await rig.pass(3_000);
    expect(rig.stored).toHaveLength(2);
    const open = () => [...rig.disk.databases.values()].map((each) => each.connections.size);
    expect(open()).toContain(1);
    cluster.close();
    await rig.pass(100);
    expect(new Set(open())).toEqual(new Set([0]));
    cluster.signedOut();
    await rig.pass(1_000);
    expect([rig.stored, new Set(open())]).toEqual([[], new Set([0])]);
  });

  it('B15: the rows keep their age if the query is asked again before the worker has answered', async () => {
    const rig = new PaintRig('a');
    await rig.former();
    const before = rig.scheduler.now();
    await rig.pass(60_000);
    rig.isUnavailable = true;
    const { cluster } = rig.page();
    const first = follow(cluster, names);
    await rig.pass(100);
    first.leave();
    const tab = follow(cluster, names);
    expect(shownIn(tab)).toEqual(['a']);
    expect(tab.shown.status.staleSinceMs).toBeLessThanOrEqual(before);
  });

  it('B16: stores only kinds and names that are listed, and no fields that are never stored', async () => {
    const rig = new PaintRig('a');
    rig.queries = { own: () => liveQuery({ from: pods, select: { name: 'metadata.name' } }) };
    const selects: Record<string, string>[] = [
      { v: 'spec.env' },
      { v: 'spec.env.PASSWORD' },
      { v: 'metadata.managedFields' },
      { v: 'metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]' },
    ];
    for (const select of selects)
      await rig.former(liveQuery({ from: pods, select } as never) as never);
    await rig.former({ named: 'own' } as never);
    const others = liveQuery({ from: secrets, select: { name: 'metadata.name' } });
    await rig.former(others as never);
    for (const other of [{ group: 'example.com' }, { version: 'v2' }, { plural: 'others' }]) {
      rig.paint = { ...paint, kinds: [{ ...pods, ...other }] };
      await rig.former();
    }
    expect(rig.stored.slice(1)).toEqual([]);
    rig.paint = { ...paint, queries: ['own'] };
    await rig.former({ named: 'own' } as never);
    const labelled = liveQuery({ from: pods, select: { v: 'metadata.labels.env' } as never });
    await rig.former(labelled as never);
    await rig.former(liveQuery({ from: pods, limit: 5 }) as never);
    expect(rig.stored).toHaveLength(4);
    expect(JSON.stringify(rig.stored)).not.toContain('hunter2');
    const make = (of: object) => () => connectPaintedWorker({ identity: 'ann', ...of } as never);
    expect(make({ paint: { kinds: [secrets] } })).toThrow(/Secrets are never stored/);
    expect(make({ paint: { kinds: [pods] } })).toThrow(/env: 'left-out'/);
  });

  it('B16: a refusal of the server takes the rows off the screen and out of the store', async () => {
    const rig = new PaintRig('a');
    await rig.former();
    expect(rig.stored).toHaveLength(2);
    rig.isTokenRequired = true;
    const tab = follow(rig.page().cluster, names);
    await rig.pass(3_000);
    expect(tab.shown.status.blocked).toBe('unauthorized');
    expect(tab.shown.rows).toEqual([]);
    expect(rig.stored).toHaveLength(1);
  });

  it.each<[string, (rig: PaintRig, page: RigTab) => unknown]>([
    ['left', (_rig, page) => page.turn('left')],
    [
      'hidden without a worker',
      async (rig, page) => {
        rig.isUnavailable = true;
        rig.kill();
        await rig.pass(100);
        page.turn('hidden');
      },
    ],
  ])('B16: a page that is %s stores no rows that are refused', async (_how, end) => {
    const rig = new PaintRig('a');
    const page = rig.page();
    const tab = follow(page.cluster, names);
    await rig.pass(3_000);
    refuseAll(rig);
    await rig.pass(5_000);
    // The rows of a live view stay on the screen.
    expect(shownIn(tab)).toEqual(['a']);
    expect(tab.shown.status.blocked).toBe('forbidden');
    await end(rig, page);
    await rig.pass(100);
    expect(rig.stored).toHaveLength(1);
    expect(shownIn(await rig.painted(page))).toEqual([]);
  });

  it('B16: a page that is left as soon as its rows are refused deletes them', async () => {
    const rig = new PaintRig('a');
    const page = rig.page();
    const tab = follow(page.cluster, names);
    await rig.pass(3_100);
    expect(rig.stored).toHaveLength(2);
    refuseAll(rig);
    await rig.pass(100);
    expect(tab.shown.status.blocked).toBe('forbidden');
    page.turn('left');
    await rig.pass(100);
    expect(rig.stored).toHaveLength(1);
  });

  it('B16: refused rows are stored again when requests succeed, and not after a failure of another kind', async () => {
    const rig = new PaintRig('a');
    const page = rig.page();
    const tab = follow(page.cluster, names);
    await rig.pass(3_000);
    const refusals = refuseAll(rig);
    await rig.pass(5_000);
    for (const refusal of refusals) refusal.heal();
    const outage = rig.server.faults.refuse();
    await rig.pass(60_000);
    expect(tab.shown.status.blocked).toBeUndefined();
    expect(rig.stored).toHaveLength(1);
    outage.heal();
    await rig.pass(60_000);
    expect(tab.shown.status.live).toBe(true);
    expect(rig.stored).toHaveLength(2);
    expect(shownIn(await rig.painted(page))).toEqual(['a']);
  });

  it('B16: a sign-out in any tab deletes the rows, and no tab stores them again', async () => {
    const rig = new PaintRig('a');
    const tabs = [rig.page(), rig.page()] as const;
    const followed = tabs.map(({ cluster }) => follow(cluster, names));
    await rig.pass(3_000);
    expect(rig.stored).toHaveLength(2);
    tabs[0].cluster.signedOut();
    await rig.pass(3_000);
    expect(followed.map(shownIn)).toEqual([[], []]);
    expect(rig.stored).toEqual([]);
    rig.server.objects.create(pods, podOf('b'));
    await rig.pass(3_000);
    expect(rig.stored).toEqual([]);
    tabs[0].cluster.signedIn('ann');
    await rig.pass(3_000);
    expect(followed.map(shownIn)).toEqual([['a', 'b'], []]);
    expect(rig.stored).toHaveLength(2);
  });

  it('B16: the page of another user shows none of the rows, and deletes them', async () => {
    const rig = new PaintRig('a');
    await rig.former();
    rig.isUnavailable = true;
    const tab = follow(rig.page('bob').cluster, names);
    await rig.pass(100);
    expect(tab.shown.rows).toEqual([]);
    expect(rig.stored.slice(1)).toEqual([]);
    const hers = follow(rig.page().cluster, names);
    await rig.pass(100);
    expect(hers.shown.rows).toEqual([]);
  });

  it('B16: a user who signs out while the rows are read sees none of them', async () => {
    const rig = new PaintRig('a');
    await rig.former();
    rig.isUnavailable = true;
    const { cluster } = rig.page();
    const tab = follow(cluster, names);
    cluster.signedOut();
    await rig.pass(3_000);
    expect(tab.shown.rows).toEqual([]);
    expect(rig.stored).toEqual([]);
  });

  it('B16: a user who signs out while there is no worker leaves nothing', async () => {
    const rig = new PaintRig('a');
    await rig.former();
    rig.isUnavailable = true;
    const { cluster } = rig.page();
    const tab = follow(cluster, names);
    await rig.pass(100);
    expect(shownIn(tab)).toEqual(['a']);
    cluster.signedOut();
    await rig.pass(3_000);
    expect(tab.shown.rows).toEqual([]);
    expect(rig.stored).toEqual([]);
  });

  const record = { format: 1, app: '', total: 1, savedAtMs: 3_000, text: '[["u",{"name":"x"}]]' };
  it.each<[string, unknown]>([
    ['of another program', { ...record, app: '2' }],
    ['of a newer format', { ...record, format: 2 }],
    ['too old', { ...record, savedAtMs: -90_000_000 }],
    ['of a clock far ahead', { ...record, savedAtMs: 99_000_000 }],
    ['without a time', { ...record, savedAtMs: Number.NaN }],
    ['null', null],
    ['text', 'x'],
    ['cut', { ...record, text: '[["u",{"na' }],
    ['no list', { ...record, text: '{"length":1,"0":["u",{}]}' }],
    ['of rows that are none', { ...record, text: '[["u",null]]' }],
    ['of ids that are none', { ...record, text: '[[{"toString":1},{}]]' }],
    ['of one id twice', { ...record, text: '[["u",{}],["u",{}]]' }],
    ['of a total that is none', { ...record, total: '1' }],
    ['of a negative total', { ...record, total: -1 }],
    ['huge', { ...record, text: `[["u",{"name":"${'x'.repeat(600_000)}"}]]` }],
    [
      'of too many rows',
      { ...record, text: JSON.stringify(Array.from({ length: 501 }, (_, at) => [`${at}`, {}])) },
    ],
  ])('B16: a record that is %s is deleted and not shown', async (_what, hostile) => {
    const rig = new PaintRig('a');
    await rig.former();
    const [, own] = rig.stored;
    if (own !== undefined) own[1] = hostile;
    rig.isUnavailable = true;
    const tab = follow(rig.page().cluster, names);
    await rig.pass(100);
    expect(tab.shown.rows).toEqual([]);
    expect(rig.stored).toHaveLength(1);
  });

  it('B16: a record with names of prototypes changes no prototype', async () => {
    const rig = new PaintRig('a');
    await rig.former();
    const [, own] = rig.stored;
    const text = '[["__proto__",{"__proto__":{"name":"evil"},"name":"x"}]]';
    if (own !== undefined) own[1] = { ...record, savedAtMs: rig.scheduler.now(), text };
    rig.isUnavailable = true;
    const tab = follow(rig.page().cluster, names);
    await rig.pass(100);
    expect(shownIn(tab)).toEqual(['x']);
    expect(({} as { name?: string }).name).toBeUndefined();
    rig.isUnavailable = false;
    await rig.pass(5_000);
    expect(shownIn(tab)).toEqual(['a']);
  });

  it('B16: a page that has begun before everything was forgotten stores nothing more', async () => {
    const disk = new FakeBrowser(() => 0.5);
    const options = { appVersion: '', maxAgeMs: 1_000, env: 'left-out' } as const;
    const pages = [1, 2].map(
      () => new Windows(new Ownership('db', 'ann', disk.client().scope).beside, options),
    ) as [Windows, Windows];
    const window = { rows: [['u', { name: 'a' }]], total: 1, savedAtMs: 0 } as const;
    await pages[0].write('q', window);
    expect((await pages[1].read(0)).get('q')).toEqual(window);
    await pages[1].forget();
    await pages[0].write('q', window);
    expect(disk.databases.get('rx-informer:db/windows')?.stores.get('windows')).toEqual([]);
  });

  it('B16: of many queries the last ones are stored, and of many rows the first ones', async () => {
    const rig = new PaintRig(...Array.from({ length: 520 }, (_, at) => `p${1_000 + at}`));
    await rig.former();
    for (let at = 0; at < 26; at++) {
      const select = { name: 'metadata.name', [`c${at}`]: 'metadata.uid' };
      await rig.former(liveQuery({ from: pods, select, limit: 1 } as never) as never);
    }
    const keys = rig.stored.map(([key]) => String(key));
    expect(keys).toHaveLength(25);
    expect(keys.filter((key) => /"c(0|1)"/.test(key))).toEqual([]);
    await rig.former();
    rig.isUnavailable = true;
    const tab = follow(rig.page().cluster, names);
    await rig.pass(100);
    expect([tab.shown.rows.length, tab.shown.total]).toEqual([500, 520]);
  });
});
