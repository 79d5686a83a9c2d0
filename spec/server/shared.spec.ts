/** Tests one factory for all users: each sees what the API server permits the user to list and watch, and nothing else. */
import {
  count,
  createInformerFactory,
  createLiveQueries,
  type InformerFactory,
  type LiveQueries,
  liveGroupBy,
  liveMap,
  liveQuery,
  namespaceFallback,
} from 'rx-informer';
import { configMaps, pods, secrets } from 'rx-informer/resources';
import type { RightsDecision, SharedQueriesByName } from 'rx-informer/server';
import { workerQuery } from 'rx-informer/worker';
import { of, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { followed, names, namesOf, UsersRig } from './users-rig.ts';

const LIVE = { synced: true, stale: false, live: true, blocked: undefined, error: undefined };
const DENIED = {
  ...{ list: '', synced: true, stale: false, live: false, blocked: 'forbidden' },
  error: undefined,
};
const watches = (rig: UsersRig, plural: string) =>
  rig.api.openWatches.filter(({ request }) => request.path.endsWith(`/${plural}`)).length;

/** Queries of the program outside those that a named query receives. */
let outside: LiveQueries | undefined;
const named = {
  counts: {
    reads: [pods],
    ask: (_params: undefined, live: LiveQueries) =>
      live
        .stream(liveQuery({ from: pods }))
        .pipe(liveGroupBy(({ metadata }) => metadata.namespace, { pods: count() })),
  },
  secretly: {
    reads: [pods],
    ask: (_params: undefined, live: LiveQueries) => live.stream(liveQuery({ from: secrets })),
  },
  mine: {
    reads: [pods],
    ask: (namespace: string) => namesOf(namespace),
    namespaces: (namespace: string) => [namespace],
  },
  outside: { reads: [pods], ask: () => (outside as LiveQueries).stream(names) },
  both: { reads: [pods, configMaps], ask: () => names },
  either: {
    reads: (plural: string) => (plural === 'pods' ? [pods] : [pods, configMaps]),
    ask: (_plural: string) => names,
  },
} satisfies SharedQueriesByName;

describe('one factory for all users', () => {
  it('E11: each user sees what the user may list and watch, by one watch for all users', async () => {
    const rig = new UsersRig().serveShared();
    const [ann, bob, root] = [rig.page('t-ann'), rig.page('t-bob'), rig.page('t-root')];
    const shown = [
      followed(ann.view(names)),
      followed(bob.view(names)),
      followed(root.view(names)),
      followed(bob.view(namesOf('a'))),
    ];
    await rig.pass(5_000);
    expect(shown.map((each) => each.shown())).toEqual([
      { list: 'api web', ...LIVE },
      { list: 'db', ...LIVE },
      { list: 'api db web', ...LIVE },
      DENIED,
    ]);
    rig.create('a', 'new');
    await rig.pass();
    expect(shown.map((each) => each.shown().list)).toEqual([
      'api new web',
      'db',
      'api db new web',
      '',
    ]);
    expect(watches(rig, 'pods')).toBe(1);
  });

  it('E11: a user of some namespaces learns which are shown, and of those that the query names', async () => {
    const rig = new UsersRig().serveShared();
    const ann = rig.page('t-ann');
    const both = liveQuery({ from: pods, namespace: ['a', 'b'], limit: 9 });
    const [all, some] = [followed(ann.view(names)), followed(ann.view(both))];
    await rig.pass(5_000);
    const accessOf = ({ view }: typeof all) => view.getSnapshot().status.access;
    expect(accessOf(all)).toMatchObject({ namespaces: ['a'], missing: [] });
    expect(accessOf(some)).toEqual({
      ...{ namespaces: ['a'], missing: ['b'] },
      message:
        'listing and watching pods is not permitted; shown: namespaces a. Not permitted in b',
    });
  });

  it('E11: two clusters that differ only in what is forbidden give the same messages', async () => {
    const played = async (isOther: boolean) => {
      const rig = new UsersRig().serveShared({ queries: named });
      const hidden = (at: number) => `hidden-${at}`;
      if (isOther) for (let at = 0; at < 20; at++) rig.create('b', hidden(at));
      const ann = rig.page('t-ann');
      const page = { from: pods, select: { name: 'metadata.name' }, limit: 1 } as const;
      const views = [
        names,
        namesOf('b'),
        liveQuery(page),
        liveQuery({ ...page, offset: 1 }),
        liveQuery({ ...page, fieldSelector: `metadata.name=${hidden(3)}`, namespace: 'b' }),
        liveQuery({ ...page, where: { path: 'metadata.name', contains: 'hidden' } }),
        workerQuery<typeof named, 'counts'>('counts'),
        workerQuery<typeof named, 'secretly'>('secretly'),
      ].map((query) => followed(ann.view(query as typeof names)));
      await rig.pass(5_000);
      const { objects } = rig.api;
      for (let at = 0; isOther && at < 20; at++) {
        objects.update(pods, {
          metadata: { namespace: 'b', name: hidden(at), labels: { at: `${at}` } },
        });
        await rig.pass(100);
      }
      if (!isOther) await rig.pass(2_000);
      rig.create('a', 'new');
      await rig.pass();
      if (isOther) objects.delete(pods, { namespace: 'b', name: hidden(3) });
      await rig.pass(70_000);
      // The server makes ids at random, also for what is hidden.
      const uid = String(objects.get(pods, { namespace: 'a', name: 'new' })?.metadata?.uid);
      const messages = rig.toPages.map((each) => each.replaceAll(uid, 'its uid'));
      return { messages, lists: views.map(({ shown }) => shown().list) };
    };
    const [one, other] = [await played(false), await played(true)];
    expect(one.lists.slice(0, 4)).toEqual(['api new web', '', 'api', 'new']);
    expect(other.messages).toEqual(one.messages);
    expect(one.messages.length).toBeGreaterThan(15);
  });

  it('E12: a right that is revoked takes the rows away, and one that is granted brings them, while the query is open', async () => {
    const decisions: RightsDecision[] = [];
    const rig = new UsersRig().serveShared({ onDecision: (each) => decisions.push(each) });
    const ann = followed(rig.page('t-ann').view(names));
    await rig.pass(5_000);
    expect(ann.shown().list).toBe('api web');
    rig.grant('read', { kind: 'User', name: 'ann' }, 'b');
    await rig.pass(5_000);
    expect(ann.shown()).toEqual({ list: 'api db web', ...LIVE });
    rig.revoke('read-ann', 'b');
    rig.revoke('read-team-a', 'a');
    await rig.pass(5_000);
    expect(ann.shown()).toEqual(DENIED);
    expect(ann.view.getSnapshot().status.error).toMatchObject({
      ...{ reason: 'Forbidden', code: 403 },
      message: 'listing and watching pods is not permitted',
    });
    expect(decisions).toEqual([
      { user: 'ann', kind: 'pods', asked: {}, permitted: ['a'] },
      { user: 'ann', kind: 'pods', asked: {}, permitted: ['a', 'b'] },
      { user: 'ann', kind: 'pods', asked: {}, permitted: [] },
    ]);
  });

  it('E12: rights that change without a binding are noticed within a minute', async () => {
    let permitted: 'all' | string[] = 'all';
    const errors: unknown[] = [];
    let questions = 0;
    const rig = new UsersRig().serveShared({
      rights: () => {
        questions++;
        return permitted;
      },
      onUnhandledError: (error) => errors.push(error),
    });
    const shown = [names, namesOf('a'), namesOf('b')].map((query) =>
      followed(rig.page('t-ann').view(query)),
    );
    const lists = () => shown.map((each) => each.shown().list);
    await rig.pass(5_000);
    expect(lists()).toEqual(['api db web', 'api web', 'db']);
    permitted = ['b'];
    await rig.pass(66_000);
    expect(lists()).toEqual(['db', '', 'db']);
    permitted = ['a', 'b'];
    await rig.pass(66_000);
    expect(lists()).toEqual(['api db web', 'api web', 'db']);
    // Each query asks at its beginning, and twice later.
    expect([questions, errors]).toEqual([9, []]);
  });

  it('E12: a rule with resourceNames permits the query for this name alone', async () => {
    const rig = new UsersRig().serveShared();
    rig.grant('one', { kind: 'User', name: 'bob' }, 'a', { resourceNames: ['web'] });
    const queries = ['web', 'api'].map((name) =>
      liveQuery({
        ...{ from: pods, namespace: 'a', limit: 5 },
        fieldSelector: `metadata.name=${name}`,
      }),
    );
    const page = rig.page('t-bob');
    const rows = [...queries, namesOf('a')].map((query) => page.view(query as typeof names));
    for (const view of rows) view.subscribe(() => undefined);
    await rig.pass(5_000);
    expect(rows.map((view) => view.getSnapshot().rows.length)).toEqual([1, 0, 0]);
  });

  it('E12: other groups ask anew', async () => {
    const rig = new UsersRig().serveShared();
    const root = followed(rig.page('t-root').view(names));
    await rig.pass(5_000);
    expect(root.shown().list).toBe('api db web');
    rig.tokens['t-root'] = { name: 'root', groups: ['team-b'] };
    await rig.pass(70_000);
    expect(root.shown()).toEqual({ list: 'db', ...LIVE });
  });

  it('E12: a right to a kind is none to one of another group with its plural', async () => {
    const others = { ...pods, group: 'example.com', apiVersion: 'example.com/v1' };
    const rig = new UsersRig().serveShared({
      kinds: [pods, others],
      rights: (_user, { group }) => (group === '' ? 'all' : []),
    });
    const page = rig.page('t-ann');
    const ofOthers = liveQuery({ from: others, select: { name: 'metadata.name' } });
    const shown = [followed(page.view(names)), followed(page.view(ofOthers as never))];
    await rig.pass(5_000);
    expect(shown.map((each) => each.shown().blocked)).toEqual([undefined, 'forbidden']);
  });

  it('E12: a query that is opened again within its linger asks for rights, which other queries share', async () => {
    const asked: string[] = [];
    const rights = (_user: unknown, { plural }: { readonly plural: string }) => {
      asked.push(plural);
      return ['a'];
    };
    const rig = new UsersRig().serveShared({ rights });
    const raw = rig.raw();
    raw.hello();
    await rig.pass(5_000);
    const open = async (id: number, limit: number) => {
      raw.send({ type: 'open', id, query: { ...names, limit }, ...raw.session() });
      await rig.pass(100);
    };
    await open(1, 5);
    raw.send({ type: 'close', id: 1, ...raw.session() });
    await rig.pass(100);
    expect(asked).toEqual(['pods']);
    await open(2, 5);
    await open(3, 6);
    expect(asked).toEqual(['pods', 'pods']);
  });

  it('E12: nothing is permitted by an answer that is no list of namespaces, and a failed question takes rights away after half a minute', async () => {
    let answer: () => unknown = () => ['a'];
    const errors: unknown[] = [];
    const rig = new UsersRig().serveShared({
      rights: (async () => answer()) as never,
      onUnhandledError: (error) => errors.push(error),
    });
    const ann = followed(rig.page('t-ann').view(names));
    await rig.pass(5_000);
    expect(ann.shown().list).toBe('api web');
    answer = () => {
      throw new Error('the database of rights is away at 10.0.0.1');
    };
    await rig.pass(75_000);
    expect(ann.shown().list).toBe('api web');
    await rig.pass(30_000);
    expect(ann.shown()).toMatchObject({ list: '', synced: true, live: false });
    expect(ann.view.getSnapshot().status.error?.message).toBe(
      'whether pods may be read is not known',
    );
    expect(errors).toHaveLength(1);
    answer = () => ['a'];
    await rig.pass(60_000);
    expect(ann.shown()).toEqual({ list: 'api web', ...LIVE });
    // What was permitted is so no more.
    answer = () => ({ all: true });
    await rig.pass(66_000);
    expect(ann.shown().list).toBe('');
    for (const wrong of [true, '', 'a', [''], ['a', 1], undefined, null, { all: true }]) {
      answer = () => wrong;
      const bob = followed(rig.page('t-bob').view(names));
      await rig.pass(5_000);
      expect([wrong, bob.shown().list]).toEqual([wrong, '']);
    }
    // A question without an answer, too.
    answer = () => new Promise(() => undefined);
    const root = followed(rig.page('t-root').view(names));
    await rig.pass(60_000);
    expect(root.shown()).toMatchObject({ list: '', synced: true });
  });

  it('E12: a question that failed takes no rights away if the next one is answered', async () => {
    let fails = false;
    const rig = new UsersRig().serveShared({
      rights: async () => {
        if (!fails) return ['a'];
        fails = false;
        throw new Error('the database of rights is away');
      },
      onUnhandledError: () => undefined,
    });
    const ann = followed(rig.page('t-ann').view(names));
    await rig.pass(5_000);
    fails = true;
    for (let passed = 0; passed < 120_000; passed += 5_000) {
      await rig.pass(5_000);
      expect(ann.shown()).toEqual({ list: 'api web', ...LIVE });
    }
    expect(fails).toBe(false);
  });

  it('E19: the program is told the same error once a minute, and of one user at most ten', async () => {
    const told: string[] = [];
    const rig = new UsersRig().serveShared({
      rights: ({ name }, _kind, { name: one }) =>
        Promise.reject(new Error(name === 'ann' ? `no review of ${one}` : '400 reviews wait')),
      onUnhandledError: (error) => told.push((error as Error).message),
    });
    const ask = (page: ReturnType<typeof rig.page>, name: string) => {
      const fieldSelector = `metadata.name=${name}`;
      followed(page.view(liveQuery({ from: pods, fieldSelector, select: { n: 'metadata.name' } })));
    };
    const [ann, bob] = [rig.page('t-ann'), rig.page('t-bob')];
    await rig.pass(100);
    for (let at = 0; at < 40; at++) {
      ask(ann, `a${at}`);
      ask(bob, `b${at}`);
    }
    await rig.pass(50_000);
    expect(told.filter((text) => text === '400 reviews wait')).toHaveLength(1);
    expect(told).toHaveLength(11);
    ask(bob, 'later');
    await rig.pass(20_000);
    ask(bob, 'last');
    await rig.pass(1_000);
    expect(told.filter((text) => text === '400 reviews wait')).toHaveLength(2);
  });

  it('E13: no query of a client causes a request; what the objects of the server cannot answer is refused', async () => {
    const rig = new UsersRig().serveShared();
    const page = rig.page('t-root');
    followed(page.view(names));
    await rig.pass(5_000);
    const before = rig.api.requests.length;
    const refused = [
      liveQuery({ ...{ from: pods, limit: 5 }, fieldSelector: 'spec.nodeName=n1' }),
      liveQuery({ from: pods, as: 'metadata', limit: 5 }),
      liveQuery({ from: secrets, limit: 5 }),
      liveQuery({ from: pods, where: { index: 'byOwner', eq: 'x' }, limit: 5 }),
      workerQuery<Record<string, () => typeof names>, 'nothing'>('nothing'),
    ].map((query) => followed(page.view(query as never)));
    const other = followed(
      page.view(
        liveQuery({
          from: { ...pods, version: 'v46' },
          select: { name: 'metadata.name' },
          limit: 9,
        }),
      ),
    );
    await rig.pass(1_000);
    expect(refused.map((each) => each.shown().error)).toEqual([
      'the server has complete pods, and cannot answer fieldSelector "spec.nodeName=n1" from them; use where',
      "the server has complete pods, and cannot answer as: 'metadata' from them; leave it out, and use select",
      'the server does not have secrets; it has pods, configmaps, clusterroles.rbac.authorization.k8s.io',
      'the server has no index "byOwner" of pods',
      'the server has no query "nothing"',
    ]);
    expect(other.shown().list).toBe('api web db');
    expect(rig.api.requests.length).toBe(before);
  });

  it('E13: a user has no more queries than the limit, and what is closed makes room', async () => {
    const rig = new UsersRig().serveShared({ limits: { pipelines: 2 } });
    const page = rig.page('t-ann');
    const [one] = [followed(page.view(names)), followed(page.view(namesOf('a')))];
    const third = page.view(namesOf('b'));
    const refused = followed(third);
    await rig.pass(5_000);
    expect(refused.shown().error).toMatch(/this user has 2 queries/);
    refused.leave();
    one.leave();
    await rig.pass(5_000);
    // What lingers counts, because it runs.
    const early = followed(page.view(liveQuery({ from: pods, limit: 1 })));
    await rig.pass(1_000);
    expect(early.shown().error).toMatch(/this user has 2 queries/);
    early.leave();
    await rig.pass(60_000);
    expect(followed(third).shown().list).toBe('');
    await rig.pass(5_000);
    expect(third.getSnapshot().error).toBeUndefined();
  });

  it('E9: the limits of a user count what the user has with other groups and extra, too', async () => {
    const rig = new UsersRig().serveShared({ limits: { pipelines: 3, connectionsOfUser: 3 } });
    let extra = 0;
    rig.review = (token) => ({ ...rig.tokens[token], extra: { at: [`${extra++}`] } });
    const shown = [names, namesOf('a'), liveQuery({ from: pods, limit: 1 })].map((query, at) => {
      const page = rig.page('t-ann', { identity: `${at}` });
      const views = [followed(page.view(query as typeof names))];
      if (at > 0) views.push(followed(page.view(liveQuery({ from: pods, limit: 2 + at }))));
      return views;
    });
    await rig.pass(5_000);
    expect(rig.users.counts).toMatchObject({ users: 3, connections: 3 });
    const refused = shown.flat().filter((each) => each.shown().error !== undefined);
    expect(refused.map((each) => each.shown().error)).toEqual([
      'this user has 3 queries (limits.pipelines); close some, and ask again in a minute',
      'this user has 3 queries (limits.pipelines); close some, and ask again in a minute',
    ]);
    const fourth = rig.page('t-ann');
    // Another user has limits of its own.
    const bob = followed(rig.page('t-bob').view(names));
    await rig.pass(5_000);
    expect(fourth.connection.error?.message).toMatch(
      /this user has its most connections \(limits.connectionsOfUser\); close other pages \(4429\)/,
    );
    expect(bob.shown().list).toBe('db');
  });

  it('E12: a user who is bound in more than 100 namespaces is told that the others were not asked for', async () => {
    const rig = new UsersRig().serveShared();
    for (let at = 0; at < 101; at++) {
      rig.grant(`in-${at}`, { kind: 'User', name: 'bob' }, `n-${String(at).padStart(3, '0')}`);
    }
    const page = rig.page('t-bob');
    const some = followed(page.view(names));
    const named = followed(page.view(namesOf('n-100')));
    await rig.pass(30_000);
    const { access } = some.view.getSnapshot().status;
    expect(access?.namespaces).toHaveLength(100);
    expect(access?.message).toMatch(
      /Of the namespaces with bindings of the user, only the first 100 by name were asked for; name others in the query$/,
    );
    expect(named.shown()).toEqual({ list: '', ...LIVE });
    expect(named.view.getSnapshot().status.access).toBeUndefined();
  });

  it('E13: the informers are held without a user, and released when the server ends', async () => {
    const rig = new UsersRig().serveShared();
    await rig.pass(60_000);
    expect(watches(rig, 'pods')).toBe(1);
    rig.users.drain();
    await rig.pass(60_000);
    expect(watches(rig, 'pods')).toBe(0);
  });
});

describe('queries with names over one factory', () => {
  it('E14: a named query reads what its user may read, and is computed once for users with equal rights', async () => {
    const rig = new UsersRig();
    rig.tokens['t-eve'] = { name: 'eve', groups: ['team-a'] };
    let runs = 0;
    const counted: SharedQueriesByName = {
      counts: {
        reads: [pods],
        ask: (_params: undefined, live: LiveQueries) => {
          runs++;
          return named.counts.ask(_params, live);
        },
      },
    };
    rig.serveShared({ queries: counted });
    const query = workerQuery<typeof named, 'counts'>('counts');
    const views = ['t-ann', 't-eve', 't-bob', 't-root'].map((token) => {
      const view = rig.page(token).view(query);
      view.subscribe(() => undefined);
      return view;
    });
    await rig.pass(5_000);
    const rows = () => views.map((view) => view.getSnapshot().rows);
    const [a, b] = [
      { key: 'a', pods: 2 },
      { key: 'b', pods: 1 },
    ];
    expect(rows()).toEqual([[a], [a], [b], [a, b]]);
    expect(runs).toBe(3);
    rig.create('a', 'new');
    await rig.pass();
    expect(rows()[1]).toEqual([{ key: 'a', pods: 3 }]);
    const [status] = views.map((view) => view.getSnapshot().status);
    expect(status).toMatchObject({ live: true, synced: true, refused: 0 });
  });

  it('E14: a query that names its namespaces needs no binding that proposes them', async () => {
    const rig = new UsersRig();
    rig.serveShared({ queries: named, rights: rig.reviews({ bindings: undefined }) });
    const query = workerQuery<typeof named, 'mine'>('mine', 'a');
    const [ann, bob] = ['t-ann', 't-bob'].map((token) => followed(rig.page(token).view(query)));
    await rig.pass(5_000);
    expect(ann?.shown()).toEqual({ list: 'api web', ...LIVE });
    expect(bob?.shown()).toEqual(DENIED);
  });

  it('E14: a user without rights to one of its kinds is answered Forbidden', async () => {
    const rig = new UsersRig().serveShared({ queries: named });
    const both = followed(rig.page('t-ann').view(workerQuery<typeof named, 'both'>('both')));
    await rig.pass(5_000);
    expect(both.shown()).toEqual(DENIED);
    expect(both.view.getSnapshot().status.error?.message).toBe(
      'listing and watching configmaps is not permitted',
    );
  });

  it('E14: the kinds that a named query reads may follow from its parameters', async () => {
    const rig = new UsersRig();
    rig.serveShared({
      rights: (_user, { plural }) => (plural === 'pods' ? ['a'] : []),
      queries: named,
    });
    const page = rig.page('t-ann');
    const [all, both] = ['pods', 'configmaps'].map((plural) =>
      followed(page.view(workerQuery<typeof named, 'either'>('either', plural))),
    );
    await rig.pass(5_000);
    expect(all?.shown().list).toBe('api web');
    expect(both?.shown()).toMatchObject(DENIED);
  });

  it('E14: rows of a kind that is not in reads, or of another informer, are an error of the query, of which the program is told', async () => {
    const errors: unknown[] = [];
    const rig = new UsersRig();
    rig.serveShared({ queries: named, onUnhandledError: (error) => errors.push(error) });
    outside = createLiveQueries(rig.factory as InformerFactory);
    const page = rig.page('t-ann');
    const secretly = followed(page.view(workerQuery<typeof named, 'secretly'>('secretly')));
    const other = followed(page.view(workerQuery<typeof named, 'outside'>('outside')));
    await rig.pass(5_000);
    for (const { shown, view } of [secretly, other]) {
      expect(shown().list).toBe('');
      const { status, error } = view.getSnapshot();
      expect(JSON.stringify([status.error?.message, error?.message])).not.toMatch(/secrets|reads/);
      expect(status.error ?? error).toBeDefined();
    }
    expect(errors.map((each) => (each as Error).message)).toEqual([
      'the server does not have secrets; it has pods, configmaps, clusterroles.rbac.authorization.k8s.io',
      'workerQuery outside has rows of an informer that it was not given; read by the live queries that it receives',
    ]);
  });

  it('E14: what a client sends beside a name and parameters makes no other run', async () => {
    const rig = new UsersRig();
    let runs = 0;
    const ask = (params: undefined, live: LiveQueries) => {
      runs++;
      return named.counts.ask(params, live);
    };
    rig.serveShared({ queries: { counts: { reads: [pods], ask } }, limits: { pipelines: 2 } });
    const raw = rig.raw();
    raw.hello();
    await rig.pass(5_000);
    for (let id = 0; id < 50; id++) {
      raw.send({ type: 'open', id, query: { named: 'counts', junk: id }, ...raw.session() });
    }
    await rig.pass(5_000);
    expect(raw.received.filter(({ type }) => type === 'refused')).toEqual([]);
    expect(runs).toBe(1);
  });

  it('E14: parameters that JSON does not tell apart reach the function as one value, whoever asks first', async () => {
    const params: unknown[] = [];
    const rig = new UsersRig().serveShared({
      rights: () => ['a'],
      queries: {
        top: {
          reads: [pods],
          ask: (given: { readonly most: unknown }, live: LiveQueries) => {
            params.push(given);
            return live.stream(names);
          },
        },
      },
    });
    await rig.pass(2_000);
    for (const [token, most] of [
      ['t-ann', '1e999'],
      ['t-bob', 'null'],
      ['t-root', '-0'],
    ] as const) {
      const { hello, send, session } = rig.raw();
      hello(token);
      await rig.pass(100);
      const open = JSON.stringify({ type: 'open', id: 1, query: { named: 'top' }, ...session() });
      send(open.replace('"top"', `"top","params":{"most":${most}}`));
      await rig.pass(500);
    }
    expect(params).toEqual([{ most: null }, { most: 0 }]);
  });

  it('E14: a page is told of at most 20 refused rows of a query', async () => {
    const rig = new UsersRig();
    const metadata = (at: number) => ({ namespace: 'a', name: `odd-${at}` });
    for (let at = 0; at < 30; at++) rig.api.objects.create(pods, { metadata: metadata(at) });
    const ask = (_params: undefined, live: LiveQueries) =>
      live.stream(liveQuery({ from: pods })).pipe(
        liveMap(({ metadata: { name } }): { readonly name: string } => {
          if (name.startsWith('odd')) throw new Error('odd');
          return { name };
        }),
      );
    rig.serveShared({ queries: { odd: { reads: [pods], ask } } });
    const query = workerQuery<{ odd: typeof ask }, 'odd'>('odd', undefined);
    const { view } = followed(rig.page('t-root').view(query));
    await rig.pass(5_000);
    const { rows, status } = view.getSnapshot();
    expect([rows.length, status.refusedRows.length]).toEqual([3, 20]);
  });

  it('E14: functions that return promises that reject, or throw, or streams of no change sets, end no process, and the program is told', async () => {
    const errors: unknown[] = [];
    const reject = (text: string) => async () => {
      throw new Error(text);
    };
    const rig = new UsersRig();
    const changes = new Subject<never>();
    const rights = Object.assign(() => ['a'], { changes$: changes });
    rig.serveShared({
      ...{ rights, onDecision: reject('decision') },
      onUnhandledError: (error) => errors.push((error as Error).message),
      queries: {
        ask: { reads: [pods], ask: reject('ask') as never },
        of: { reads: [pods], ask: () => names, namespaces: reject('namespaces') as never },
        kinds: { reads: reject('reads') as never, ask: () => names },
        none: { reads: () => [], ask: () => names },
        foreign: { reads: () => [secrets], ask: () => names },
        text: { reads: [pods], ask: () => names, namespaces: (() => 'shop') as never },
        number: { reads: [pods], ask: () => of(5) as never },
        nothing: { reads: [pods], ask: () => of(undefined) as never },
      },
    });
    const page = rig.page('t-ann');
    const asked = ['ask', 'of', 'kinds', 'none', 'foreign', 'text', 'number', 'nothing'];
    const views = asked.map((name) =>
      followed(page.view(workerQuery<Record<string, () => typeof names>, string>(name))),
    );
    await rig.pass(5_000);
    changes.next((() => {
      throw new Error('changes');
    }) as never);
    await rig.pass(5_000);
    expect(views.map(({ shown }) => shown().list)).toEqual(views.map(() => ''));
    expect(errors).toEqual(
      expect.arrayContaining([
        ...['decision', 'ask', 'namespaces', 'reads', 'changes'],
        'serveUsers: queries: none: reads is empty; name the kinds',
        'the server does not have secrets; it has pods, configmaps, clusterroles.rbac.authorization.k8s.io',
        'workerQuery ask: ask has returned a promise; return a query or a stream',
        'serveUsers: queries: text: namespaces must return names of namespaces, but returned "shop"',
        'workerQuery number: its stream emits 5 that is no change set; use live operators, such as liveMap, to change rows',
        'workerQuery nothing: its stream emits undefined that is no change set; use live operators, such as liveMap, to change rows',
      ]),
    );
    const [ask] = views;
    expect(ask?.view.getSnapshot().status.error).toMatchObject({ code: 500 });
  });

  it('E14: invalid options are refused by name', () => {
    const rig = new UsersRig();
    const refusal = (options: object) => () => rig.serveShared(options as never);
    expect(refusal({ queries: { mine: () => names } })).toThrow(/queries: mine must be \{ reads/);
    expect(refusal({ queries: { mine: { reads: [secrets], ask: () => names } } })).toThrow(
      /does not have secrets/,
    );
    expect(refusal({ queries: { mine: { reads: [], ask: () => names } } })).toThrow(
      /mine: reads is empty/,
    );
    expect(refusal({ kinds: [pods, pods] })).toThrow(/pods is there twice/);
    expect(refusal({ rights: 'all' })).toThrow(/rights/);
    const factory = createInformerFactory(rig.client('t-root'), {
      namespaceFallback: namespaceFallback(),
    });
    expect(refusal({ factory })).toThrow(/namespaceFallback/);
  });
});
