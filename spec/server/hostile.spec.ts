/** Tests a server of users against clients that send what no page sends, in every form that was thought of. */
import type { ServeFactoriesOptions } from 'rx-informer/server';
import { connectServer, serveUsers, socketPort } from 'rx-informer/server';
import { describe, expect, it } from 'vitest';
import { namesOf, UsersRig } from './users-rig.ts';

const QUERY = JSON.parse(JSON.stringify(namesOf('a')));
const FEW = { pipelines: 20 };

/** A connection that has signed in. */
async function signedIn(options: Partial<ServeFactoriesOptions> = {}, rig = new UsersRig(options)) {
  const raw = rig.raw();
  raw.hello();
  await rig.pass(100);
  const of = raw.session();
  const open = (id: number, query: unknown) => raw.send({ type: 'open', id, query, ...of });
  const refused = (id: number) =>
    raw.received.find((message) => message['type'] === 'refused' && message['id'] === id)?.[
      'error'
    ] as { readonly message: string; readonly stack?: string } | undefined;
  return { rig, raw, of, open, refused };
}

describe('a hostile client', () => {
  it.each<[string, unknown, number?]>([
    ['no JSON', '{"type":'],
    ['a list', []],
    ['null', null],
    ['a number', 5],
    ['a message without a type', {}],
    ['another type', { type: 'constructor' }],
    ['the type of a prototype', { type: '__proto__' }],
    ['a query before the hello', { type: 'open', id: 1, query: QUERY, incarnation: 'x', epoch: 1 }],
    ['a ping before the hello', { type: 'ping' }],
    ['a hello without a version', { type: 'hello', isHidden: false }],
    [
      'a hello whose identity is an object',
      { type: 'hello', protocol: 2, identity: {}, isHidden: false },
    ],
    [
      'a hello of over 16,384 characters',
      {
        type: 'hello',
        protocol: 2,
        identity: 'x',
        isHidden: false,
        credentials: { token: 'x'.repeat(20_000) },
      },
      4413,
    ],
    ['a deep list', '['.repeat(20_000) + ']'.repeat(20_000)],
    [
      'a hello with deep credentials',
      `{"type":"hello","protocol":2,"isHidden":false,"credentials":${'['.repeat(8_000)}${']'.repeat(8_000)}}`,
    ],
  ])('E9: %s ends the connection, and nothing is answered', async (_what, message, code = 4400) => {
    const rig = new UsersRig();
    const { send, end, received } = rig.raw();
    send(message);
    await rig.pass(100);
    expect([end()?.code, received, rig.made]).toEqual([code, [], []]);
    expect(rig.users.counts).toEqual({ users: 0, connections: 0, signingIn: 0 });
  });

  it.each<[string, object, number?]>([
    ['an id that is a text', { type: 'open', id: 'x', query: QUERY }],
    ['an id below 0', { type: 'open', id: -1, query: QUERY }],
    ['no query', { type: 'open', id: 1 }],
    ['a query that is a list', { type: 'open', id: 1, query: [] }],
    ['an acknowledgement without a set', { type: 'ack' }],
    ['an edit without an edit', { type: 'edit', id: 1 }],
    ['credentials that are a text', { type: 'credentials', id: 1, headers: 'x' }],
    [
      'credentials of over 16,384 characters',
      { type: 'credentials', id: 1, headers: { authorization: 'x'.repeat(20_000) } },
      4413,
    ],
  ])('E9: after the sign-in, %s ends the connection', async (_what, message, code = 4400) => {
    const { rig, raw, of } = await signedIn();
    raw.send({ ...message, ...of });
    await rig.pass(100);
    expect(raw.end()?.code).toBe(code);
  });

  it.each<[string, unknown]>([
    ['whose message has no text', { message: { toString: 1, valueOf: 1 } }],
    ['without members', {}],
    ['of many causes', `${'{"cause":'.repeat(6_000)}{}${'}'.repeat(6_000)}`],
  ])(
    'E9: an answer with an error %s ends no process, and the connection goes on',
    async (_what, error) => {
      const { rig, raw, of } = await signedIn();
      raw.send({ type: 'identity', identity: 'me' });
      await rig.pass(100);
      const { id } = raw.received.find(({ type }) => type === 'credentials') as { id: number };
      const text = typeof error === 'string' ? error : JSON.stringify(error);
      const head = JSON.stringify({ type: 'credentials', id, ...of }).slice(0, -1);
      raw.send(`${head},"error":${text}}`);
      await rig.pass(100);
      raw.send({ type: 'ping' });
      await rig.pass(100);
      expect([raw.received.at(-1), raw.end()]).toEqual([{ type: 'pong' }, undefined]);
    },
  );

  it.each([false, true])(
    'E6: a client that says nothing after its sign-in is gone, also beside a port that cannot be closed (hidden: %s)',
    async (isHidden) => {
      const rig = new UsersRig();
      const broken = {
        post: () => undefined,
        listen: (listener: (message: unknown) => void) =>
          queueMicrotask(() =>
            listener({ type: 'hello', protocol: 2, identity: 'x', isHidden: false }),
          ),
        close: () => {
          throw new Error('Object has been destroyed');
        },
      };
      rig.users.connect(broken, { request: null, signIn: () => ({ name: 'bob' }) });
      const { hello, end } = rig.raw();
      hello('t-ann', { isHidden });
      await rig.pass(isHidden ? 119_000 : 11_000);
      expect(end()).toBeUndefined();
      await rig.pass(isHidden ? 10_000 : 9_000);
      expect([end()?.code, rig.users.counts.connections]).toEqual([4408, 0]);
    },
  );

  it('E9: a port that throws, as that of a window that is gone, ends its connection alone', async () => {
    const rig = new UsersRig();
    let listener: (message: unknown) => void = () => undefined;
    const port = {
      post: () => {
        throw new Error('Object has been destroyed');
      },
      listen: (each: typeof listener) => {
        listener = each;
      },
      close: () => undefined,
    };
    rig.users.connect(port, { request: null, signIn: () => ({ name: 'ann' }) });
    listener({ type: 'hello', protocol: 2, identity: 'x', isHidden: false });
    await rig.pass(100);
    expect(rig.users.counts.connections).toBe(0);
  });

  it('E9: a message of another start, or of another session, opens nothing', async () => {
    const { rig, raw, of } = await signedIn();
    raw.send({ type: 'open', id: 1, query: QUERY, ...of, epoch: of['epoch'] + 1 });
    raw.send({ type: 'open', id: 2, query: QUERY, ...of, incarnation: 'other' });
    await rig.pass(1_000);
    expect(raw.received.map(({ type }) => type)).toEqual(['welcome', 'unknown']);
    expect(rig.api.openWatches).toHaveLength(0);
  });

  it.each<[string, object, RegExp]>([
    [
      'values of an in',
      { where: { path: 'metadata.name', in: Array.from({ length: 1_001 }, String) } },
      /more than 1000 values of an in/,
    ],
    [
      'conditions',
      {
        where: {
          or: Array.from({ length: 300 }, (_, at) => ({ path: 'metadata.name', eq: `${at}` })),
        },
      },
      /more than 200 parts/,
    ],
    [
      'levels',
      {
        where: Array.from({ length: 20 }).reduce<object>((not) => ({ not }), {
          path: 'metadata.name',
          eq: 'x',
        }),
      },
      /more than 16 levels/,
    ],
    [
      'columns',
      {
        select: Object.fromEntries(
          Array.from({ length: 300 }, (_, at) => [`c${at}`, 'metadata.name']),
        ),
      },
      /more than 200 parts/,
    ],
  ])('E9: a query with too many %s is refused before it is read', async (_what, part, message) => {
    const { rig, open, refused } = await signedIn();
    open(1, { ...QUERY, ...part });
    await rig.pass(100);
    expect(refused(1)?.message).toMatch(message);
    expect(rig.api.openWatches).toHaveLength(0);
  });

  it.each<[string, object]>([
    ['another path in the plural', { from: { ...QUERY.from, plural: '../../secrets' } }],
    ['a plural with a query', { from: { ...QUERY.from, plural: 'pods?x=1' } }],
    ['a group with a slash', { from: { ...QUERY.from, group: 'a/b' } }],
    ['a namespace with a slash', { namespace: '../kube-system' }],
    ['no kind', { from: {} }],
  ])('E9: %s is refused, and sends no request', async (_what, part) => {
    const { rig, raw, open } = await signedIn();
    open(1, { ...QUERY, ...part });
    await rig.pass(2_000);
    const paths = new Set(rig.api.requests.map(({ path }) => path));
    paths.delete('/apis/authentication.k8s.io/v1/tokenreviews');
    const texts = JSON.stringify(raw.received);
    expect([paths.size, /the query has failed|liveQuery: from is/.test(texts)]).toEqual([0, true]);
  });

  it('E9: queries of a connection and of a user are limited, and one that was closed makes room', async () => {
    const { rig, raw, of, open, refused } = await signedIn({
      limits: { queries: 3, pipelines: 5 },
    });
    for (const id of [1, 2, 3, 4]) open(id, { ...QUERY, limit: id });
    await rig.pass(100);
    expect(refused(4)?.message).toMatch(/a connection may have 3 queries/);
    raw.send({ type: 'close', id: 1, ...of });
    open(5, { ...QUERY, limit: 5 });
    await rig.pass(100);
    expect(refused(5)).toBeUndefined();
    const second = rig.raw();
    second.hello();
    await rig.pass(100);
    for (const id of [1, 2])
      second.send({ type: 'open', id, query: { ...QUERY, limit: 10 + id }, ...second.session() });
    await rig.pass(100);
    const many = second.received.find(({ type }) => type === 'refused') as
      | { error: { message: string } }
      | undefined;
    expect(many?.error.message).toMatch(/this user has 5 queries/);
    // Those that run already are answered, as after a reconnect.
    second.received.length = 0;
    const again = rig.raw();
    again.hello();
    await rig.pass(100);
    for (const id of [2, 3]) {
      again.send({ type: 'open', id, query: { ...QUERY, limit: id }, ...again.session() });
    }
    await rig.pass(100);
    expect(again.received.filter(({ type }) => type === 'refused')).toEqual([]);
    expect(again.received.filter(({ type }) => type === 'rows')).not.toEqual([]);
  });

  it.each<[string, (id: number) => object, () => UsersRig]>([
    [
      'its own informers',
      (id) => ({ labelSelector: `app=a${id}` }),
      () => new UsersRig({ limits: FEW }),
    ],
    [
      'the informers of all',
      (id) => ({ limit: id }),
      () => new UsersRig().serveShared({ rights: () => 'all', limits: FEW }),
    ],
  ])(
    'E9: of a user of %s who opens and closes ten new queries a second for a minute, as many run as may, those that linger included',
    async (_what, part, rigOf) => {
      const { rig, raw, of, open, refused } = await signedIn({}, rigOf());
      await rig.pass(5_000);
      const before = rig.time.pending;
      let [watches, timers] = [0, 0];
      const acknowledge = () => {
        const { set } = raw.received.findLast(({ type }) => type === 'rows') ?? {};
        if (set !== undefined) raw.send({ type: 'ack', set, ...of });
      };
      for (let id = 1; id <= 600; id++) {
        open(id, { ...QUERY, ...part(id) });
        raw.send({ type: 'close', id, ...of });
        if (id % 10 !== 0) continue;
        await rig.pass();
        acknowledge();
        watches = Math.max(watches, rig.api.openWatches.length);
        timers = Math.max(timers, rig.time.pending - before);
      }
      expect(raw.end()).toBeUndefined();
      expect(refused(30)?.message).toMatch(/this user has 20 queries/);
      expect(watches).toBeLessThanOrEqual(20);
      // A few for each query, of which 300 would linger.
      expect(timers).toBeLessThan(200);
      for (let waited = 0; waited < 8; waited++) {
        await rig.pass(5_000);
        acknowledge();
      }
      open(700, QUERY);
      await rig.pass();
      expect([refused(700), raw.end()]).toEqual([undefined, undefined]);
    },
  );

  it('E9: an edit is refused, and nothing is written', async () => {
    const { rig, raw, of } = await signedIn();
    const edit = {
      ...{ resource: { group: '', version: 'v1', plural: 'pods' }, namespace: 'a', name: 'web' },
      ...{ options: {}, timeoutMs: 1_000 },
    };
    raw.send({ type: 'edit', id: 1, edit, ...of });
    await rig.pass(1_000);
    const answer = raw.received.find(({ type }) => type === 'edited') as {
      error: { message: string };
    };
    expect(answer.error.message).toBe('this server takes no edits');
    expect(rig.api.requests.filter(({ method }) => method !== 'GET' && method !== 'POST')).toEqual(
      [],
    );
  });

  it('E9: a flood of messages, and of sign-ins, ends the connection', async () => {
    const { rig, raw } = await signedIn();
    for (let at = 0; at < 2_500; at++) raw.send({ type: 'ping' });
    await rig.pass(100);
    expect(raw.end()).toEqual({
      code: 4429,
      reason: 'this page has sent too many messages (limits.messagesPerSecond)',
    });
    const other = rig.raw();
    for (let at = 0; at < 50; at++) other.hello('t-bob');
    await rig.pass(100);
    expect(other.end()?.code).toBe(4429);
    const reviews = rig.api.requests.filter(({ path }) => path.includes('tokenreviews'));
    expect(reviews.length).toBeLessThan(15);
  });

  it('E9: a client that does not read ends with the messages that wait for it', async () => {
    const { rig, raw } = await signedIn();
    const server = rig.sockets[0]?.[1] as { bufferedAmount: number };
    server.bufferedAmount = 20_000_000;
    raw.send({ type: 'ping' });
    await rig.pass(100);
    expect(raw.end()).toEqual({
      code: 4429,
      reason: 'this page does not read its messages: 16 MB wait',
    });
  });

  it('E9: a client that acknowledges nothing has one set of each query, and is gone after 20 seconds', async () => {
    const { rig, raw, open } = await signedIn();
    open(1, QUERY);
    for (let at = 0; at < 5; at++) {
      rig.create('a', `p${at}`);
      await rig.pass(1_000);
    }
    expect(raw.received.filter(({ type }) => type === 'rows')).toHaveLength(1);
    await rig.pass(15_000);
    expect(raw.end()?.code).toBe(4408);
  });
});

describe('the upgrade', () => {
  it.each<[string, object | null, number | undefined]>([
    ['another origin', { host: 'localhost', origin: 'https://evil.example' }, 4403],
    [
      'another origin with a cookie',
      { host: 'localhost', origin: 'https://evil.example', cookie: 'session=ann' },
      4403,
    ],
    [
      'another host, as of DNS rebinding',
      { host: 'evil.example', origin: 'http://evil.example' },
      4403,
    ],
    ['the origin null of a sandboxed frame', { host: 'localhost', origin: 'null' }, 4403],
    ['a frame of another site', { host: 'localhost', 'sec-fetch-site': 'cross-site' }, 4403],
    [
      'the page of the server',
      { host: 'localhost:80', origin: 'http://localhost:80', 'sec-fetch-site': 'same-origin' },
      undefined,
    ],
    [
      'an origin that is allowed',
      { host: 'localhost', origin: 'https://portal.example', 'sec-fetch-site': 'cross-site' },
      undefined,
    ],
    ['a program without an origin', { host: 'localhost' }, undefined],
    ['a port within the program', null, undefined],
  ])('E10: a connection of %s', async (_what, headers, code) => {
    const rig = new UsersRig({ origins: ['https://portal.example'] });
    rig.request = headers === null ? null : ({ headers } as never);
    const { hello, end, received } = rig.raw();
    await rig.pass(10);
    if (code === undefined) hello();
    await rig.pass(100);
    expect([end()?.code, received.length]).toEqual([code, code === undefined ? 1 : 0]);
  });

  it('E10: connections that sign in are limited in all and per address, and those that do not within 10 seconds end', async () => {
    const rig = new UsersRig({ limits: { signingIn: 5, signingInOfAddress: 3 } });
    const all = [...'aaaabbbb'].map((address) => rig.raw(address));
    await rig.pass(10);
    expect(all.map(({ end }) => end()?.code)).toEqual([
      undefined,
      undefined,
      undefined,
      4429,
      undefined,
      undefined,
      4429,
      4429,
    ]);
    expect(rig.users.counts.signingIn).toBe(5);
    all[0]?.hello();
    await rig.pass(100);
    expect(rig.users.counts.signingIn).toBe(4);
    await rig.pass(10_000);
    expect(rig.users.counts).toEqual({ users: 1, connections: 1, signingIn: 0 });
    expect(all[1]?.end()?.code).toBe(4408);
  });

  it('E10: the connections of a user, and of all, are limited', async () => {
    const rig = new UsersRig({ limits: { connections: 3, connectionsOfUser: 2 } });
    const all = ['t-ann', 't-ann', 't-ann'].map((token) => {
      const raw = rig.raw();
      raw.hello(token);
      return raw;
    });
    await rig.pass(100);
    expect(all.map(({ end }) => end()?.code)).toEqual([undefined, undefined, 4429]);
    const bob = rig.raw();
    bob.hello('t-bob');
    const more = rig.raw();
    await rig.pass(100);
    expect([bob.end()?.code, more.end()?.code]).toEqual([undefined, 4429]);
  });
});

describe('the tab of another user', () => {
  it('E9: a hello with another token on the same connection ends what the former user has asked', async () => {
    const { rig, raw, of, open } = await signedIn();
    open(1, QUERY);
    await rig.pass(1_000);
    for (const set of [1, 2]) {
      raw.send({ type: 'ack', set, ...of });
      await rig.pass(10);
    }
    const { review } = rig;
    let answered: (user: unknown) => void = () => undefined;
    rig.review = () =>
      new Promise((resolve) => {
        answered = resolve;
      });
    raw.hello('t-bob');
    await rig.pass(10);
    rig.create('a', 'secret-of-ann');
    await rig.pass(1_000);
    expect(JSON.stringify(raw.received)).not.toContain('secret-of-ann');
    rig.review = review;
    answered({ name: 'bob', uid: 'u2', groups: ['team-b'] });
    await rig.pass(1_000);
    const now = raw.received.filter(({ type }) => type === 'welcome').at(-1) as never as typeof of;
    raw.send({
      type: 'open',
      id: 2,
      query: QUERY,
      incarnation: now['incarnation'],
      epoch: now['epoch'],
    });
    await rig.pass(2_000);
    expect(JSON.stringify(raw.received)).not.toContain('secret-of-ann');
    expect(rig.made).toEqual(['ann', 'bob']);
  });
});

describe('the options of a server and of a page', () => {
  it.each<[object, RegExp]>([
    [{ createFactory: undefined }, /serveUsers: createFactory/],
    [{ limits: { queries: 0 } }, /serveUsers: limits: queries is 0/],
    [{ limits: { querys: 5 } }, /serveUsers: limits: querys is no limit; there are connections,/],
    [{ hosts: 'localhost' }, /serveUsers: hosts/],
    [{ origins: 'https://a' }, /serveUsers: origins/],
    [{ lingerMs: -1 }, /serveUsers: lingerMs/],
  ])('E10: serveUsers refuses %j', (options, message) => {
    expect(() =>
      serveUsers({ createFactory: (() => undefined) as never, ...options } as never),
    ).toThrow(message);
  });

  it.each<[object, RegExp]>([
    [{ url: 'file:///x' }, /connectServer: url/],
    [{ url: '/queries' }, /connectServer: url/],
    [{ url: undefined }, /connectServer: pass url or port$/],
    [{ port: () => undefined }, /connectServer: pass url or port$/],
    [{ url: undefined, port: 5 }, /connectServer: port/],
    [
      { url: 'ws://ann:password@x/' },
      /connectServer: url has a user or a password; pass credentials$/,
    ],
    [{ credentials: undefined }, /connectServer: credentials/],
    [{ identity: '' }, /connectServer: identity/],
    [{ lingerMs: 'x' }, /connectServer: lingerMs/],
    [{ webSocket: 5 }, /connectServer: webSocket/],
  ])('E10: connectServer refuses %j', (options, message) => {
    const right = {
      url: 'ws://x/',
      identity: 'ann',
      credentials: () => ({}),
      webSocket: () => undefined,
    };
    expect(() => connectServer({ ...right, ...options } as never)).toThrow(message);
  });

  it('E10: connect refuses a connection without its request, without signIn, and what is no socket', () => {
    const rig = new UsersRig();
    const port = { post: () => undefined, listen: () => undefined, close: () => undefined };
    expect(() => rig.users.connect(port, { signIn: () => undefined } as never)).toThrow(
      /connect: request is undefined/,
    );
    expect(() => rig.users.connect(port, { request: null } as never)).toThrow(/connect: signIn/);
    expect(() => socketPort({} as never)).toThrow(/socketPort: the socket/);
  });

  it('E10: a port without codes, of a foreign page, is closed', () => {
    const rig = new UsersRig();
    let closed = 0;
    const port = { post: () => undefined, listen: () => undefined, close: () => closed++ };
    const request = { headers: { host: 'localhost', origin: 'https://evil.example' } };
    rig.users.connect(port, { request, signIn: () => undefined });
    expect([closed, rig.users.counts.connections]).toEqual([1, 0]);
  });
});
