/** The frames of a connection: how many messages about changed rows it is sent, and how many messages are made without a pause. */
import { liveQuery } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import type { serveUsers } from 'rx-informer/server';
import type { SchedulerLike } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { names, UsersRig } from './users-rig.ts';

type ConnectionLimits = Parameters<typeof serveUsers>[0]['limits'];

const others = liveQuery({
  from: pods,
  where: { path: 'metadata.name', prefix: 'n' },
  select: { name: 'metadata.name', namespace: 'metadata.namespace' },
  orderBy: { path: 'metadata.name', direction: 'desc' },
  limit: 5,
});

interface Rows {
  readonly type: string;
  readonly set: number;
  readonly differences: readonly { readonly id: number; readonly rows?: readonly unknown[] }[];
}

/** A client that acknowledges each message as soon as it has it. */
function acknowledging(rig: UsersRig) {
  const raw = rig.raw();
  const { page, send, session, received } = raw;
  const { onmessage } = page;
  page.onmessage = ((event: { data: string }) => {
    (onmessage as (event: { data: string }) => void)(event);
    const { type, set } = received.at(-1) as unknown as Rows;
    if (type === 'rows') send({ type: 'ack', set, ...session() });
  }) as never;
  const open = (id: number, query: object) =>
    send({ type: 'open', id, query: JSON.parse(JSON.stringify(query)), ...session() });
  /** The messages about rows since the last call. */
  const told = () =>
    (received.splice(1) as unknown as Rows[]).filter(
      ({ type, differences }) => type === 'rows' && differences.length > 0,
    );
  return { ...raw, open, told };
}

/** A client that asks two queries. */
async function opened(limits: ConnectionLimits, queries: readonly object[] = [names, others]) {
  const rig = new UsersRig();
  for (let at = 0; at < 40; at++) {
    const metadata = {
      namespace: 'a',
      name: `large-${at}`,
      annotations: { text: 'x'.repeat(20_000) },
    };
    rig.api.objects.create(pods, { metadata });
  }
  rig.serveShared({ limits });
  const { hello, open, told } = acknowledging(rig);
  hello();
  await rig.pass(1_000);
  for (const [id, query] of queries.entries()) open(id, query);
  await rig.pass(5_000);
  told();
  return { rig, open, told };
}

/** Users who see the same rows, each message to whom takes a millisecond of the clock of the server. */
async function crowd(users: number) {
  const rig = new UsersRig();
  rig.review = (name) => ({ name });
  let tookMs = 0;
  let sent = 0;
  const slices: number[] = [];
  /** The messages of one slice: until the server lets others come in between. */
  const ended = () => {
    slices.push(sent);
    sent = 0;
  };
  const scheduler: SchedulerLike = {
    now: () => rig.scheduler.now() + tookMs,
    schedule: (work, delayMs, state) =>
      rig.scheduler.schedule(
        function (each) {
          ended();
          (work as (this: unknown, each: unknown) => void).call(this, each);
        },
        delayMs,
        state,
      ),
  };
  rig.serveShared({ scheduler, rights: () => 'all', limits: { signingIn: users } });
  const clients = Array.from({ length: users }, () => acknowledging(rig));
  for (const [at, { hello }] of clients.entries()) {
    const server = rig.sockets.at(at)?.[1] as { send(text: string): void };
    const { send } = server;
    server.send = (text) => {
      tookMs++;
      sent++;
      send(text);
    };
    hello(`user-${at}`);
  }
  await rig.pass(1_000);
  for (const { open } of clients) open(0, names);
  await rig.pass(5_000);
  for (const { told } of clients) told();
  /** The sizes of the slices since the last call. */
  const made = () => {
    ended();
    return slices.splice(0).filter((size) => size > 0);
  };
  made();
  return { rig, clients, made };
}

describe('the messages of one slice', () => {
  it('E24: about one change that all users see are made in slices of 25 ms, and all are told', async () => {
    const { rig, clients, made } = await crowd(90);
    rig.create('a', 'n1');
    await rig.pass(50);
    expect(clients.map(({ told }) => told().length)).toEqual(clients.map(() => 1));
    expect(Math.max(...made())).toBe(25);
  });

  it('E24: that ask whether pages still answer are few, also if all pages came at once', async () => {
    const { rig, made } = await crowd(120);
    await rig.pass(6_000);
    const sizes = made();
    expect(sizes.reduce((sum, size) => sum + size)).toBe(120);
    expect(Math.max(...sizes)).toBe(2);
  });
});

describe('the frames of a connection', () => {
  it.each([
    { limits: undefined, least: 9, most: 11 },
    { limits: { framesPerSecond: 2 }, least: 2, most: 3 },
    { limits: { framesPerSecond: 1_000 }, least: 50, most: 50 },
  ])(
    'E18: with the limits $limits a second of 50 changes in two queries is $least to $most messages',
    async ({ limits, least, most }) => {
      const { rig, told } = await opened(limits);
      for (let at = 0; at < 50; at++) {
        rig.create('a', `n${String(at).padStart(2, '0')}`);
        await rig.pass(20);
      }
      const frames = told();
      expect(frames.length).toBeGreaterThanOrEqual(least);
      expect(frames.length).toBeLessThanOrEqual(most);
      for (const { differences } of frames) expect(differences).toHaveLength(2);
      await rig.pass(1_000);
      // Nothing is lost.
      const rows = [...frames, ...told()].flatMap(({ differences }) => differences[0]?.rows ?? []);
      expect(rows).toHaveLength(50);
    },
  );

  it('E18: a change after a pause waits for no frame, and the next one for the rest of it', async () => {
    const { rig, told } = await opened({ framesPerSecond: 1 });
    rig.create('a', 'n1');
    await rig.pass(50);
    expect(told()).toHaveLength(1);
    rig.create('a', 'n2');
    await rig.pass(900);
    expect(told()).toHaveLength(0);
    await rig.pass(100);
    expect(told()).toHaveLength(1);
  });

  it('E18: a first answer in many parts waits for no frame', async () => {
    const { rig, open, told } = await opened({ framesPerSecond: 1 });
    rig.create('a', 'n1');
    await rig.pass(50);
    told();
    open(2, liveQuery({ from: pods, limit: 50 }));
    await rig.pass(200);
    const parts = told().flatMap(({ differences }) => differences.filter(({ id }) => id === 2));
    expect(parts.length).toBeGreaterThan(10);
    expect(parts.flatMap(({ rows = [] }) => rows)).toHaveLength(43);
  });
});
