/** Tests tabs that share a server beside one of another user, a dead one, one that floods, and one that sends what no tab sends. */
import type { View } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { editInWorker } from 'rx-informer/worker';
import { firstValueFrom, timer } from 'rxjs';
import { map } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/patience.ts';
import { rigOfTabs } from './tabs-rig.ts';
import { followed, namesOf, UsersRig } from './users-rig.ts';

const LIVE = { synced: true, stale: false, live: true, blocked: undefined, error: undefined };
const QUERY = JSON.parse(JSON.stringify(namesOf('a')));

/** A tab that says what a test wants. It never acknowledges anything. */
function rawTab({ browser, pass }: ReturnType<typeof rigOfTabs>) {
  const { post, received } = browser.connectRaw();
  const all = received as { readonly type: string; readonly [field: string]: unknown }[];
  const of = () => {
    const { incarnation, epoch } = all.findLast(({ type }) => type === 'welcome') as never;
    return { incarnation, epoch };
  };
  return {
    post,
    received: (type: string) => all.filter((message) => message.type === type),
    /** Within the session. */
    send: (message: object) => post({ ...message, ...of() }),
    hello: async (more: object = {}) => {
      const hello = { type: 'hello', protocol: 2, identity: 'ann', isHidden: false };
      post({ ...hello, hasCredentials: false, ...more });
      await pass(100);
    },
  };
}

describe('two users of one browser', () => {
  it.each([0, 1, 2, 3, 4, 6, 9, 30, 2_000])(
    'E22: no tab ever shows rows of the other user, %d ms after one or the other has signed in',
    async (gapMs) => {
      const rig = rigOfTabs();
      const { users, browser, pass } = rig;
      const seen = { ann: new Set<unknown>(), bob: new Set<unknown>() };
      const tabOf = (identity: 'ann' | 'bob') => {
        const credentials = () =>
          firstValueFrom(timer(3, users.scheduler).pipe(map(() => ({ token: `t-${identity}` }))));
        const { cluster } = browser.open({ identity, credentials });
        for (const namespace of ['a', 'b']) {
          const view: View<unknown> = cluster.view(namesOf(namespace));
          view.subscribe(() => {
            for (const row of view.getSnapshot().rows)
              seen[identity].add((row as { readonly name: string }).name);
          });
        }
        return cluster;
      };
      const ann = tabOf('ann');
      await pass(gapMs);
      const bob = tabOf('bob');
      for (let turn = 0; turn < 6; turn++) {
        await pass(turn === 5 ? 5_000 : gapMs);
        if (turn % 2 === 0) ann.signedIn('ann');
        else bob.signedIn('bob');
      }
      await pass(5_000);
      ann.signedIn('ann');
      await pass(5_000);
      expect([[...seen.ann].sort(), [...seen.bob].sort()]).toEqual([['api', 'web'], ['db']]);
      expect([ann.connection.phase, bob.connection.phase]).toEqual(['open', 'signed-out']);
      expect(rig.sockets()).toBe(1);
    },
  );

  it('E22: credentials of another user end the connection, and drop the rows of all tabs', async () => {
    const { users, open, sign, sockets, pass } = rigOfTabs();
    const tabs = [open(), open()];
    const shown = tabs.map(({ cluster }) => followed(cluster.view(namesOf('a'))));
    await pass(5_000);
    sign('t-bob');
    tabs[1]?.cluster.signedIn('ann');
    await pass(5_000);
    expect(shown.map((each) => each.shown().list)).toEqual(['', '']);
    expect(tabs.map(({ cluster }) => cluster.connection.phase)).toEqual([
      'signed-out',
      'signed-out',
    ]);
    expect([sockets(), users.toPages.some((text) => text.includes('"db"'))]).toEqual([0, false]);
  });

  it('E21: a right that is revoked leaves every tab, also one that is hidden meanwhile, and one that is new', async () => {
    const { users, open, pass } = rigOfTabs({}, new UsersRig().serveShared());
    const [one, other, hidden] = [open(), open(), open()];
    const shown = [one, other, hidden].map(({ cluster }) => followed(cluster.view(namesOf('a'))));
    await pass(5_000);
    expect(shown.map((each) => each.shown().list)).toEqual(['api web', 'api web', 'api web']);
    hidden.turn('hidden');
    await pass(1_000);
    users.revoke('read-team-a', 'a');
    await pass(5_000);
    const gone = { list: '', blocked: 'forbidden' };
    expect(shown.slice(0, 2).map((each) => each.shown())).toMatchObject([gone, gone]);
    hidden.turn('shown');
    const late = followed(open().cluster.view(namesOf('a')));
    await pass(1_000);
    expect([shown[2]?.shown(), late.shown()]).toMatchObject([gone, gone]);
  });
});

describe('credentials of several tabs', () => {
  it.each([
    ['shown', false],
    ['hidden', true],
  ])(
    'E22: those of the %s tab in which the user has signed in last are asked first',
    async (_, hidden) => {
      const { users, browser, sockets, pass } = rigOfTabs();
      const tokens = ['t-ann', 't-ann'];
      const tabs = [0, 1].map((at) =>
        browser.open({
          credentials: () => ({ token: tokens[at] as string }),
          hidden: at === 1 && hidden,
        }),
      );
      const { shown } = followed((tabs[0] as (typeof tabs)[0]).cluster.view(namesOf('a')));
      await pass(5_000);
      // The token of the first tab has ended.
      users.tokens['t-new'] = { name: 'ann', uid: 'u1', groups: ['team-a'] };
      delete users.tokens['t-ann'];
      tokens[1] = 't-new';
      tabs[1]?.cluster.signedIn('ann');
      await pass(70_000);
      expect([shown(), sockets()]).toEqual([{ list: 'api web', ...LIVE }, 1]);
    },
  );

  it('E22: a sign-in that all tabs tell at once is one for the server', async () => {
    const { users, open, sent, pass } = rigOfTabs();
    const tabs = Array.from({ length: 20 }, () => open());
    const { shown } = followed((tabs[0] as (typeof tabs)[0]).cluster.view(namesOf('a')));
    await pass(5_000);
    for (const { cluster } of tabs) cluster.signedIn('ann');
    await pass(5_000);
    expect(sent('credentials')).toHaveLength(1);
    expect([shown(), users.sockets.length]).toEqual([{ list: 'api web', ...LIVE }, 1]);
  });

  it('E22: tabs that have died keep the others from no connection', async () => {
    const { users, open, pass } = rigOfTabs();
    const dead = [open(), open(), open(), open()];
    const living = open();
    const { shown } = followed(living.cluster.view(namesOf('a')));
    await pass(5_000);
    for (const { vanish } of dead) vanish();
    users.cut(users.sockets[0]?.[0]);
    await pass(30_000);
    expect(shown()).toEqual({ list: 'api web', ...LIVE });
  });
});

describe('a tab that does not behave', () => {
  it('E23: one that never reads is sent one message of a query, delays no other tab, and is forgotten', async () => {
    const rig = rigOfTabs();
    const { users, browser, open, sent, pass } = rig;
    const tab = open();
    const { shown } = followed(tab.cluster.view(namesOf('a')));
    const raw = rawTab(rig);
    await raw.hello();
    const other = JSON.parse(JSON.stringify(namesOf('b')));
    raw.send({ type: 'open', id: 1, query: QUERY });
    raw.send({ type: 'open', id: 2, query: other });
    await pass(2_000);
    for (let at = 0; at < 10; at++) {
      users.create('a', `new-${at}`);
      await pass(1_000);
      expect(shown().list).toMatch(`new-${at}`);
    }
    expect(raw.received('rows').length).toBeLessThanOrEqual(2);
    expect(browser.counts).toEqual({ tabs: 2, pipelines: 2 });
    await pass(100_000);
    expect(browser.counts).toEqual({ tabs: 1, pipelines: 1 });
    expect(sent('close')).toHaveLength(1);
    expect(shown()).toMatchObject({ synced: true, live: true });
  });

  it('E23: one that has died is noticed, and the server is asked no longer what it alone has asked', async () => {
    const { browser, open, sent, pass } = rigOfTabs();
    const [stays, dies] = [open(), open()];
    followed(stays.cluster.view(namesOf('a')));
    followed(dies.cluster.view(namesOf('a')));
    followed(dies.cluster.view(namesOf('b')));
    await pass(5_000);
    dies.vanish();
    await pass(100_000);
    expect([browser.counts, sent('close')]).toMatchObject([{ tabs: 1, pipelines: 1 }, [{}]]);
    stays.vanish();
    const before = sent('hidden').length;
    await pass(100_000);
    expect(sent('hidden').slice(before)).toMatchObject([{ isHidden: true }]);
    expect(browser.counts).toEqual({ tabs: 0, pipelines: 0 });
  });

  it.each<[string, object]>([
    ['a query that is a list', { type: 'open', id: 1, query: Object.assign([], { limit: 5 }) }],
    ['no query', { type: 'open', id: 1 }],
    ['a query of a number that JSON does not have', { type: 'open', id: 1, query: { limit: 5n } }],
    ['a query that contains itself', { type: 'open', id: 1, query: circular() }],
    ['an id that is an object', { type: 'open', id: {}, query: QUERY }],
    ['an edit that is a text', { type: 'edit', id: 1, edit: 'x' }],
    ['an edit of a number that JSON does not have', { type: 'edit', id: 1, edit: { a: 5n } }],
    ['the end of an edit that is none', { type: 'edit-abort', id: 7 }],
    ['an answer to no question', { type: 'credentials', id: 9, headers: 'x' }],
    ['an acknowledgement of nothing', { type: 'ack', set: {} }],
  ])('E23: %s ends nothing of the other tabs', async (_what, message) => {
    const rig = rigOfTabs({}, new UsersRig({ edits: true }));
    const { users, open, pass } = rig;
    const { shown } = followed(open().cluster.view(namesOf('a')));
    const raw = rawTab(rig);
    await raw.hello();
    await pass(5_000);
    raw.send(message);
    await pass(20_000);
    users.create('a', 'new');
    await pass(1_000);
    expect(users.sockets).toHaveLength(1);
    expect(shown()).toEqual({ list: 'api new web', ...LIVE });
    // Also with the next connection, which is asked everything again.
    users.cut(users.sockets[0]?.[0]);
    await pass(20_000);
    expect([users.sockets.length, shown().list]).toEqual([2, 'api new web']);
  });

  it.each<[string, unknown]>([
    ['a text', 'x'],
    ['a list', ['x']],
    ['null', null],
  ])('E23: credentials that are %s end no connection', async (_what, headers) => {
    const rig = rigOfTabs();
    const { users, browser, sent, pass } = rig;
    const tab = browser.open({ credentials: () => ({ token: 't-ann' }), hidden: true });
    const { shown } = followed(tab.cluster.view(namesOf('a')));
    await pass(5_000);
    const raw = rawTab(rig);
    await raw.hello({ hasCredentials: true });
    raw.post({ type: 'identity', identity: 'ann' });
    await pass(2_000);
    const [question] = raw.received('credentials');
    raw.send({ type: 'credentials', id: question?.['id'], headers });
    await pass(10_000);
    tab.turn('shown');
    await pass(1_000);
    expect([users.sockets.length, shown()]).toEqual([1, { list: 'api web', ...LIVE }]);
    expect(sent('credentials').map((message) => message.headers)).toEqual([{ token: 't-ann' }]);
  });

  it('E23: a hello whose identity is no name changes nothing', async () => {
    const rig = rigOfTabs();
    const { users, open, pass } = rig;
    const { shown } = followed(open().cluster.view(namesOf('a')));
    await pass(5_000);
    for (const identity of [{}, 5, ''])
      await rawTab(rig)
        .hello({ identity })
        .catch(() => undefined);
    await pass(5_000);
    expect([users.sockets.length, shown()]).toEqual([1, { list: 'api web', ...LIVE }]);
  });

  it('E23: a draft that JSON does not have is an error of its edit', async () => {
    const { users, open, pass } = rigOfTabs({}, new UsersRig({ edits: true }));
    users.grant('edit', { kind: 'User', name: 'ann' }, 'a', { verbs: ['get', 'update', 'patch'] });
    const { cluster } = open();
    await pass(5_000);
    const said: unknown[] = [];
    editInWorker(cluster, pods, 'a/web', (draft) => {
      draft.metadata = { ...draft.metadata, labels: { count: 5n as never } };
    }).then(
      () => said.push('done'),
      (error: Error) => said.push(error.message),
    );
    await eventually(async () => {
      await pass(100);
      expect(said).toHaveLength(1);
    });
    expect(said[0]).toMatch(/BigInt/);
  });

  /** Each but the first query of the browser is refused by the server, and stays asked. */
  async function floodRig() {
    const rig = rigOfTabs({}, new UsersRig({ limits: { queries: 1 } }));
    const { users, open, pass } = rig;
    const { shown } = followed(open().cluster.view(namesOf('a')));
    await pass(5_000);
    const raw = rawTab(rig);
    await raw.hello();
    const ask = (id: number, namespace = `n${id}`) =>
      raw.send({ type: 'open', id, query: JSON.parse(JSON.stringify(namesOf(namespace))) });
    const others = () => [users.sockets.length, shown()];
    const all = { list: 'api web', ...LIVE };
    /** Also with the next connection, which is asked everything again. */
    const unharmed = async () => {
      await pass(5_000);
      expect(others()).toEqual([1, all]);
      users.cut(users.sockets[0]?.[0]);
      await pass(20_000);
      expect(others()).toEqual([2, all]);
    };
    const refused = () =>
      raw.received('refused').map(({ error }) => (error as { readonly message: string }).message);
    return { pass, raw, ask, refused, unharmed };
  }

  it('E23: one that asks 2,100 queries at once ends no connection', async () => {
    const { ask, refused, unharmed } = await floodRig();
    for (let id = 0; id < 2_100; id++) ask(id);
    await unharmed();
    expect(refused().filter((message) => /too much at once/.test(message))).toHaveLength(1_600);
  });

  it.each<[string, (at: number) => number]>([
    ['anew', (at) => at],
    ['for the same view', (at) => at % 5],
  ])(
    'E23: one that asks %s whatever the server has refused ends no connection',
    async (_, idOf) => {
      const { pass, ask, unharmed } = await floodRig();
      for (let at = 0; at < 3_000; at++) {
        ask(idOf(at), `n${at % 5}`);
        if (at % 5 === 4) await pass(4);
      }
      await unharmed();
    },
  );

  it('E23: one that asks ever more has 1,000 queries', async () => {
    const { pass, ask, refused, unharmed } = await floodRig();
    for (let id = 0; id < 1_010; id++) {
      if (id > 0 && id % 500 === 0) await pass(10_000);
      ask(id);
    }
    await unharmed();
    // One is that of the other tab.
    expect(refused().filter((message) => /have 1000 queries/.test(message))).toHaveLength(11);
  });

  it('E23: one that asks the same query under ever more ids has it 1,000 times', async () => {
    const { pass, raw, ask, refused, unharmed } = await floodRig();
    for (let id = 0; id < 3_000; id++) ask(id, 'a');
    await unharmed();
    const tooMany = () => refused().filter((message) => /have 1000 queries/.test(message)).length;
    expect(tooMany()).toBe(2_000);
    raw.send({ type: 'close', id: 7 });
    ask(3_000, 'a');
    await pass(1_000);
    expect(tooMany()).toBe(2_000);
  });
});

describe('a flood of new queries', () => {
  it('E23: of a tab that opens and closes 100 a second, the worker keeps none', async () => {
    const rig = rigOfTabs({}, new UsersRig().serveShared({ rights: () => 'all' }));
    const { users, browser, open, pass } = rig;
    const { shown } = followed(open().cluster.view(namesOf('a')));
    await pass(5_000);
    const raw = rawTab(rig);
    await raw.hello();
    const before = users.time.pending;
    let most = 0;
    for (let id = 0; id < 2_000; id++) {
      raw.send({ type: 'open', id, query: JSON.parse(JSON.stringify(namesOf(`n${id}`))) });
      raw.send({ type: 'close', id });
      if (id % 10 !== 9) continue;
      await pass(100);
      most = Math.max(most, users.time.pending - before);
    }
    // A few for each of the 200 that linger in the server.
    expect(most).toBeLessThan(1_000);
    expect([users.sockets.length, shown()]).toEqual([1, { list: 'api web', ...LIVE }]);
    await pass(60_000);
    expect([browser.counts.pipelines, users.time.pending]).toEqual([1, before]);
  });
});

function circular(): object {
  const own: Record<string, unknown> = { limit: 5 };
  own['own'] = own;
  return own;
}
