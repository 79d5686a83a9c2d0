/** Tests tabs that share a worker, in virtual time. */
import { ApiError, liveQuery } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { workerQuery } from 'rx-informer/worker';
import { describe, expect, it } from 'vitest';
import { carryQuery } from '../../lib/worker/carried-query.ts';
import { PROTOCOL } from '../../lib/worker/messages.ts';
import { BrowserRig, follow } from './browser-rig.ts';
import { names, podOf, rigWith } from './rig-pods.ts';

describe('queries in a worker', () => {
  it('B1: equal queries of all tabs share one watch and one pipeline, and every tab shows the rows', async () => {
    const rig = await rigWith('b', 'a');
    const tabs = [rig.open(), rig.open(), rig.open()].map(({ cluster }) => follow(cluster, names));
    await rig.pass(1_000);
    for (const { shown } of tabs) {
      expect(shown.rows).toEqual([
        { name: 'a', phase: 'Running' },
        { name: 'b', phase: 'Running' },
      ]);
      expect([shown.total, shown.synced, shown.status.live]).toEqual([2, true, true]);
    }
    expect(rig.counts).toEqual({ tabs: 3, pipelines: 1 });
    expect(rig.requests.filter((each) => each.startsWith('WATCH'))).toHaveLength(1);
  });

  it('B3: a query that a worker cannot answer is refused at once, with what to do', () => {
    const { cluster } = new BrowserRig().open();
    const project = () => ({});
    const withFunction = liveQuery({ from: pods, select: { key: 'k', project }, limit: 5 });
    expect(() => cluster.view(withFunction)).toThrow(
      /select\.project is a function, .*serveQueries\(\{ queries .*workerQuery/,
    );
    expect(() => cluster.view(liveQuery({ from: pods }))).toThrow(
      /no select, and its limit is absent/,
    );
    expect(() => cluster.view(liveQuery({ from: pods, limit: 201 }))).toThrow(
      /limit of at most 200/,
    );
    expect(() => workerQuery('podsOf', { sort: { by: () => 1 } } as never)).toThrow(/sort\.by/);
    expect(() => cluster.view(liveQuery({ from: pods, limit: 200 }))).not.toThrow();
  });

  it('B3: the worker checks queries again, because a tab may send anything', async () => {
    const rig = await rigWith('a');
    rig.queries = { all: () => liveQuery({ from: pods }) };
    const { cluster } = rig.open();
    const named = (name: string) => follow(cluster, { named: name } as never);
    const tabs = [
      named('constructor'),
      named('all'),
      follow(cluster, { from: {}, limit: 1 } as never),
    ];
    await rig.pass(100);
    const errors = tabs.map(({ shown }) => String(shown.status.error));
    expect(errors[0]).toMatch(/no query "constructor"; .* has all/);
    expect(errors[1]).toMatch(/workerQuery all: the query has no select/);
    expect(errors[2]).toMatch(/liveQuery: from is/);
    expect(tabs.map(({ shown }) => shown.synced)).toEqual([false, false, false]);
  });

  it('B4: an error of the server is an ApiError in the tab, and a select function keeps its stack', async () => {
    const rig = await rigWith('a', 'b');
    const select = {
      key: 'throws',
      project: ({ metadata }: { metadata: { name: string } }) => {
        if (metadata.name === 'b') throw new RangeError('no b');
        return { name: metadata.name };
      },
    };
    rig.queries = { shouting: () => liveQuery({ from: pods, select: select as never }) };
    const { cluster } = rig.open();
    const tab = follow(
      cluster,
      workerQuery<typeof rig.queries, 'shouting'>('shouting', undefined as never) as never,
    );
    await rig.pass(1_000);
    expect(tab.shown.rows).toEqual([{ name: 'a' }]);
    const error = tab.shown.status.refusedRows[0]?.error as Error;
    expect([error.name, error.message]).toEqual(['RangeError', 'no b']);
    expect(error.stack).toContain('tabs.spec.ts');

    const forbidden = await rigWith('a');
    forbidden.isTokenRequired = true;
    const refused = follow(forbidden.open().cluster, names);
    await forbidden.pass(3_000);
    expect(refused.shown.status.error).toBeInstanceOf(ApiError);
    expect([refused.shown.status.blocked, refused.shown.status.error?.code]).toEqual([
      'unauthorized',
      401,
    ]);

    const busy = await rigWith('a');
    busy.server.faults.failNext(undefined, { status: 503, retryAfterSeconds: 40, times: 9 });
    const late = follow(busy.open().cluster, names);
    await busy.pass(3_000);
    const { code, reason, retryAfterMs, status } = late.shown.status.error as ApiError;
    expect([code, reason, retryAfterMs]).toEqual([503, 'ServiceUnavailable', 40_000]);
    expect(status).toMatchObject({ kind: 'Status', code: 503 });
  });
});

describe('sessions of a worker', () => {
  it('B5: a tab of another identity ends the session, and tabs of the former one show no rows', async () => {
    const rig = await rigWith('a');
    const ann = rig.open();
    const hers = follow(ann.cluster, names);
    await rig.pass(1_000);
    const kept = ann.cluster.view(liveQuery({ from: pods, select: { n: 'metadata.name' } }));
    kept.subscribe(() => {})();
    const bob = rig.open({ identity: 'bob' });
    const his = follow(bob.cluster, names);
    await rig.pass(1_000);
    expect(his.shown.rows).toHaveLength(1);
    expect(hers.shown.rows).toEqual([]);
    expect(kept.getSnapshot().rows).toEqual([]);
    expect(hers.shown.status.blocked).toBe('unauthorized');
    expect(String(hers.shown.status.error)).toMatch(/another user/);
    expect(ann.cluster.connection.phase).toBe('signed-out');
    expect(rig.sessions.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    expect(rig.counts.pipelines).toBe(1);
    // It does not come back by itself, also not when it is shown again.
    ann.turn('hidden');
    ann.turn('shown');
    await rig.pass(200_000);
    expect(bob.cluster.connection.phase).toBe('open');
    expect(hers.shown.rows).toEqual([]);
  });

  it('B5: messages of a session that has ended are discarded by the worker and by the tab', async () => {
    const rig = await rigWith('a');
    rig.delayMs = 500;
    const ann = rig.open();
    const hers = follow(ann.cluster, names);
    await rig.pass(2_800);
    expect(hers.shown.synced).toBe(false);
    // Her rows and his hello are on their way at the same time.
    const bob = rig.open({ identity: 'bob' });
    ann.cluster.signedIn('bob');
    expect(hers.shown.rows).toEqual([]);
    for (let at = 0; at < 12; at++) {
      await rig.pass(100);
      if (rig.sessions.at(-1)?.identity === 'ann') expect(hers.shown.rows).toEqual([]);
    }
    await rig.pass(5_000);
    expect(hers.shown.rows).toHaveLength(1);
    expect(bob.cluster.connection.phase).toBe('open');
  });

  it('B5: the worker ignores a message of another session, and one of a tab that has not said hello', async () => {
    const rig = await rigWith('a');
    const tab = rig.open();
    await rig.pass(1_000);
    const raw = rig.connectRaw();
    const { query } = carryQuery('test', names);
    const session = { incarnation: 'worker-1', epoch: 1 };
    raw.post({ type: 'open', id: 1, query, ...session });
    raw.post({
      type: 'hello',
      protocol: PROTOCOL,
      identity: 'ann',
      isHidden: false,
      hasCredentials: false,
    });
    raw.post({ type: 'open', id: 2, query, ...session, epoch: 7 });
    raw.post({ type: 'open', id: 3, query, ...session, incarnation: 'worker-0' });
    raw.post({ type: 'open', id: 4, query, ...session });
    for (const nonsense of [
      undefined,
      null,
      7,
      {},
      { type: 'open' },
      { type: 'draft', id: 1, ...session },
      { type: 'hello', protocol: PROTOCOL, identity: 'ann', former: null },
    ]) {
      raw.post(nonsense);
    }
    await rig.pass(1_000);
    const answered = raw.received.flatMap((message) => {
      const { differences = [] } = message as { differences?: readonly { id: number }[] };
      return differences.map(({ id }) => id);
    });
    expect(new Set(answered)).toEqual(new Set([4]));
    expect(tab.cluster.connection.phase).toBe('open');
  });

  it('B5: views that rest have no rows of a former user, whatever is asked afterwards', async () => {
    const rig = await rigWith('a');
    const { cluster } = rig.open();
    const tab = follow(cluster, names);
    await rig.pass(1_000);
    tab.leave();
    cluster.signedIn('bob');
    expect(tab.shown.rows).toEqual([]);
    const again = follow(cluster, names);
    await rig.pass(60_000);
    expect([again.shown.rows.length, again.shown.synced]).toEqual([1, true]);
  });

  it('B10: a worker of another version is not talked to: the page says so, or asks the next host', async () => {
    const rig = await rigWith('a');
    rig.speaks = 9;
    const tab = rig.open();
    const shown = follow(tab.cluster, names);
    await rig.pass(1_000);
    expect(tab.cluster.connection.phase).toBe('failed');
    expect(String(shown.shown.status.error)).toMatch(
      /it speaks version 9, and this page version 2; reload/,
    );
    const other = new BrowserRig();
    other.server.objects.create(pods, podOf('a'));
    const both = rig.open({ dedicated: () => other.dedicated() });
    const rows = follow(both.cluster, names);
    // Two browsers, each with a time of its own.
    for (let at = 0; at < 40; at++) {
      await rig.pass(50);
      await other.pass(50);
    }
    expect(both.cluster.connection).toMatchObject({ phase: 'open', host: 'dedicated' });
    expect(rows.shown.rows).toHaveLength(1);
  });

  it('B5: a page from the back/forward cache does not bring its former user back', async () => {
    const rig = await rigWith('a');
    const ann = rig.open();
    const hers = follow(ann.cluster, names);
    await rig.pass(1_000);
    ann.turn('left');
    const bob = rig.open({ identity: 'bob' });
    const his = follow(bob.cluster, names);
    await rig.pass(1_000);
    ann.turn('shown');
    await rig.pass(1_000);
    expect(ann.cluster.connection.phase).toBe('signed-out');
    expect(hers.shown.rows).toEqual([]);
    expect(bob.cluster.connection.phase).toBe('open');
    expect(his.shown.rows).toHaveLength(1);
  });

  it('B5: a user who changes while there is no worker sees no rows of the former one', async () => {
    const rig = await rigWith('a');
    const { cluster } = rig.open();
    const tab = follow(cluster, names);
    await rig.pass(1_000);
    rig.isUnavailable = true;
    rig.kill();
    await rig.pass(1_000);
    expect(tab.shown.rows).toHaveLength(1);
    cluster.signedIn('bob');
    expect(tab.shown.rows).toEqual([]);
    rig.isUnavailable = false;
    await rig.pass(20_000);
    expect([tab.shown.rows.length, tab.shown.synced]).toEqual([1, true]);
    expect(rig.sessions.map(({ identity }) => identity)).toEqual(['ann', 'bob']);
  });

  it('B6: credentials are asked of visible tabs first, then of hidden ones, and again after a 401', async () => {
    const rig = await rigWith('a');
    rig.isTokenRequired = true;
    const headers = () => ({ Authorization: `Bearer ${rig.token}` });
    const hidden = rig.open({ credentials: headers, hidden: true });
    const silent = rig.open({ credentials: () => new Promise(() => {}) });
    const failing = rig.open({
      credentials: () => {
        throw new Error('the login has expired');
      },
    });
    const tab = follow(failing.cluster, names);
    await rig.pass(15_000);
    expect(tab.shown.rows).toHaveLength(1);
    expect([silent.asked(), failing.asked(), hidden.asked()]).toEqual([1, 1, 1]);
    const visible = rig.open({ credentials: headers });
    rig.token = 't2';
    rig.server.faults.closeWatches?.();
    silent.turn('left');
    failing.turn('left');
    const other = follow(visible.cluster, names);
    await rig.pass(400_000);
    expect(visible.asked()).toBeGreaterThan(0);
    expect(other.shown.status.live).toBe(true);
  });

  it('B6: the credentials of before a sign-in are not sent any more, although the server still takes them', async () => {
    const rig = await rigWith('a');
    const sent: unknown[] = [];
    rig.fetch = (input, init) => {
      sent.push(new Headers(init?.headers).get('authorization'));
      return rig.server.fetch(input, init);
    };
    let authorization = 'former';
    const { cluster } = rig.open({ credentials: () => ({ authorization }) });
    follow(cluster, names);
    await rig.pass(1_000);
    expect(new Set(sent)).toEqual(new Set(['former']));
    sent.length = 0;
    authorization = 'present';
    cluster.signedIn('ann');
    rig.server.faults.closeWatches();
    await rig.pass(5_000);
    expect(new Set(sent)).toEqual(new Set(['present']));
  });

  it('B6: credentials are in no message but the answer of the tab that was asked', async () => {
    const rig = await rigWith('a');
    rig.isTokenRequired = true;
    rig.token = 'secret-token';
    const credentials = () => ({ authorization: 'Bearer secret-token' });
    const tabs = [rig.open({ credentials }), rig.open({ credentials })];
    const shown = tabs.map(({ cluster }) => follow(cluster, names));
    await rig.pass(1_000);
    expect(shown.map((each) => each.shown.rows.length)).toEqual([1, 1]);
    const leaks = rig.sent.filter((message) => JSON.stringify(message).includes('secret-token'));
    expect(leaks.map((message) => (message as { type: string }).type)).toEqual(['credentials']);
    expect(JSON.stringify(shown.map((each) => each.shown))).not.toContain('secret-token');
  });

  it('B6: a request fails with the reason Credentials if no tab gives any', async () => {
    const rig = await rigWith('a');
    let isOffline = true;
    const credentials = async () => {
      if (isOffline) throw new Error('offline');
      return {};
    };
    const { cluster } = rig.open({ credentials });
    const tab = follow(cluster, names);
    await rig.pass(3_000);
    expect(tab.shown.status.error?.message).toMatch(/none of 1 tabs has given credentials/);
    isOffline = false;
    await rig.pass(60_000);
    expect([tab.shown.rows.length, tab.shown.status.error]).toEqual([1, undefined]);
  });
});

/** The worker was last heard within the second before. */
const heardBefore = (ms: number) =>
  expect.toSatisfy((sinceMs: number) => sinceMs <= ms && sinceMs > ms - 1_000);

describe('the life of tabs and workers', () => {
  it('B7: a killed worker is started again, and tabs keep their rows, marked as stale, until they are right', async () => {
    const rig = await rigWith('a', 'b');
    const tabs = [rig.open(), rig.open()];
    const shown = tabs.map(({ cluster }) => follow(cluster, names));
    await rig.pass(1_000);
    const [a] = shown[0]?.shown.rows ?? [];
    rig.server.objects.delete(pods, { namespace: 'shop', name: 'b' });
    rig.kill();
    await rig.pass(1);
    for (const each of shown) {
      expect(each.shown.stale).toBe(true);
      expect([each.shown.synced, each.shown.status.live]).toEqual([false, false]);
      expect(each.shown.rows).toHaveLength(2);
    }
    await rig.pass(3_000);
    for (const each of shown) {
      expect(each.shown.stale).toBeUndefined();
      expect([each.shown.synced, each.shown.rows.length]).toEqual([true, 1]);
    }
    expect(shown[0]?.shown.rows[0]).toBe(a);
    expect(rig.starts).toBe(2);
    expect(tabs[0]?.cluster.connection).toMatchObject({ phase: 'open', workers: 2 });
  });

  it('B7: a worker that has worked is started again at once, however often workers have died', async () => {
    const rig = await rigWith('a');
    const tab = follow(rig.open().cluster, names);
    await rig.pass(60_000);
    for (let deaths = 1; deaths < 6; deaths++) {
      rig.kill();
      await rig.pass(10);
      expect(rig.starts).toBe(deaths + 1);
      await rig.pass(60_000);
      expect([tab.shown.synced, tab.shown.rows.length]).toEqual([true, 1]);
    }
  });

  it('B7: rows of a connection that was closed are stale and not live, since then', async () => {
    const rig = await rigWith('a');
    const { cluster } = rig.open();
    const tab = follow(cluster, names);
    await rig.pass(1_000);
    const staleSinceMs = heardBefore(rig.scheduler.now());
    cluster.close();
    await rig.pass(60_000);
    expect(tab.shown).toMatchObject({
      stale: true,
      synced: false,
      status: { phase: 'stopped', live: false, staleSinceMs, error: { reason: 'Stopped' } },
    });
    expect(tab.shown.rows).toHaveLength(1);
  });

  it('B7: rows of a page that was left are stale since then, until the next worker has answered', async () => {
    const rig = await rigWith('a');
    const page = rig.open();
    const tab = follow(page.cluster, names);
    await rig.pass(1_000);
    const staleSinceMs = heardBefore(rig.scheduler.now());
    page.turn('left');
    rig.kill();
    await rig.pass(600_000);
    rig.delayMs = 4_000;
    page.turn('shown');
    await rig.pass(3_000);
    const status = { phase: 'connecting', live: false, staleSinceMs };
    expect(tab.shown).toMatchObject({ stale: true, synced: false, status });
    rig.delayMs = 1;
    await rig.pass(20_000);
    expect(tab.shown).toMatchObject({ synced: true, status: { live: true } });
    expect([tab.shown.stale, tab.shown.status.staleSinceMs]).toEqual([undefined, undefined]);
  });

  it('B7: rows of a query that is asked again are stale since it was left', async () => {
    const rig = await rigWith('a');
    const { cluster } = rig.open();
    const before = follow(cluster, names);
    await rig.pass(1_000);
    const staleSinceMs = heardBefore(rig.scheduler.now());
    before.leave();
    await rig.pass(25_000);
    rig.delayMs = 500;
    const tab = follow(cluster, names);
    await rig.pass(900);
    const status = { phase: 'connecting', live: false, staleSinceMs };
    expect(tab.shown).toMatchObject({ stale: true, synced: false, status });
  });

  it('B8: rows of a page that was frozen for long are stale since then, until the worker has answered', async () => {
    const rig = await rigWith('a');
    const page = rig.open();
    const tab = follow(page.cluster, names);
    follow(rig.open().cluster, names);
    await rig.pass(1_000);
    const staleSinceMs = heardBefore(rig.scheduler.now());
    page.freeze();
    await rig.pass(600_000);
    rig.delayMs = 1_000;
    page.thaw();
    await rig.pass(2_500);
    const status = { phase: 'connecting', live: false, staleSinceMs };
    expect(tab.shown).toMatchObject({ stale: true, synced: false, status });
    await rig.pass(20_000);
    expect(tab.shown).toMatchObject({ synced: true, status: { live: true } });
  });

  it('B7: without Web Locks a killed worker is noticed by pings', async () => {
    const rig = await rigWith('a');
    rig.hasLocks = false;
    const tab = follow(rig.open().cluster, names);
    await rig.pass(1_000);
    rig.kill();
    await rig.pass(20_000);
    expect([rig.starts, tab.shown.synced, tab.shown.rows.length]).toEqual([2, true, 1]);
  });

  it('B8: a busy tab has at most one message that it has not acknowledged, and the next one has all changes', async () => {
    const rig = await rigWith('a');
    const tab = rig.open();
    const shown = follow(tab.cluster, names);
    await rig.pass(1_000);
    tab.freeze();
    // As a page that was frozen without any event.
    tab.turn('shown');
    const before = rig.sent.filter(
      (message) => (message as { type: string }).type === 'rows',
    ).length;
    for (let at = 0; at < 50; at++) {
      rig.server.objects.create(pods, podOf(`p${at}`));
      await rig.pass(100);
    }
    const rows = () => rig.sent.filter((message) => (message as { type: string }).type === 'rows');
    expect(rows().length - before).toBeLessThanOrEqual(1);
    tab.thaw();
    await rig.pass(500);
    expect(shown.shown.rows).toHaveLength(51);
    expect(rows().length - before).toBeLessThanOrEqual(3);
  });

  it('B8: what a busy tab has not received is one difference: no deletion is lost, and a row that came and went is not sent', async () => {
    const rig = await rigWith('a', 'b');
    const tab = rig.open();
    const page = follow(tab.cluster, names);
    await rig.pass(1_000);
    const differencesOf = (message: unknown) => {
      const { type, differences } = message as { type: string; differences?: readonly unknown[] };
      return type === 'rows' && differences !== undefined ? [differences] : [];
    };
    tab.freeze();
    // As a page that was frozen without any event.
    tab.turn('shown');
    // The tab is sent all rows again, and does not acknowledge them.
    await rig.pass(100);
    const before = rig.sent.length;
    rig.server.objects.create(pods, podOf('brief'));
    await rig.pass(100);
    rig.server.objects.delete(pods, { namespace: 'shop', name: 'b' });
    await rig.pass(100);
    rig.server.objects.delete(pods, { namespace: 'shop', name: 'brief' });
    await rig.pass(100);
    tab.thaw();
    await rig.pass(500);
    expect(page.shown.rows).toEqual([{ name: 'a', phase: 'Running' }]);
    const sent = rig.sent.slice(before).flatMap(differencesOf);
    expect(sent.map(({ length }) => length)).toEqual([1]);
    expect(sent[0]?.[0]).toMatchObject({ gone: [expect.any(String)], total: 1 });
    expect(sent[0]?.[0]).not.toHaveProperty('rows');
  });

  it('B8: a tab that has vanished loses its queries within a minute, and one that returns asks them again', async () => {
    const rig = await rigWith('a');
    const gone = rig.open();
    follow(gone.cluster, names);
    const frozen = rig.open();
    const shown = follow(frozen.cluster, names);
    await rig.pass(1_000);
    gone.vanish();
    frozen.freeze();
    await rig.pass(60_000);
    expect(rig.counts.tabs).toBe(0);
    rig.server.objects.create(pods, podOf('b'));
    frozen.thaw();
    await rig.pass(3_000);
    expect(rig.counts.tabs).toBe(1);
    expect([shown.shown.rows.length, shown.shown.synced]).toEqual([2, true]);
  });

  it('B8: a page that was left has no port before it is shown again, so that the browser may keep it', async () => {
    const rig = await rigWith('a');
    const tab = rig.open();
    const followed = follow(tab.cluster, names);
    await rig.pass(1_000);
    // Browsers hide a page after it was left.
    tab.turn('left');
    tab.turn('hidden');
    await rig.pass(1_000);
    expect([tab.isConnected(), rig.counts.tabs]).toEqual([false, 0]);
    tab.turn('shown');
    await rig.pass(1_000);
    expect([tab.isConnected(), followed.shown.synced]).toEqual([true, true]);
  });

  it('B9: a hidden tab receives no rows, and one set when it is shown', async () => {
    const rig = await rigWith('a');
    const hidden = rig.open();
    const shown = follow(hidden.cluster, names);
    const other = follow(rig.open().cluster, names);
    await rig.pass(1_000);
    hidden.turn('hidden');
    await rig.pass(100);
    const calls = shown.calls();
    for (let at = 0; at < 10; at++) {
      rig.server.objects.create(pods, podOf(`p${at}`));
      await rig.pass(100);
    }
    expect(other.shown.rows).toHaveLength(11);
    expect(shown.calls()).toBe(calls);
    hidden.turn('shown');
    await rig.pass(100);
    expect(shown.shown.rows).toHaveLength(11);
    expect(shown.calls() - calls).toBeLessThanOrEqual(2);
  });

  it('B9: the watches end while all tabs are hidden, and resume without a list', async () => {
    const rig = await rigWith('a');
    const tabs = [rig.open(), rig.open()];
    const shown = tabs.map(({ cluster }) => follow(cluster, names));
    await rig.pass(1_000);
    for (const tab of tabs) tab.turn('hidden');
    // The demand closes after a minute, and an informer that has waited for it for a minute closes its watch.
    await rig.pass(300_000);
    const before = rig.requests.length;
    rig.server.objects.create(pods, podOf('b'));
    await rig.pass(600_000);
    expect(rig.requests.slice(before)).toEqual([]);
    tabs[0]?.turn('shown');
    await rig.pass(1_000);
    expect(shown[0]?.shown.rows).toHaveLength(2);
    expect(rig.requests.slice(before)).toEqual([expect.stringMatching(/^WATCH /)]);
  });

  it('B9: the demand closes a minute after the last shown tab, although hidden tabs come and go, and also for the next user', async () => {
    const rig = await rigWith('a');
    const tab = rig.open();
    follow(tab.cluster, names);
    await rig.pass(1_000);
    tab.turn('hidden');
    const isOpen = () => rig.sessions.map(({ demand }) => demand() === null);
    for (const open of [true, true, false, false]) {
      rig.open({ hidden: true });
      await rig.pass(25_000);
      expect(isOpen()).toEqual([open]);
    }
    follow(rig.open({ hidden: true, identity: 'bob' }).cluster, names);
    await rig.pass(50_000);
    expect(isOpen()[1]).toBe(true);
    await rig.pass(20_000);
    expect(isOpen()[1]).toBe(false);
  });

  it('B10: a page whose worker cannot be started again keeps its rows, and says that it must be reloaded', async () => {
    const rig = await rigWith('a');
    const tab = rig.open();
    const shown = follow(tab.cluster, names);
    await rig.pass(1_000);
    rig.isUnavailable = true;
    rig.kill();
    await rig.pass(3_000);
    expect(shown.shown.rows).toHaveLength(1);
    expect([shown.shown.stale, shown.shown.synced]).toEqual([true, false]);
    expect(String(shown.shown.status.error)).toMatch(/cannot be started: .*; reload the page/);
    expect(tab.cluster.connection.phase).toBe('failed');
    rig.isUnavailable = false;
    await rig.pass(20_000);
    expect([shown.shown.stale, shown.shown.synced]).toEqual([undefined, true]);
  });
});
