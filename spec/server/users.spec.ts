/** Tests a server of users: who sees what, what follows a sign-out, a lost server and other rights. */
import { createInformerFactory, liveQuery } from 'rx-informer';
import { pods, secrets } from 'rx-informer/resources';
import type { UserPort } from 'rx-informer/server';
import { workerQuery } from 'rx-informer/worker';
import { describe, expect, it, vi } from 'vitest';
import { followed, names, namesOf, UsersRig } from './users-rig.ts';

const LIVE = { synced: true, stale: false, live: true, blocked: undefined, error: undefined };

describe('users of a server', () => {
  it('E5: each user sees what the API server shows that user, live, by one watch for all pages of the user', async () => {
    const rig = new UsersRig();
    const [ann, again, bob] = [rig.page('t-ann'), rig.page('t-ann'), rig.page('t-bob')];
    const shown = [
      followed(ann.view(namesOf('a'))),
      followed(again.view(namesOf('a'))),
      followed(bob.view(namesOf('b'))),
      followed(bob.view(namesOf('a'))),
    ];
    await rig.pass(5_000);
    expect(shown.slice(0, 3).map((each) => each.shown())).toEqual([
      { list: 'api web', ...LIVE },
      { list: 'api web', ...LIVE },
      { list: 'db', ...LIVE },
    ]);
    expect(shown[3]?.shown()).toMatchObject({ list: '', synced: false, blocked: 'forbidden' });
    rig.create('a', 'new');
    await rig.pass();
    expect(shown.map((each) => each.shown().list)).toEqual([
      'api new web',
      'api new web',
      'db',
      '',
    ]);
    expect([rig.made, rig.users.counts]).toEqual([
      ['ann', 'bob'],
      { users: 2, connections: 3, signingIn: 0 },
    ]);
    expect(rig.api.openWatches).toHaveLength(2);
    expect(ann.connection).toMatchObject({ phase: 'open', host: 'server' });
  });

  it('E5: the informers of a user stop when the last page has left, after the linger', async () => {
    const rig = new UsersRig({ lingerMs: 10_000 });
    const page = rig.page('t-ann');
    followed(page.view(namesOf('a')));
    await rig.pass(5_000);
    expect(rig.api.openWatches.length).toBe(1);
    page.close();
    await rig.pass(9_000);
    expect([rig.users.counts, rig.api.openWatches.length]).toEqual([
      { users: 1, connections: 0, signingIn: 0 },
      1,
    ]);
    await rig.pass(2_000);
    expect([rig.users.counts, rig.api.openWatches.length]).toEqual([
      { users: 0, connections: 0, signingIn: 0 },
      0,
    ]);
  });

  it('E5: a query with a name is answered for each user by the informers of that user', async () => {
    const rig = new UsersRig({ queries: { mine: (namespace: string) => namesOf(namespace) } });
    const query = workerQuery<{ mine: (namespace: string) => typeof names }, 'mine'>('mine', 'a');
    const [ann, bob] = ['t-ann', 't-bob'].map((token) => followed(rig.page(token).view(query)));
    await rig.pass(5_000);
    expect(ann?.shown()).toEqual({ list: 'api web', ...LIVE });
    expect(bob?.shown()).toMatchObject({ list: '', blocked: 'forbidden' });
  });

  it('E5: parameters that JSON does not tell apart reach a query with a name as one value', async () => {
    const params: unknown[] = [];
    const rig = new UsersRig({
      queries: {
        top: (given: unknown) => {
          params.push(given);
          return names;
        },
      },
    });
    const { hello, send, session } = rig.raw();
    hello();
    await rig.pass(100);
    const open = JSON.stringify({ type: 'open', id: 1, query: { named: 'top' }, ...session() });
    send(open.replace('"top"', '"top","params":{"most":1e999,"__proto__":{"least":-0}}'));
    await rig.pass(500);
    expect(JSON.stringify(params)).toBe('[{"__proto__":{"least":0},"most":null}]');
    expect(params).toMatchObject([{ most: null }]);
  });

  it('E8: a query with a name that returns a promise is refused, and its rejection ends no process', async () => {
    const rejected = vi.fn();
    process.on('unhandledRejection', rejected);
    const rig = new UsersRig({
      queries: { later: (async () => Promise.reject(new Error('secret'))) as never },
    });
    const query = workerQuery<{ later: () => typeof names }, 'later'>('later');
    const { shown } = followed(rig.page('t-ann').view(query));
    await rig.pass(5_000);
    await new Promise((then) => setImmediate(then));
    process.off('unhandledRejection', rejected);
    expect([shown().error, rejected.mock.calls]).toEqual(['the query has failed', []]);
  });

  it('E6: a server that is lost leaves stale rows, which the next connection brings up to date; after ten minutes they are gone', async () => {
    const rig = new UsersRig();
    const page = rig.page('t-ann');
    const { shown, view } = followed(page.view(namesOf('a')));
    await rig.pass(5_000);
    const [row] = view.getSnapshot().rows;
    rig.cut(rig.sockets[0]?.[0]);
    rig.isDown = true;
    await rig.pass(10);
    expect(shown()).toMatchObject({ list: 'api web', synced: false, stale: true, live: false });
    expect(page.connection.error?.message).toMatch(/the connection has ended \(1006\)/);
    rig.create('a', 'new');
    rig.isDown = false;
    await rig.pass(60_000);
    expect(shown()).toEqual({ list: 'api new web', ...LIVE });
    expect(view.getSnapshot().rows[0]).toBe(row);
    rig.cut(rig.sockets.at(-1)?.[0]);
    rig.isDown = true;
    // They were right when the server was last heard.
    await rig.pass(590_000);
    expect(shown()).toMatchObject({ list: 'api new web', stale: true });
    await rig.pass(15_000);
    expect(shown()).toMatchObject({ list: '', synced: false, live: false });
    rig.isDown = false;
    await rig.pass(60_000);
    expect(shown()).toEqual({ list: 'api new web', ...LIVE });
  });

  it('E6: rows are gone ten minutes after they were last right, also if servers answer meanwhile without rows', async () => {
    const rig = new UsersRig();
    const page = rig.page('t-ann');
    const { shown } = followed(page.view(namesOf('a')));
    await rig.pass(5_000);
    rig.users.drain();
    let welcomes = 0;
    const connect = (port: UserPort) =>
      port.listen((message) => {
        const { type } = message as { readonly type: string };
        if (type === 'ping') port.post({ type: 'pong' });
        if (type !== 'hello') return;
        port.post({ type: 'welcome', incarnation: `${++welcomes}`, epoch: 1 });
      });
    rig.users = { connect } as never;
    for (let minute = 1; minute < 10; minute++) {
      await rig.pass(60_000);
      expect([page.connection.phase, shown().list, shown().stale]).toEqual([
        'open',
        'api web',
        true,
      ]);
      if (minute % 3 === 0) rig.cut(rig.sockets.at(-1)?.[0]);
    }
    await rig.pass(70_000);
    expect(shown()).toMatchObject({ list: '', synced: false, stale: false });
    expect(welcomes).toBe(4);
    rig.users = rig.serve();
    rig.cut(rig.sockets.at(-1)?.[0]);
    await rig.pass(60_000);
    expect(shown()).toEqual({ list: 'api web', ...LIVE });
  });

  it('E6: a server that has a part of the answer after ten minutes shows it in place of the former rows', async () => {
    const rig = new UsersRig();
    const page = rig.page('t-ann');
    const { shown } = followed(page.view(namesOf('a')));
    await rig.pass(5_000);
    rig.create('a', 'new');
    rig.cut(rig.sockets[0]?.[0]);
    rig.users = { ...rig.users, connect: () => undefined } as never;
    await rig.pass(1_000);
    const [, server] = rig.sockets.at(-1) as (typeof rig.sockets)[number];
    const session = { incarnation: 'other', epoch: 1 };
    let id = 0;
    const send = (row: readonly [string, number, object], synced: boolean) => {
      const differences = [{ id, rows: [row], total: 9, synced }];
      server.send(JSON.stringify({ type: 'rows', set: 1, differences, ...session }));
    };
    server.onmessage = (({ data }: { data: string }) => {
      const message = JSON.parse(data);
      if (message.type === 'ping') server.send(JSON.stringify({ type: 'pong' }));
      if (message.type !== 'open') return;
      id = message.id;
      send(['1', 0, { name: 'first' }], false);
    }) as never;
    server.send(JSON.stringify({ type: 'welcome', ...session }));
    await rig.pass(500_000);
    expect(shown()).toMatchObject({ list: 'api web', stale: true });
    await rig.pass(110_000);
    expect(shown()).toMatchObject({ list: 'first', stale: false, synced: false });
    send(['2', 1, { name: 'second' }], true);
    await rig.pass(1_000);
    expect(shown()).toMatchObject({ list: 'first second', synced: true });
  });

  it('E6: pages spread their tries over two seconds after a server has ended', async () => {
    const rig = new UsersRig();
    for (const part of [0, 0.5, 0.999]) rig.page('t-ann', { random: () => part });
    await rig.pass(5_000);
    for (const [page] of [...rig.sockets]) rig.cut(page);
    const tries = async (ms: number) => {
      await rig.pass(ms);
      return rig.sockets.length - 3;
    };
    expect([await tries(100), await tries(1_000), await tries(850), await tries(100)]).toEqual([
      ...[1, 2, 2, 3],
    ]);
  });

  it('E6: a silent server is noticed within 20 seconds by the page, and a silent page by the server', async () => {
    const rig = new UsersRig();
    const { shown } = followed(rig.page('t-ann').view(namesOf('a')));
    await rig.pass(5_000);
    const [page, server] = rig.sockets[0] as (typeof rig.sockets)[number];
    page.onmessage = null;
    server.onmessage = null;
    rig.isDown = true;
    await rig.pass(20_000);
    expect(shown()).toMatchObject({ list: 'api web', stale: true });
    expect(rig.users.counts.connections).toBe(0);
  });

  it('E6: a drained server ends its connections with 1012 and serves nobody, and pages go to the next one', async () => {
    const rig = new UsersRig();
    const page = rig.page('t-ann');
    const { shown } = followed(page.view(namesOf('a')));
    await rig.pass(5_000);
    rig.users.drain();
    await rig.pass(10);
    expect([shown().stale, page.connection.error?.message]).toEqual([
      true,
      expect.stringMatching(/the server restarts \(1012\)/),
    ]);
    expect(rig.users.counts).toEqual({ users: 0, connections: 0, signingIn: 0 });
    const refused = rig.raw();
    await rig.pass(10);
    expect(refused.end()?.code).toBe(1012);
    rig.users = rig.serve();
    await rig.pass(60_000);
    expect(shown()).toEqual({ list: 'api web', ...LIVE });
  });
});

describe('the sign-in', () => {
  it('E7: a token that is of nobody is refused, before and after it was accepted; rows are dropped at once', async () => {
    const rig = new UsersRig();
    const page = rig.page('t-ann');
    const { shown } = followed(page.view(namesOf('a')));
    const nobody = rig.page('t-none');
    const none = followed(nobody.view(namesOf('a')));
    await rig.pass(5_000);
    expect(none.shown()).toMatchObject({ list: '', synced: false });
    expect(nobody.connection).toMatchObject({ phase: 'signed-out' });
    await rig.pass(60_000);
    expect(rig.sockets).toHaveLength(2);
    expect(shown()).toEqual({ list: 'api web', ...LIVE });
    rig.review = () => undefined;
    await rig.pass(61_000);
    expect(shown()).toMatchObject({ list: '', synced: false });
    expect(page.connection.phase).toBe('signed-out');
    // The connection whose user was verified again says so, rather than the next one.
    expect(rig.sockets).toHaveLength(2);
    const sockets = rig.sockets.length;
    const before = rig.toServer.length;
    nobody.close();
    await rig.pass(120_000);
    expect([rig.sockets.length - sockets <= 1, rig.toServer.length - before <= 3]).toEqual([
      true,
      true,
    ]);
    rig.review = undefined;
    page.signedIn('t-ann');
    await rig.pass(5_000);
    expect(shown()).toEqual({ list: 'api web', ...LIVE });
  });

  it('E7: a page whose credentials were of nobody connects at once when somebody signs in', async () => {
    const rig = new UsersRig();
    let token = 't-none';
    const page = rig.page('ann', { identity: 'ann', credentials: () => ({ token }) });
    const { shown } = followed(page.view(namesOf('a')));
    await rig.pass(5_000);
    expect(page.connection.phase).toBe('signed-out');
    token = 't-ann';
    page.signedIn('ann');
    await rig.pass(1_000);
    expect([shown(), rig.sockets.length]).toEqual([{ list: 'api web', ...LIVE }, 2]);
  });

  it.each<[string, () => never]>([
    [
      'throw',
      () => {
        throw new Error('no session');
      },
    ],
    ['reject', () => Promise.reject(new Error('no session')) as never],
  ])(
    'E6: credentials that %s are tried again, and not after the page has closed',
    async (_how, credentials) => {
      const rig = new UsersRig();
      let isBroken = true;
      const page = rig.page('t-ann', {
        credentials: () => (isBroken ? credentials() : { token: 't-ann' }),
      });
      await rig.pass(100);
      expect(page.connection.phase).toBe('failed');
      expect(page.connection.error?.message).toMatch(/credentials: no session/);
      isBroken = false;
      page.close();
      await rig.pass(60_000);
      expect([page.connection.phase, rig.users.counts.connections]).toEqual(['left', 0]);
      expect(rig.toServer.join('')).not.toContain('t-ann');
    },
  );

  it('E6: a socket that cannot be made, or ends while it is closed, is tried again', async () => {
    const rig = new UsersRig();
    let tries = 0;
    const page = rig.page('t-ann', {
      webSocket: () => {
        if (++tries < 3) throw new SyntaxError('no socket');
        const socket = rig.socket();
        const { close } = socket;
        // As that of Node while it connects.
        socket.close = (code, reason) => {
          socket.onclose?.({ code: 1006, reason: '' } as never);
          close(code, reason);
        };
        return socket;
      },
    });
    page.signedIn('t-ann');
    const { shown } = followed(page.view(namesOf('a')));
    await rig.pass(10_000);
    expect(shown()).toEqual({ list: 'api web', ...LIVE });
    page.signedIn('bob');
    page.signedIn('t-ann');
    await rig.pass(10_000);
    expect([shown().list, rig.users.counts.connections]).toEqual(['api web', 1]);
    page.close();
    await rig.pass(5_000);
    expect([page.connection.phase, rig.users.counts.connections]).toEqual(['left', 0]);
  });

  it('E5: a factory that is never made holds no user up: the next connection after the linger asks for another', async () => {
    let isHanging = true;
    const rig = new UsersRig({ lingerMs: 1_000, limits: { connectionsOfUser: 2 } });
    const inner = rig.client('t-ann');
    rig.users = rig.serve({
      ...{ lingerMs: 1_000, limits: { connectionsOfUser: 2 } },
      createFactory: () =>
        isHanging
          ? new Promise<never>(() => undefined)
          : createInformerFactory(inner, { scheduler: rig.scheduler }),
    });
    const raws = [rig.raw(), rig.raw()];
    for (const { hello } of raws) hello();
    await rig.pass(11_000);
    expect(raws.map(({ end }) => end()?.code)).toEqual([4408, 4408]);
    await rig.pass(2_000);
    expect(rig.users.counts).toEqual({ users: 0, connections: 0, signingIn: 0 });
    isHanging = false;
    const { shown } = followed(rig.page('t-ann').view(namesOf('a')));
    await rig.pass(5_000);
    expect(shown()).toEqual({ list: 'api web', ...LIVE });
  });

  it('E5: a factory that is made after its connection has ended, or after a drain, is stopped once', async () => {
    for (const how of ['cut', 'drain']) {
      const rig = new UsersRig();
      let made: (factory: never) => void = () => undefined;
      rig.users = rig.serve({
        lingerMs: 1_000,
        createFactory: () =>
          new Promise<never>((resolve) => {
            made = resolve;
          }),
      });
      const raw = rig.raw();
      raw.hello();
      await rig.pass(100);
      if (how === 'drain') rig.users.drain();
      else rig.cut(raw.page);
      await rig.pass(2_000);
      let stops = 0;
      const factory = createInformerFactory(rig.client('t-ann'), { scheduler: rig.scheduler });
      const { stop } = factory;
      Object.assign(factory, {
        stop: () => {
          stops++;
          return stop();
        },
      });
      made(factory as never);
      await rig.pass(60_000);
      expect([how, stops, rig.users.counts.users]).toEqual([how, 1, 0]);
    }
  });

  it('E7: a sign-out of the page ends its connection, and another user connects with other credentials', async () => {
    const rig = new UsersRig();
    let token = 't-ann';
    const page = rig.page('t-ann', { identity: 'ann', credentials: () => ({ token }) });
    const { shown } = followed(page.view(namesOf('a')));
    await rig.pass(5_000);
    page.signedOut();
    expect(shown().list).toBe('');
    await rig.pass(60_000);
    expect([shown().list, rig.users.counts.connections]).toEqual(['', 0]);
    token = 't-bob';
    page.signedIn('bob');
    await rig.pass(5_000);
    expect(shown()).toMatchObject({ list: '', blocked: 'forbidden' });
    expect(rig.made).toEqual(['ann', 'bob']);
  });

  it('E7: new credentials are asked for 30 seconds before the end, and must be of the same user', async () => {
    const rig = new UsersRig();
    rig.expiresMs = rig.scheduler.now() + 100_000;
    let token = 't-ann';
    let asked = 0;
    const page = rig.page('t-ann', {
      identity: 'ann',
      credentials: () => {
        asked++;
        return { token };
      },
    });
    const { shown } = followed(page.view(namesOf('a')));
    await rig.pass(69_000);
    expect(asked).toBe(1);
    rig.expiresMs += 100_000;
    await rig.pass(2_000);
    expect(asked).toBe(2);
    await rig.pass(60_000);
    expect([shown(), rig.sockets.length]).toEqual([{ list: 'api web', ...LIVE }, 1]);
    token = 't-bob';
    await rig.pass(60_000);
    expect(shown().list).toBe('');
    expect(page.connection.phase).toBe('signed-out');
  });

  it('E7: credentials that end without new ones end the connection', async () => {
    const rig = new UsersRig();
    rig.expiresMs = rig.scheduler.now() + 50_000;
    const never = new Promise<never>(() => undefined);
    let asked = 0;
    const credentials = () => (asked++ === 0 ? { token: 't-ann' } : never);
    const page = rig.page('t-ann', { credentials });
    const { shown } = followed(page.view(namesOf('a')));
    await rig.pass(49_000);
    expect(shown().list).toBe('api web');
    await rig.pass(2_000);
    expect([shown().list, page.connection.phase]).toEqual(['', 'signed-out']);
  });

  it('E7: other groups of a user are other informers, and the rows of the former are not current any more', async () => {
    const rig = new UsersRig();
    const page = rig.page('t-ann');
    const { shown } = followed(page.view(namesOf('a')));
    await rig.pass(5_000);
    rig.review = () => ({ name: 'ann', uid: 'u1', groups: ['team-b'] });
    const seen: boolean[] = [];
    const leave = page.view(namesOf('a')).subscribe(() => seen.push(shown().stale));
    await rig.pass(70_000);
    leave();
    expect([rig.made, rig.sockets.length, seen[0]]).toEqual([['ann', 'ann'], 2, true]);
    expect(shown()).toEqual({ list: 'api web', ...LIVE });
  });

  it.each<[string, unknown, number]>([
    ['nobody', undefined, 4401],
    ['null', null, 4401],
    ['a user without a name', {}, 4503],
    ['a user with an empty name', { name: '' }, 4503],
    ['a text', 'ann', 4503],
    ['true', true, 4503],
    ['groups that are a text', { name: 'ann', groups: 'admin' }, 4503],
    ['a rejection', 'reject', 4503],
    ['a user whose credentials have ended', { name: 'ann', expiresMs: 1 }, 4401],
    ['no answer', new Promise(() => undefined), 4408],
  ])('E7: a sign-in that returns %s ends the connection', async (_what, answer, code) => {
    const rig = new UsersRig({ onUnhandledError: () => undefined });
    rig.review = () => (answer === 'reject' ? Promise.reject(new Error('no')) : answer);
    const { hello, received, end } = rig.raw();
    hello();
    await rig.pass(11_000);
    expect([end()?.code, received.filter(({ type }) => type === 'welcome')]).toEqual([code, []]);
    expect([rig.made, rig.users.counts.connections]).toEqual([[], 0]);
  });

  it.each<[string, () => unknown]>([
    ['does not answer', () => new Promise(() => undefined)],
    ['fails', () => Promise.reject(new Error('no'))],
  ])(
    'E7: a review that %s ends a connection two minutes after the last one that did not',
    async (_what, review) => {
      const rig = new UsersRig();
      const { shown } = followed(rig.page('t-ann').view(namesOf('a')));
      await rig.pass(5_000);
      rig.review = review;
      await rig.pass(100_000);
      expect(shown()).toMatchObject({ list: 'api web', live: true });
      rig.create('a', 'new');
      await rig.pass(2_000);
      expect(shown()).toMatchObject({ list: 'api new web', live: true });
      await rig.pass(35_000);
      expect(shown()).toMatchObject({ stale: true, live: false });
    },
  );

  it('E7: a review that names nobody ends a connection at once, also after one that has failed', async () => {
    const rig = new UsersRig();
    const { shown } = followed(rig.page('t-ann').view(namesOf('a')));
    await rig.pass(5_000);
    rig.review = () => Promise.reject(new Error('no'));
    await rig.pass(62_000);
    rig.review = () => undefined;
    await rig.pass(6_000);
    expect(shown()).toMatchObject({ list: '', live: false });
  });

  it('E7: other groups end what the former were answered at once, also while their informers are being made', async () => {
    let isFirst = true;
    const rig: UsersRig = new UsersRig({
      createFactory: () => {
        if (!isFirst) return new Promise(() => undefined);
        isFirst = false;
        return createInformerFactory(rig.client('t-ann'), { scheduler: rig.scheduler });
      },
    });
    const page = rig.page('t-ann');
    const { shown } = followed(page.view(namesOf('a')));
    await rig.pass(5_000);
    expect(shown()).toMatchObject({ list: 'api web', live: true });
    rig.tokens['t-ann'] = { name: 'ann', uid: 'u1', groups: [] };
    await rig.pass(58_000);
    expect(shown()).toMatchObject({ stale: true, live: false });
    rig.create('a', 'new');
    await rig.pass(9_000);
    expect(shown()).toMatchObject({ list: 'api web', stale: true, live: false });
  });

  it('E7: first sign-ins take turns by address, and the users of open connections are verified before them', async () => {
    const rig = new UsersRig({ limits: { signingInOfAddress: 100 } });
    followed(rig.page('t-ann').view(namesOf('a')));
    await rig.pass(55_000);
    const asked: string[] = [];
    rig.review = (token) => {
      asked.push(token);
      return token === 't-ann' ? { name: 'ann', uid: 'u1' } : new Promise(() => undefined);
    };
    const many = Array.from({ length: 60 }, () => rig.raw('far'));
    for (const each of many) each.hello('t-none');
    await rig.pass(1_000);
    const bob = rig.raw('near');
    bob.hello('t-bob');
    await rig.pass(7_000);
    expect([asked.length, asked.includes('t-ann')]).toEqual([21, true]);
    // Those who have waited in vain end.
    await rig.pass(3_000);
    expect(asked.indexOf('t-bob')).toBeLessThan(24);
  });
});

describe('what errors of a server say', () => {
  it('E8: a refused query says its code, and neither addresses nor texts of the server', async () => {
    const broken = {
      broken: (): typeof names => {
        throw new Error('password at 10.0.0.1');
      },
    };
    const rig = new UsersRig({ queries: broken });
    const page = rig.page('t-bob');
    const shown = [
      followed(page.view(workerQuery<typeof broken, 'broken'>('broken') as never)),
      followed(page.view(workerQuery<{ other: () => never }, 'other'>('other') as never)),
      followed(page.view({ ...names, where: { path: 5 } } as never)),
      followed(page.view(liveQuery({ from: secrets, select: { name: 'metadata.name' } }))),
      followed(
        page.view(liveQuery({ from: pods, namespace: 'a', select: { name: 'metadata.name' } })),
      ),
    ];
    await rig.pass(5_000);
    expect(shown.map((each) => each.shown().error)).toEqual([
      'the query has failed',
      'the server has no query "other"',
      expect.stringMatching(/where/),
      undefined,
      undefined,
    ]);
    expect(shown[3]?.view.getSnapshot().status.error?.message).toBe(
      'the API server has answered 403 Forbidden',
    );
    expect(shown[3]?.shown().blocked).toBe('forbidden');
    expect(rig.toPages.join('\n')).not.toMatch(/password|10\.0|stack|\.ts|http:|broken/);
  });

  it('E8: a factory that cannot be made is reported to the program, and the next connection tries again', async () => {
    const errors: unknown[] = [];
    let isBroken = true;
    const rig = new UsersRig();
    const inner = rig.client('t-ann');
    rig.users = rig.serve({
      onUnhandledError: (error) => errors.push(error),
      createFactory: async () => {
        if (isBroken) throw new Error('secret of the program');
        return createInformerFactory(inner, { scheduler: rig.scheduler });
      },
    });
    const { shown } = followed(rig.page('t-ann').view(namesOf('a')));
    await rig.pass(2_000);
    expect(errors.map(String)).toContain('Error: secret of the program');
    expect(rig.toPages.join()).not.toMatch(/secret/);
    isBroken = false;
    await rig.pass(30_000);
    expect(shown()).toEqual({ list: 'api web', ...LIVE });
  });
});
