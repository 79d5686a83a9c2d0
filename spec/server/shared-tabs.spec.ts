/** Tests tabs whose worker is one page of a server: they show what a page with a connection of its own shows. */
import { type LiveQuery, liveQuery, type View } from 'rx-informer';
import { configMaps, pods } from 'rx-informer/resources';
import { type ShareServerOptions, shareServer } from 'rx-informer/server';
import { connectWorker, editInWorker } from 'rx-informer/worker';
import { NEVER, Subject } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { inTurn } from '../../lib/rx/drain.ts';
import { connectPage } from '../../lib/server/page/connect-server.ts';
import { RelayedFeed, rowsBetween } from '../../lib/server/relay/relayed-feed.ts';
import { RemoteRows } from '../../lib/wire/remote-rows.ts';
import { AskedView } from '../../lib/worker/page/asked-view.ts';
import { eventually } from '../support/patience.ts';
import { rigOfTabs } from './tabs-rig.ts';
import { followed, names, namesOf, UsersRig } from './users-rig.ts';

const LIVE = { synced: true, stale: false, live: true, blocked: undefined, error: undefined };

/** All that a view shows, but ages, and the phase while it is blocked, which changes with each try. */
function allOf(view: View<unknown>) {
  const { status, ...rest } = view.getSnapshot();
  const { phase, synced, live, blocked, access, error } = status;
  const { code, reason } = (error ?? {}) as { readonly code?: number; readonly reason?: string };
  const settled = blocked === undefined ? phase : undefined;
  return { ...rest, status: { phase: settled, synced, live, blocked, access, code, reason } };
}

/** Each list of some of the letters, in each order. */
function ordersOf(letters: readonly string[]): string[][] {
  return [
    [],
    ...letters.flatMap((one) =>
      ordersOf(letters.filter((each) => each !== one)).map((rest) => [one, ...rest]),
    ),
  ];
}

afterEach(() => vi.unstubAllGlobals());

it('E7: a page that signs out before the server has answered connects for nobody when it is hidden', async () => {
  const rig = new UsersRig();
  const changes$ = new Subject<'hidden'>();
  const page = connectPage(
    {
      ...{ url: 'ws://localhost/queries', identity: 'ann', scheduler: rig.scheduler },
      ...{ credentials: () => ({ token: 't-ann' }), webSocket: () => rig.socket() },
    },
    { isHidden: () => false, changes$, frame: () => NEVER },
  );
  page.signedOut();
  changes$.next('hidden');
  await rig.pass(5_000);
  expect([rig.sockets.length, rig.made, page.connection.phase]).toEqual([1, [], 'signed-out']);
  page.close();
});

describe('tabs that share a server', () => {
  it('E21: have one socket and one query upstream, and show what a page with a connection of its own shows', async () => {
    const { users, open, sent, sockets, pass } = rigOfTabs();
    const direct = users.page('t-ann', { identity: 'ann' });
    const queries = [
      namesOf('a'),
      namesOf('b'),
      liveQuery({ from: pods, namespace: 'a', select: { name: 'metadata.name' }, limit: 1 }),
      liveQuery({ from: configMaps, namespace: 'a', limit: 5 }),
      liveQuery({ from: pods, where: { index: 'none', eq: 'x' }, limit: 5 }),
    ] as readonly LiveQuery[];
    const pages = [direct, open().cluster, open().cluster];
    const views = pages.map((page) => queries.map((query) => page.view(query)));
    const left = views.flat().map((view) => view.subscribe(() => undefined));
    const agree = async (ms = 3_000) => {
      await pass(ms);
      const [one, ...others] = views.map((each) => each.map(allOf));
      for (const other of others) expect(other).toEqual(one);
      return one;
    };
    const first = await agree();
    expect(first?.map(({ rows }) => rows.length)).toEqual([2, 0, 1, 0, 0]);
    expect(first?.map(({ status }) => status.blocked ?? status.phase)).toEqual([
      ...['watching', 'forbidden', 'watching', 'forbidden', 'stopped'],
    ]);
    expect(first?.[4]?.error?.message).toMatch(/no index "none"/);
    // That of the direct page, and that of the worker.
    expect(sockets()).toBe(2);
    expect(sent('open')).toHaveLength(2 * queries.length);
    const [row] = views[1]?.[0]?.getSnapshot().rows ?? [];
    users.create('a', 'mid');
    await agree();
    users.api.objects.delete(pods, { namespace: 'a', name: 'web' });
    await agree();
    expect(views[1]?.[0]?.getSnapshot().rows[0]).toBe(row);
    users.grant('more', { kind: 'User', name: 'ann' }, 'b');
    await agree(70_000);
    users.revoke('read-team-a', 'a');
    await agree(70_000);
    for (const leave of left) leave();
  });

  it('E21: rows are stale in all tabs while the server is away, right after the next connection, and gone after ten minutes', async () => {
    const { users, open, pass } = rigOfTabs();
    const shown = [open(), open()].map(({ cluster }) => followed(cluster.view(namesOf('a'))));
    const all = () => shown.map((each) => each.shown());
    await pass(5_000);
    users.isDown = true;
    users.cut(users.sockets[0]?.[0]);
    await pass(100);
    const stale = { list: 'api web', synced: false, stale: true, live: false };
    expect(all()).toMatchObject([stale, stale]);
    expect(shown[0]?.view.getSnapshot().status.error?.reason).toBe('Network');
    users.create('a', 'new');
    users.isDown = false;
    await pass(60_000);
    expect(all()).toEqual([
      { list: 'api new web', ...LIVE },
      { list: 'api new web', ...LIVE },
    ]);
    users.isDown = true;
    users.cut(users.sockets.at(-1)?.[0]);
    await pass(590_000);
    expect(all()).toMatchObject([{ list: 'api new web' }, { list: 'api new web' }]);
    await pass(15_000);
    const gone = { list: '', synced: false, live: false };
    expect(all()).toMatchObject([gone, gone]);
  });

  it('E21: the server sends nothing while all tabs are hidden; a tab that is shown, or a new one, shows no former rows as current', async () => {
    const { users, open, pass } = rigOfTabs();
    const [one, other] = [open(), open()];
    const { shown } = followed(one.cluster.view(namesOf('a')));
    followed(other.cluster.view(namesOf('a')));
    await pass(5_000);
    one.turn('hidden');
    await pass(5_000);
    const before = users.toPages.length;
    users.create('a', 'for-other');
    await pass(5_000);
    expect(users.toPages.length).toBeGreaterThan(before);
    other.turn('hidden');
    await pass(2_000);
    const quiet = users.toPages.length;
    users.create('a', 'later');
    await pass(5_000);
    const rowsOf = (text: string) => JSON.parse(text).differences?.length > 0;
    expect(users.toPages.slice(quiet).filter(rowsOf)).toEqual([]);
    // A new tab, which shows the first rows that it has.
    const fresh: unknown[] = [];
    const late = open().cluster.view(namesOf('a'));
    late.subscribe(() => fresh.push(late.getSnapshot()));
    await pass(1_000);
    const lists = fresh
      .map((each) => each as ReturnType<typeof late.getSnapshot>)
      .filter(({ synced }) => synced)
      .map(({ rows }) => rows.map((row) => row.name).join(' '));
    expect(new Set(lists)).toEqual(new Set(['api for-other later web']));
    const told: string[] = [];
    const view = one.cluster.view(namesOf('a'));
    view.subscribe(() => told.push(shown().list));
    one.turn('shown');
    await pass(1_000);
    expect(new Set(told)).toEqual(new Set(['api for-other later web']));
    expect(shown()).toEqual({ list: 'api for-other later web', ...LIVE });
  });

  it('E21: a tab that is shown after all were hidden is told the rows of the server alone', async () => {
    const { users, open, pass } = rigOfTabs();
    const tab = open();
    const { shown, view } = followed(tab.cluster.view(namesOf('a')));
    await pass(5_000);
    tab.turn('hidden');
    await pass(5_000);
    users.create('a', 'later');
    await pass(5_000);
    const told: string[] = [];
    view.subscribe(() => told.push(shown().list));
    const from = users.toServer.length;
    tab.turn('shown');
    await pass(1_000);
    expect(new Set(told)).toEqual(new Set(['api later web']));
    expect(users.toServer.slice(from).some((text) => text.includes('"isHidden":false'))).toBe(true);
  });

  it('E21: a query that the server refuses has its error in each tab, and is asked again with the next connection', async () => {
    const { users, open, pass } = rigOfTabs({}, new UsersRig({ limits: { queries: 1 } }));
    const shown = [open(), open()].map(({ cluster }) => [
      followed(cluster.view(namesOf('a'))),
      followed(cluster.view(names)),
    ]);
    await pass(5_000);
    for (const [first, second] of shown) {
      expect(first?.shown()).toEqual({ list: 'api web', ...LIVE });
      expect(second?.shown().error).toMatch(/a connection may have 1 queries/);
    }
    // A tab that asks later is told the same.
    const late = followed(open().cluster.view(names));
    await pass(5_000);
    expect(late.shown().error).toMatch(/a connection may have 1 queries/);
    for (const [first] of shown) first?.leave();
    users.cut(users.sockets[0]?.[0]);
    await pass(60_000);
    expect(shown.map(([, second]) => second?.shown().error)).toEqual([undefined, undefined]);
  });

  it.each([
    ['signs out', undefined],
    ['has another user', 't-bob'],
  ])(
    'E22: if one tab %s, the connection ends, and no tab shows rows of the former user',
    async (_, next) => {
      const { users, open, sign, sockets, pass } = rigOfTabs();
      const [one, other] = [open(), open()];
      const shown = [one, other].map(({ cluster }) => followed(cluster.view(namesOf('a'))));
      await pass(5_000);
      if (next === undefined) one.cluster.signedOut();
      else {
        sign(next);
        one.cluster.signedIn('bob');
      }
      await pass(5_000);
      expect(shown.map((each) => each.shown().list)).toEqual(['', '']);
      expect(other.cluster.connection.phase).toBe('signed-out');
      expect(sockets()).toBe(next === undefined ? 0 : 1);
      expect(users.sockets).toHaveLength(next === undefined ? 1 : 2);
      sign('t-ann');
      for (const { cluster } of [one, other]) cluster.signedIn('ann');
      await pass(5_000);
      expect(shown.map((each) => each.shown())).toEqual([
        { list: 'api web', ...LIVE },
        { list: 'api web', ...LIVE },
      ]);
      expect(sockets()).toBe(1);
    },
  );

  it('E22: credentials that the server no longer accepts drop the rows of all tabs, until somebody signs in', async () => {
    const { users, open, sockets, pass } = rigOfTabs();
    const tabs = [open(), open()];
    const shown = tabs.map(({ cluster }) => followed(cluster.view(namesOf('a'))));
    await pass(5_000);
    users.review = () => undefined;
    await pass(61_000);
    expect(shown.map((each) => each.shown().list)).toEqual(['', '']);
    expect(tabs.map(({ cluster }) => cluster.connection.phase)).toEqual([
      'signed-out',
      'signed-out',
    ]);
    expect(sockets()).toBe(0);
    users.review = undefined;
    for (const { cluster } of tabs) cluster.signedIn('ann');
    await pass(5_000);
    expect(shown.map((each) => each.shown().list)).toEqual(['api web', 'api web']);
  });

  it('E22: new credentials are asked of a shown tab before the former ones end, and the connection stays', async () => {
    const { users, open, sign, sent, pass } = rigOfTabs();
    users.expiresMs = 60_000;
    const [hidden, visible] = [open({ hidden: true }), open()];
    const { shown } = followed(visible.cluster.view(namesOf('a')));
    await pass(5_000);
    const asked = [hidden.asked(), visible.asked()];
    users.tokens['t-new'] = { name: 'ann', uid: 'u1', groups: ['team-a'] };
    sign('t-new');
    users.expiresMs = undefined;
    await pass(40_000);
    expect([hidden.asked() - (asked[0] ?? 0), visible.asked() - (asked[1] ?? 0)]).toEqual([0, 1]);
    expect(sent('credentials').map(({ headers }) => headers)).toEqual([{ token: 't-new' }]);
    await pass(60_000);
    expect(shown()).toEqual({ list: 'api web', ...LIVE });
    expect(users.sockets).toHaveLength(1);
    // The same user has signed in again.
    visible.cluster.signedIn('ann');
    await pass(2_000);
    expect(sent('credentials')).toHaveLength(2);
  });

  it('E22: the worker may have the credentials itself, by the identity of the tabs', async () => {
    const identities: string[] = [];
    const credentials = ({ identity }: { readonly identity: string }) => {
      identities.push(identity);
      return { token: `t-${identity}` };
    };
    const { open, pass } = rigOfTabs({ credentials });
    const tab = open();
    const { shown } = followed(tab.cluster.view(namesOf('a')));
    await pass(5_000);
    expect([shown().list, tab.asked(), identities]).toEqual(['api web', 0, ['ann']]);
  });

  it('E22: the recipe of an edit runs in its page; a tab that leaves aborts its own', async () => {
    const { users, open, sent, pass } = rigOfTabs({}, new UsersRig({ edits: true }));
    users.grant('edit', { kind: 'User', name: 'ann' }, 'a', { verbs: ['get', 'update', 'patch'] });
    const labels = liveQuery({
      ...{ from: pods, namespace: 'a', orderBy: { path: 'metadata.name' } },
      select: { name: 'metadata.name', value: 'metadata.labels.value' },
    });
    const [one, other] = [open(), open()];
    const views = [one, other].map(({ cluster }) => cluster.view(labels));
    for (const view of views) view.subscribe(() => undefined);
    await pass(5_000);
    let ran = 0;
    const edit = (tab: typeof one, name: string, recipe: (labels: object) => void) => {
      const said: unknown[] = [];
      editInWorker(tab.cluster, pods, `a/${name}`, (draft) => {
        ran++;
        draft.metadata = { ...draft.metadata, labels: {} };
        recipe(draft.metadata.labels as object);
      }).then(
        (object) => said.push(object.metadata.labels),
        (error) => said.push(error),
      );
      return said;
    };
    const answered = (said: unknown[]) =>
      // The code of edits is loaded with the first of them, in real time.
      eventually(async () => {
        await pass(1_000);
        expect(said).toHaveLength(1);
      });
    const done = edit(one, 'web', (each) => Object.assign(each, { value: 'new' }));
    await answered(done);
    expect([done, ran]).toEqual([[{ value: 'new' }], 1]);
    await pass(1_000);
    expect(views.map((view) => view.getSnapshot().rows[1])).toMatchObject([
      { value: 'new' },
      { value: 'new' },
    ]);
    const own = edit(one, 'web', () => {
      throw new Error('mine');
    });
    const missing = edit(other, 'gone', () => undefined);
    await answered(own);
    await answered(missing);
    expect([own, missing]).toMatchObject([[{ message: 'mine' }], [{ code: 404 }]]);
    users.api.faults.delay(5_000, { method: 'PATCH' });
    const left = edit(other, 'web', (each) => Object.assign(each, { value: 'left' }));
    const stays = edit(one, 'api', (each) => Object.assign(each, { value: 'stays' }));
    await pass(1_000);
    other.turn('left');
    await answered(stays);
    await pass(10_000);
    expect([left, stays]).toMatchObject([[{ reason: 'Stopped' }], [{ value: 'stays' }]]);
    expect(sent('edit-abort')).toHaveLength(1);
  });

  it('E21: a tab has all rows again after the query has failed, and no more than the next answer', () => {
    const { scheduler } = new UsersRig();
    const life = { scheduler, heardMs: () => 0, ask: () => undefined, leave: () => undefined };
    const [view, tab] = [new AskedView({}, life), new AskedView({}, life)];
    tab.subscribe(() => undefined);
    tab.items$.subscribe({ error: () => undefined });
    let isWaiting = false;
    const feed = new RelayedFeed({
      ...{ view, scheduler, isAwaited: () => false, mayAsk: () => true },
      onWaiting: () => {
        isWaiting = true;
      },
    });
    feed.show();
    const tell = (change: () => void) => {
      inTurn(change);
      if (!isWaiting) return;
      isWaiting = false;
      const difference = feed.take();
      if (difference !== undefined) inTurn(() => tab.take(difference));
    };
    const status = { refusedRows: [] };
    const rowsOf = (...ids: string[]) => ids.map((id, at) => [id, at, { id }] as const);
    const answer = (ids: string[]) =>
      view.take({
        ...{ reset: true, total: ids.length, synced: true, status },
        rows: rowsOf(...ids),
      });
    const shown = () => {
      const { rows, error, synced } = tab.getSnapshot();
      return [rows.map((row) => (row as { id: string }).id).join(' '), error?.message, synced];
    };
    tell(() => answer(['a', 'b', 'c']));
    expect(shown()).toEqual(['a b c', undefined, true]);
    tell(() => view.refuse(new Error('over')));
    expect(shown()).toEqual(['a b c', 'over', true]);
    // Another connection answers.
    tell(() => view.lose(undefined));
    expect(shown()).toEqual(['a b c', undefined, false]);
    tell(() => answer(['a', 'c', 'd']));
    expect(shown()).toEqual(['a c d', undefined, true]);
    feed.close();
  });

  it('E21: the rows of two states are told as their difference, whatever has changed', () => {
    const orders = ordersOf(['a', 'b', 'c', 'd']);
    const wrong: string[] = [];
    for (const before of orders) {
      for (const now of orders) {
        for (const changed of ['', 'a', 'bc']) {
          const former = before.map((id) => ({ id, of: 0 }));
          const rowOf = (id: string) => former.find((row) => row.id === id);
          const list = now.map((id) =>
            changed.includes(id) ? { id, of: 1 } : (rowOf(id) ?? { id, of: 0 }),
          );
          const rows = new RemoteRows();
          const all = former.map((row, at) => [row.id, at, row] as const);
          rows.apply({ reset: true, rows: all, total: all.length, synced: true });
          const difference = rowsBetween({ ids: before, list: former }, { ids: now, list });
          rows.apply({ ...difference, total: list.length, synced: true });
          const isRight = JSON.stringify(rows.list) === JSON.stringify(list);
          // A row that neither moves nor changes is not sent.
          const kept = before.filter((id) => now.includes(id));
          const inOrder = kept.join() === now.filter((id) => before.includes(id)).join();
          const isLeast =
            !inOrder ||
            (difference.rows ?? []).every(
              ([id, , row]) => rowOf(id) === undefined || rowOf(id) !== row,
            );
          if (!isRight || !isLeast) wrong.push(`${before} ${now} ${changed}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe('a browser without SharedWorker', () => {
  const shared = () => new SharedWorker('./server.worker.js', { type: 'module' });

  it('E21: has a connection of its own in each page, and a sign-out reaches the other tabs', async () => {
    const users = new UsersRig();
    const { scheduler } = users;
    // A page, with a channel to the other ones.
    vi.stubGlobal('document', {});
    const modules = [0, 1].map(() => ({
      served: shareServer({
        ...{ url: 'ws://localhost/queries', webSocket: () => users.socket(), scheduler },
        random: () => 0,
      }),
    }));
    vi.unstubAllGlobals();
    const credentials = () => ({ token: 't-ann' });
    const tabs = modules.map((module) =>
      connectWorker({ identity: 'ann', credentials, scheduler, shared, page: async () => module }),
    );
    const shown = tabs.map((cluster) => followed(cluster.view(namesOf('a'))));
    // Messages between a page and itself take real time.
    const settled = (check: () => void) =>
      eventually(async () => {
        await users.pass(100);
        check();
      });
    const all = { list: 'api web', ...LIVE };
    await settled(() => expect(shown.map((each) => each.shown())).toEqual([all, all]));
    expect(tabs.map(({ connection }) => connection.host)).toEqual(['page', 'page']);
    expect(users.sockets).toHaveLength(2);
    tabs[0]?.signedOut();
    await settled(() => expect(tabs[1]?.connection.phase).toBe('signed-out'));
    expect(shown.map((each) => each.shown().list)).toEqual(['', '']);
    for (const cluster of tabs) cluster.close();
  });

  it('E21: says so if the page has given nothing else', () => {
    const { scheduler } = new UsersRig();
    const cluster = connectWorker({ identity: 'ann', scheduler, shared });
    const { phase, error } = cluster.connection;
    expect([phase, error?.message]).toEqual([
      'failed',
      'the worker cannot be started: SharedWorker is not defined; reload the page',
    ]);
    cluster.close();
  });
});

describe('shareServer', () => {
  it.each([
    [{}, /shareServer: pass url or port/],
    [{ url: 'ftp://x' }, /shareServer: url .*ftp/],
    [{ url: 'wss://x', credentials: 5 }, /shareServer: credentials/],
    [{ url: 'wss://x', webSocket: 5 }, /shareServer: webSocket/],
  ])('E21: refuses %o', (options, why) => {
    expect(() => shareServer(options as ShareServerOptions)).toThrow(why);
  });
});
