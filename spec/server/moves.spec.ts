/** Tests pages that move from one server of users to another, whose informers are at another version. */
import {
  createInformerFactory,
  type KubernetesObject,
  type LiveQueries,
  type LiveQuery,
  liveQuery,
} from 'rx-informer';
import { configMaps, pods } from 'rx-informer/resources';
import {
  type Rights,
  type ServedUsers,
  type SharedQueriesByName,
  serveUsers,
} from 'rx-informer/server';
import { seededRandom } from 'rx-informer/testing';
import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { campaign } from '../support/campaign.ts';
import { ShownHistory } from './shown-history.ts';
import { followed, names, UsersRig } from './users-rig.ts';

const LIVE = { synced: true, stale: false, live: true, blocked: undefined, error: undefined };
const SECRET = 'a secret that all servers behind one address have';

const OWN: Rights = ({ name }) => (name === 'root' ? 'all' : ['a']);

interface HeldOptions {
  readonly secret?: string | null;
  readonly rights?: Rights;
  readonly queries?: SharedQueriesByName;
}

/** A server whose informers can be held at their version. */
class HeldServer {
  readonly users: ServedUsers;
  readonly #opened = new Subject<void>();
  #isHeld = false;

  constructor(
    rig: UsersRig,
    seed: number,
    { secret = SECRET, rights = OWN, queries = {} }: HeldOptions = {},
  ) {
    const { scheduler } = rig;
    const factory = createInformerFactory(rig.client('t-root'), {
      scheduler,
      demand: () => (this.#isHeld ? this.#opened : null),
    });
    this.users = serveUsers({
      ...{ factory, kinds: [pods, configMaps], scheduler, random: seededRandom(seed) },
      ...{ rights, queries },
      sharedSecret: secret ?? undefined,
    });
    factory.start();
  }

  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (!isHeld) this.#opened.next();
  }
}

/** Two servers, of which the second is held before something is created, and a page that moves to it. */
async function moved(
  secrets: readonly (string | null)[] = [SECRET, SECRET],
  {
    asked = names,
    list = 'new web',
    ...options
  }: HeldOptions & { asked?: typeof names; list?: string } = {},
) {
  const rig = new UsersRig();
  const [one, other] = secrets.map(
    (secret, at) => new HeldServer(rig, at, { secret, ...options }),
  ) as [HeldServer, HeldServer];
  rig.users = one.users;
  const page = rig.page('t-ann');
  const view = followed(page.view(asked));
  await rig.pass(5_000);
  other.hold(true);
  rig.create('a', 'new');
  rig.api.objects.delete(pods, { namespace: 'a', name: 'api' });
  await rig.pass(1_000);
  expect(view.shown()).toEqual({ list, ...LIVE });
  const move = () => {
    rig.users = other.users;
    rig.cut(rig.sockets.at(-1)?.[0]);
  };
  const messages = () => rig.toPages.slice(sent).filter((each) => /"rows":|"status":/.test(each));
  const sent = rig.toPages.length;
  return { rig, page, view, one, other, move, messages };
}

describe('a page that moves to another server', () => {
  it('E16: keeps its rows, stale, until the server has what the page has seen', async () => {
    const { rig, view, other, move, messages } = await moved();
    const lists = new Set<string>();
    view.view.subscribe(() => lists.add(view.shown().list));
    move();
    await rig.pass(900);
    expect([view.shown().stale, messages()]).toEqual([true, []]);
    await rig.pass(5_000);
    // What is old is sent, for those who have nothing newer.
    expect(messages().length).toBeGreaterThan(0);
    expect(view.shown()).toMatchObject({ list: 'new web', synced: false, stale: true });
    // The position that the old rows brought is that of the page, which moves once more.
    move();
    await rig.pass(5_000);
    expect(view.shown()).toMatchObject({ list: 'new web', synced: false, stale: true });
    expect(view.view.getSnapshot().status.staleSinceMs).toBeLessThan(rig.scheduler.now() - 5_000);
    other.hold(false);
    await rig.pass(500);
    expect(view.shown()).toEqual({ list: 'new web', ...LIVE });
    rig.create('a', 'last');
    await rig.pass(1_000);
    expect([view.shown().list, ...lists]).toEqual(['last new web', 'new web', 'last new web']);
  });

  it('E16: shows another query after 1 s, as stale, and says so until the server is there', async () => {
    const { rig, page, other, move } = await moved();
    move();
    await rig.pass(100);
    const both = liveQuery({ ...names, limit: 5 } as never) as typeof names;
    const next = followed(page.view(both));
    await rig.pass(900);
    expect(next.shown()).toMatchObject({ list: '', synced: false });
    await rig.pass(500);
    expect(next.shown()).toMatchObject({
      ...{ list: 'api web', synced: false, stale: true, live: false },
    });
    expect(next.view.getSnapshot().status).toMatchObject({ synced: false, stale: true });
    other.hold(false);
    await rig.pass(500);
    expect(next.shown()).toEqual({ list: 'new web', ...LIVE });
    expect(next.view.getSnapshot().status.staleSinceMs).toBeUndefined();
  });

  it('E16: is answered at once by a server that is as far, or further, also about kinds that it has not asked before', async () => {
    const { rig, page, view, other, move } = await moved();
    other.hold(false);
    await rig.pass(1_000);
    move();
    await rig.pass(500);
    expect(view.shown()).toEqual({ list: 'new web', ...LIVE });
    const maps = liveQuery({ from: configMaps, select: { name: 'metadata.name' } });
    const next = followed(page.view(maps));
    await rig.pass(500);
    expect(next.shown()).toEqual({ list: '', ...LIVE });
  });

  it('E16: is shown the rows of a server that does not get there within a minute', async () => {
    const { rig, view, move } = await moved();
    move();
    await rig.pass(59_000);
    expect(view.shown()).toMatchObject({ list: 'new web', stale: true });
    await rig.pass(2_000);
    expect(view.shown().list).toBe('api web');
  });

  it.each([
    ['the first server has no secret', [null, SECRET]],
    ['the second server has none', [SECRET, null]],
    ['they have different ones', [SECRET, `${SECRET}, and another`]],
  ])('E16: is answered as before if %s', async (_what, secrets) => {
    const { rig, view, move } = await moved(secrets);
    move();
    await rig.pass(700);
    expect(view.shown().list).toBe('api web');
  });

  it('E16: learns nothing of a version: it has no text that no server has made, and no text twice', async () => {
    const played = async (isOther: boolean) => {
      const { rig, page } = await moved();
      const sent = rig.toPages.length;
      for (let at = 0; isOther && at < 50; at++) rig.create('b', `hidden-${at}`);
      await rig.pass(1_000);
      rig.create('a', 'last');
      await rig.pass(10_000);
      page.close();
      const messages = rig.toPages.slice(sent);
      const positions = rig.toPages.flatMap((each) => JSON.parse(each).position ?? []);
      expect(new Set(positions).size).toBe(positions.length);
      const uid = String(
        rig.api.objects.get(pods, { namespace: 'a', name: 'last' })?.metadata?.uid,
      );
      const isText = /^[\w-]{70}$/;
      expect(positions.filter((each) => !isText.test(each))).toEqual([]);
      return messages.map((each) =>
        each.replaceAll(uid, 'its uid').replace(/"position":"[^"]+"/, '"position"'),
      );
    };
    const [one, other] = [await played(false), await played(true)];
    expect(other).toEqual(one);
    expect(one.join()).toContain('"position"');
  });

  it('E16: cannot ask by a made-up position how far the informers are', async () => {
    const { rig, other, page } = await moved();
    rig.users = other.users;
    page.close();
    const known = rig.toPages.map((each) => JSON.parse(each).position).find(Boolean) as string;
    const flipped = known.replace(/(?<=^.{50})./, (one) => (one === 'A' ? 'B' : 'A'));
    for (const position of ['', 'x', 'A'.repeat(70), `${known}AAAA`, flipped, known.slice(0, 40)]) {
      const raw = rig.raw();
      raw.hello('t-ann', { position });
      await rig.pass(50);
      const query = JSON.parse(JSON.stringify(names));
      raw.send({ type: 'open', id: 1, query, ...raw.session() });
      await rig.pass(50);
      raw.send({ type: 'ack', set: 1, ...raw.session() });
      await rig.pass(50);
      const complete = raw.received.filter((each) =>
        JSON.stringify(each).includes('"synced":true'),
      );
      expect([position, complete.length > 0]).toEqual([position, true]);
    }
    for (const position of [7, {}, null, ['x']]) {
      const raw = rig.raw();
      raw.hello('t-ann', { position });
      await rig.pass(50);
      expect(raw.end()?.code).toBe(4400);
    }
  });

  it('E16: a secret that is short is refused, and not quoted', () => {
    const rig = new UsersRig();
    expect(() => new HeldServer(rig, 1, { secret: 'short secret' })).toThrow(
      /sharedSecret (?!.*short secret).*32 characters/,
    );
  });

  const both = {
    reads: [pods, configMaps],
    ask: (_params: undefined, live: LiveQueries) => live.stream(names),
  };

  it.each([
    ['before', 'a query', names],
    ['after', 'a query', names],
    ['before', 'a named query of two kinds', { named: 'both' }],
    ['after', 'a named query of two kinds', { named: 'both' }],
  ])(
    'E12: rows whose right is revoked %s a move leave %s, although the next server is behind',
    async (when, _what, asked) => {
      let permitted = ['a', 'b'];
      const changes$ = new Subject<() => boolean>();
      const rights = Object.assign(
        (_user: unknown, { plural }: { readonly plural: string }) =>
          plural === 'pods' ? permitted : ['a', 'b', 'c'],
        { changes$ },
      );
      const { rig, view, other, move } = await moved(undefined, {
        ...{ rights, queries: { both }, asked: asked as typeof names, list: 'db new web' },
      });
      if (when === 'before') permitted = ['a'];
      move();
      await rig.pass(2_000);
      if (when === 'after') {
        expect(view.shown()).toMatchObject({ list: 'db new web', stale: true });
        permitted = ['a'];
        changes$.next(() => true);
        await rig.pass(2_000);
      }
      // The rows of the other server, of an earlier time.
      expect(view.shown()).toMatchObject({ list: 'api web', synced: false, stale: true });
      other.hold(false);
      await rig.pass(500);
      expect(view.shown()).toEqual({ list: 'new web', ...LIVE });
    },
  );

  it('E12: rows without any right leave at once with Forbidden, and after half a minute of failing questions, although the next server is behind', async () => {
    let permitted: readonly string[] | undefined = ['a'];
    const rights = () => {
      if (permitted === undefined) throw new Error('no answer');
      return permitted;
    };
    const forbidden = await moved(undefined, { rights });
    permitted = [];
    forbidden.move();
    await forbidden.rig.pass(500);
    expect(forbidden.view.shown()).toMatchObject({ list: '', synced: true, blocked: 'forbidden' });
    const told = forbidden.messages().length;
    await forbidden.rig.pass(5_000);
    // Nor does it become incomplete after the second in which the server might have got there.
    expect(forbidden.messages()).toHaveLength(told);
    permitted = ['a'];
    const unknown = await moved(undefined, { rights });
    permitted = undefined;
    unknown.move();
    await unknown.rig.pass(25_000);
    expect(unknown.view.shown()).toMatchObject({ list: 'new web', stale: true });
    await unknown.rig.pass(10_000);
    expect(unknown.view.shown()).toMatchObject({ list: '', synced: true });
  });

  it('E16: no row goes back, whatever servers pages move between', async () => {
    const { wrong, seen, isReplay } = await campaign(
      { name: 'MOVE', seeds: 12, command: 'spec/server/moves.spec.ts' },
      playedMoves,
    );
    expect(wrong).toEqual([]);
    if (isReplay) return;
    expect(seen.get('moves to a server that is behind') ?? 0).toBeGreaterThan(5);
  }, 600_000);
});

const versions = {
  from: pods,
  select: { name: 'metadata.name', version: 'metadata.resourceVersion' },
  orderBy: { path: 'metadata.name' },
} as const;

interface Row {
  readonly name?: string;
  readonly version?: string;
}

const textOf = (rows: readonly Row[]) =>
  rows.map(({ name, version }) => `${name}@${version}`).join(' ');

/** The queries of a page, each with the rows that it should show of all Pods. */
const QUERIES: readonly (readonly [LiveQuery<Row>, (all: readonly Row[]) => readonly Row[]])[] = [
  [liveQuery(versions) as never, (all) => all],
  [liveQuery({ ...versions, limit: 3 }) as never, (all) => all.slice(0, 3)],
  [
    liveQuery({ ...versions, where: { path: 'metadata.name', contains: '1' } }) as never,
    (all) => all.filter(({ name }) => name?.includes('1')),
  ],
];

/** Pages of two users move at random between three servers, which are held at random, while Pods change. */
async function playedMoves(seed: number) {
  const random = seededRandom(seed);
  const below = (count: number) => Math.floor(random() * count);
  const rig = new UsersRig();
  const servers = [1, 2, 3].map((at) => new HeldServer(rig, seed * 10 + at));
  const seen = new Map<string, number>();
  const states: (readonly KubernetesObject[])[] = [];
  const note = () => {
    states.push(rig.api.objects.list(pods));
  };
  note();
  const readers: { history: ShownHistory; shown(): string }[] = [];
  for (const token of ['t-ann', 't-root']) {
    rig.users = (servers[0] as HeldServer).users;
    const page = rig.page(token, { random });
    for (const [query, of] of QUERIES) {
      const view = page.view(query);
      const stateAt = (change: number) => {
        const all = (states[change] ?? []).filter(
          ({ metadata }) => token === 't-root' || metadata?.namespace === 'a',
        );
        const rows = all.map(({ metadata }) => ({
          name: metadata?.name,
          version: metadata?.resourceVersion,
        }));
        const sorted = rows.sort((one, next) => (String(one.name) < String(next.name) ? -1 : 1));
        return textOf(of(sorted as Row[]));
      };
      const history = new ShownHistory(stateAt, () => states.length - 1);
      const take = () => {
        const { rows, synced, stale } = view.getSnapshot();
        history.take({ rows: textOf(rows), isWhole: synced || stale === true });
      };
      view.subscribe(take);
      readers.push({ history, shown: () => textOf(view.getSnapshot().rows) });
    }
    await rig.pass(3_000);
  }
  for (let step = 0; step < 40; step++) {
    const kind = below(6);
    const namespace = below(2) === 0 ? 'a' : 'b';
    const name = `${namespace}${below(6)}`;
    const { objects } = rig.api;
    const known = objects.get(pods, { namespace, name });
    if (kind < 3) {
      if (known === undefined) rig.create(namespace, name);
      else if (kind === 0) objects.delete(pods, { namespace, name });
      else {
        objects.update(pods, {
          ...known,
          metadata: { ...known.metadata, labels: { step: `${step}` } },
        } as never);
      }
      note();
    } else if (kind === 3) {
      (servers[below(3)] as HeldServer).hold(below(2) === 0);
    } else {
      rig.users = (servers[below(3)] as HeldServer).users;
      for (const [page] of rig.sockets) if (below(2) === 0) rig.cut(page);
      seen.set('moves', (seen.get('moves') ?? 0) + 1);
    }
    await rig.pass(below(2_500));
    const isBehind = rig.toPages.at(-1)?.includes('"stale":true') === true;
    if (isBehind) {
      const what = 'moves to a server that is behind';
      seen.set(what, (seen.get(what) ?? 0) + 1);
    }
  }
  for (const each of servers) each.hold(false);
  await rig.pass(70_000);
  const wrong = readers.flatMap(({ history, shown }) => [
    ...history.wrong,
    ...(shown() === history.expected ? [] : [`at the end ${shown()}, not ${history.expected}`]),
  ]);
  return { wrong, seen };
}
