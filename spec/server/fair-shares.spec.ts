/** Tests that a user who asks much waits for itself: the turns at first answers, and what users may spend. */
import { type LiveQueries, liveQuery } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import type { ServeUsersLimits } from 'rx-informer/server';
import { describe, expect, it } from 'vitest';
import { UsersRig } from './users-rig.ts';

/** A server with a named query, each first answer of which takes 60 ms of the clock. */
function slowServer(limits: ServeUsersLimits = {}) {
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
  rig.serveShared({ scheduler, queries: { slow }, rights: () => 'all', limits });
  const user = async (name: string) => {
    const raw = rig.raw();
    raw.hello(`t-${name}`);
    await rig.pass(100);
    const of = raw.session();
    let ids = 0;
    const send = (message: object) => raw.send({ ...message, ...of });
    const open = (count: number) => {
      for (let at = 0; at < count; at++) {
        const params = { of: name, at: ids };
        send({ type: 'open', id: ids++, query: { named: 'slow', params } });
      }
    };
    const refused = () =>
      raw.received.flatMap(({ type, error }) =>
        type === 'refused'
          ? [error as { message: string; api: { code: number; retryAfterMs: number } }]
          : [],
      );
    return { ...raw, send, open, refused };
  };
  return { rig, user, answered, atMs };
}

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
