/** Tests that a user who asks much waits for itself: the turns at first answers, and what users may spend. */
import { type LiveQueries, liveQuery } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import type { ServeUsersLimits } from 'rx-informer/server';
import { describe, expect, it } from 'vitest';
import { followed, UsersRig } from './users-rig.ts';

/** A server with a named query, each first answer of which takes 60 ms of the clock. */
function slowServer(limits: ServeUsersLimits = {}, rightsMs = 0) {
  const rig = new UsersRig();
  let tookMs = 0;
  const scheduler = {
    now: () => rig.scheduler.now() + tookMs,
    schedule: ((...given: Parameters<typeof rig.scheduler.schedule>) =>
      rig.scheduler.schedule(...given)) as typeof rig.scheduler.schedule,
  };
  /** Whose answers were made, in this order, and when. */
  const answered: string[] = [];
  const atMs: number[] = [];
  const slow = {
    reads: [pods],
    ask: (params: unknown, _live: LiveQueries) => {
      answered.push((params as { of: string }).of);
      atMs.push(rig.scheduler.now());
      tookMs += 60;
      return liveQuery({ from: pods, select: { name: 'metadata.name' } });
    },
  };
  const rights = async () => {
    if (rightsMs > 0)
      await new Promise<void>((resolve) => void rig.scheduler.schedule(resolve, rightsMs));
    return 'all' as const;
  };
  /** Starts the server, in place of the one that runs. */
  const serve = () => rig.serveShared({ scheduler, queries: { slow }, rights, limits });
  serve();
  const user = async (name: string, hello: object = {}) => {
    const raw = rig.raw();
    raw.hello(`t-${name}`, hello);
    await rig.pass(100);
    const of = raw.session();
    let ids = 0;
    const send = (message: object) => raw.send({ ...message, ...of });
    const ask = (params: object = {}) => {
      const query = { named: 'slow', params: { of: name, at: ids, ...params } };
      send({ type: 'open', id: ids, query });
      return ids++;
    };
    const open = (count: number, params: object = {}) => {
      for (let at = 0; at < count; at++) ask(params);
    };
    const refused = () =>
      raw.received.flatMap(({ type, error }) =>
        type === 'refused'
          ? [error as { message: string; api: { code: number; retryAfterMs: number } }]
          : [],
      );
    return { ...raw, send, ask, open, refused };
  };
  return { rig, serve, user, answered, atMs };
}

const count = { of: 'count' };
const window = { of: 'window', limit: 50 };

describe('the answers of one user', () => {
  it('E20: are first those of windows, then what was asked last', async () => {
    const { rig, user, answered } = slowServer();
    const { ask } = await user('ann');
    ask({ of: 'first' });
    ask({ of: 'window 1', limit: 50 });
    ask({ of: 'window 2', limit: 1 });
    ask({ of: 'rows' });
    ask({ of: 'total', limit: 0 });
    ask({ of: 'other', limit: '50' });
    await rig.pass(1_000);
    // The first one is answered before the others are there.
    const order = ['first', 'window 2', 'window 1', 'other', 'total', 'rows'];
    expect(answered).toEqual(order);
  });

  it.each([
    ['known', 0],
    ['asked for', 500],
  ])(
    'E20: are first those of pages that are shown, also of what a hidden page has asked before, while rights are %s',
    async (_which, rightsMs) => {
      const { rig, user, answered } = slowServer({}, rightsMs);
      const hidden = await user('ann', { isHidden: true });
      const shown = await user('ann');
      shown.ask({ of: 'first' });
      hidden.ask({ of: 'both', at: 0 });
      shown.open(2, { of: 'shown' });
      shown.ask({ of: 'both', at: 0 });
      hidden.open(4, { of: 'hidden', limit: 50 });
      await rig.pass(2_000);
      expect(answered[0]).toBe('first');
      expect(answered.slice(1, 4).sort()).toEqual(['both', 'shown', 'shown']);
      expect(answered).toHaveLength(8);
    },
  );

  it('E20: are first those of a page that is shown while its queries wait', async () => {
    const { rig, user, answered } = slowServer();
    const hello = { isHidden: true };
    const [one, other] = [await user('ann', hello), await user('ann', hello)];
    one.open(4, { of: 'shown' });
    other.open(4, { of: 'hidden', limit: 50 });
    one.send({ type: 'hidden', isHidden: false });
    await rig.pass(1_000);
    expect(answered.lastIndexOf('shown')).toBeLessThan(5);
    expect(answered).toHaveLength(8);
  });

  it('E20: are made of every query in the end: of four, one is what has waited longest', async () => {
    // Beyond a tenth of the limit an answer is followed by a pause, in which a page asks more than is answered.
    const { rig, user, answered } = slowServer({ queries: 1_000, pipelines: 1_000 });
    const ann = await user('ann');
    ann.open(60, window);
    await rig.pass(4_000);
    expect(answered).toHaveLength(60);
    answered.length = 0;
    ann.open(4, count);
    for (let at = 0; at < 25; at++) {
      ann.open(2, window);
      await rig.pass(60);
    }
    expect(answered.filter((each) => each === 'count')).toHaveLength(4);
    expect(answered.length).toBeLessThan(50);
  });

  it('E20: come before those of no other user, whatever a page calls a window', async () => {
    const orders = await Promise.all(
      [count, window].map(async (asked) => {
        const { rig, user, answered } = slowServer();
        const [ann, bob] = [await user('ann'), await user('bob')];
        ann.open(30, { ...asked, of: 'ann' });
        bob.open(5, { of: 'bob' });
        ann.open(30, { ...asked, of: 'ann' });
        await rig.pass(3_000);
        return answered;
      }),
    );
    expect(orders[1]).toEqual(orders[0]);
    expect(orders[1]?.lastIndexOf('bob')).toBeLessThan(12);
  });

  it('E20: begin with the window after a reconnect, of a page that asked it last or first', async () => {
    for (const asked of [
      [count, window, count, count, count],
      [count, count, count, count, window],
    ]) {
      const { rig, serve, answered } = slowServer();
      const page = rig.page('t-ann');
      for (const [at, params] of asked.entries()) {
        followed(page.view({ named: 'slow', params: { ...params, at } } as never));
        await rig.pass(1_000);
      }
      expect(answered).toHaveLength(5);
      answered.length = 0;
      serve();
      await rig.pass(5_000);
      expect(answered).toHaveLength(5);
      // The first one is answered before the others are there.
      expect(answered.indexOf('window')).toBeLessThan(2);
    }
  });
});

describe('fair shares', () => {
  it('E19: first answers take turns, so that those of one user stand before no first one of another user', async () => {
    const { rig, user, answered } = slowServer();
    const [ann, bob, root] = [await user('ann'), await user('bob'), await user('root')];
    ann.open(30);
    bob.open(2);
    root.open(1);
    await rig.pass(1_000);
    expect(answered).toHaveLength(33);
    // A query takes a turn to be opened, and one when its rights are known.
    expect(Math.max(answered.indexOf('bob'), answered.indexOf('root'))).toBeLessThan(6);
    expect(answered.lastIndexOf('bob')).toBeLessThan(8);
  });

  it('E19: behind the answers of a user who has used a tenth of the limit, others have as long for themselves', async () => {
    const { rig, user, atMs } = slowServer();
    const ann = await user('ann');
    ann.open(30);
    await rig.pass(3_000);
    const gaps = atMs.slice(1).map((each, at) => each - (atMs[at] as number));
    expect(gaps.slice(0, 14).every((each) => each < 60)).toBe(true);
    expect(gaps.slice(24).every((each) => each >= 60)).toBe(true);
    expect(atMs).toHaveLength(30);
  });

  it('E19: a query that is closed before its turn costs nothing, and one that waits counts', async () => {
    const { rig, user, answered } = slowServer({ queries: 25 });
    const ann = await user('ann');
    ann.open(30);
    for (let id = 0; id < 30; id++) ann.send({ type: 'close', id });
    await rig.pass(1_000);
    expect(answered.length).toBeLessThan(5);
    expect(ann.refused().map(({ message }) => message)).toEqual(
      Array.from(
        { length: 5 },
        () => 'a connection may have 25 queries (limits.queries); close some first',
      ),
    );
  });

  it('E19: the answers of a user who leaves before its turn are not made', async () => {
    const { rig, user, answered } = slowServer();
    const ann = await user('ann');
    ann.open(30);
    ann.send({ type: 'bye' });
    await rig.pass(1_000);
    expect(answered.length).toBeLessThan(5);
  });

  it('E19: a user whose first answers have taken the time of a minute is refused, until the time has passed, and no other user is', async () => {
    const { rig, user, answered } = slowServer({ answerMsPerMinuteOfUser: 300 });
    const [ann, bob] = [await user('ann'), await user('bob')];
    ann.open(10);
    await rig.pass(1_000);
    expect(answered.length).toBeLessThan(8);
    const refused = ann.refused().at(-1);
    expect([refused?.api.code, refused?.message]).toEqual([
      429,
      expect.stringMatching(/\(limits.answerMsPerMinuteOfUser\); ask again in \d+ s$/),
    ]);
    bob.open(3);
    await rig.pass(1_000);
    expect([bob.refused(), answered.filter((each) => each === 'bob').length]).toEqual([[], 3]);
    const before = answered.length;
    const again = await user('ann');
    again.open(1);
    await rig.pass(100);
    expect([answered.length, again.refused().length]).toEqual([before, 1]);
    await rig.pass(refused?.api.retryAfterMs);
    again.open(1);
    await rig.pass(1_000);
    expect([answered.length, again.refused().length]).toEqual([before + 1, 1]);
  });

  it('E19: while the answers of all take too long, those are refused who have used more than a tenth of what one may', async () => {
    const limits = { answerMsPerMinuteOfUser: 3_000, answerMsPerMinuteOfAll: 600 };
    const { rig, user, answered } = slowServer(limits);
    const [ann, bob] = [await user('ann'), await user('bob')];
    ann.open(20);
    await rig.pass(1_000);
    expect(ann.refused().length).toBeGreaterThan(5);
    bob.open(4);
    await rig.pass(1_000);
    expect([bob.refused(), answered.filter((each) => each === 'bob').length]).toEqual([[], 4]);
  });

  it('E19: messages are counted for all connections of a user, and no other user is ended for them', async () => {
    const { rig, user } = slowServer({ messagesPerSecondOfUser: 20 });
    const own = [await user('ann'), await user('ann'), await user('ann')];
    const bob = await user('bob');
    for (const { send } of own) for (let at = 0; at < 100; at++) send({ type: 'ping' });
    bob.send({ type: 'ping' });
    await rig.pass(100);
    expect(own.map(({ end }) => end()?.reason)).toContain(
      'the pages of this user have sent too many messages (limits.messagesPerSecondOfUser)',
    );
    expect([bob.end(), bob.received.at(-1)]).toEqual([undefined, { type: 'pong' }]);
  });

  it('E19: while all send too many messages, a user with few goes on', async () => {
    const { rig, user } = slowServer({ messagesPerSecondOfUser: 100, messagesPerSecondOfAll: 30 });
    const [ann, bob] = [await user('ann'), await user('bob')];
    for (let at = 0; at < 400; at++) ann.send({ type: 'ping' });
    for (let at = 0; at < 50; at++) bob.send({ type: 'ping' });
    await rig.pass(100);
    expect([ann.end()?.code, bob.end()]).toEqual([4429, undefined]);
  });

  it('E19: what connections carry is counted for all of a user', async () => {
    const { rig, user } = slowServer({ charactersPerMinuteOfUser: 5_000 });
    const own = [await user('ann'), await user('ann')];
    const bob = await user('bob');
    for (let at = 0; at < 100; at++) {
      for (const { send } of own) send({ type: 'ping' });
      bob.send({ type: 'ping' });
      await rig.pass(500);
      const { set } = bob.received.findLast(({ type }) => type === 'rows') ?? {};
      if (set !== undefined) bob.send({ type: 'ack', set });
      if (own.some(({ end }) => end() !== undefined)) break;
    }
    expect(own.map(({ end }) => end()?.reason)).toContain(
      'the pages of this user have carried too many characters (limits.charactersPerMinuteOfUser)',
    );
    expect(bob.end()).toBeUndefined();
  });
});
