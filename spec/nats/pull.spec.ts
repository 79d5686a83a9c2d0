/** Requests of a pull consumer, over a connection without a server. */
import { BehaviorSubject } from 'rxjs';
import { filter, take } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { type PullRequest, type PullSignal, pull } from '../../lib/nats/pull.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import { FakeConnection, PREFIX, podMessage, STREAM } from './fake-connection.ts';

const IDLE_MS = 1_000;

async function pulled(fields: Partial<PullRequest> = {}, fake = new FakeConnection()) {
  const time = new VirtualTime();
  const seen: string[] = [];
  const subscription = pull({
    ...{ connection: fake.connection, stream: STREAM, prefix: PREFIX, filter: `${PREFIX}.>` },
    ...{ scheduler: time, batch: 4, idleMs: IDLE_MS, where: 'pods' },
    ...fields,
  }).subscribe({
    next: (signal) => seen.push(shown(signal)),
    error: (error: Error) => seen.push(`error ${error.message}`),
  });
  await time.advance(0);
  return { time, fake, seen, subscription };
}

function shown(signal: PullSignal): string {
  return signal.kind === 'message' ? `message ${signal.message.sequence}` : signal.kind;
}

const pods = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => podMessage(from + at, `p${from + at}`, '1'));

describe('pull', () => {
  it('J3: begins at the first sequence and requests the next batch when half of the last one has arrived', async () => {
    const { fake, seen } = await pulled({ from: 7, headersOnly: true });
    expect(fake.asked[0]?.body).toMatchObject({
      stream_name: STREAM,
      config: {
        ...{ filter_subject: `${PREFIX}.>`, deliver_policy: 'by_start_sequence' },
        ...{ opt_start_seq: 7, headers_only: true, ack_policy: 'none', mem_storage: true },
      },
    });
    const once = { batch: 4, expiresMs: 30_000, idleMs: IDLE_MS };
    expect(fake.pulls).toEqual([once]);
    fake.feed(...pods(7, 1));
    expect(fake.pulls).toEqual([once]);
    fake.feed(...pods(8, 1));
    expect(fake.pulls).toEqual([once, once]);
    fake.feed(...pods(9, 3));
    expect(fake.pulls).toEqual([once, once]);
    expect(seen).toEqual(['opened', ...[7, 8, 9, 10, 11].map((each) => `message ${each}`)]);
  });

  it('J1: reads everything without a first sequence, and says how many messages wait and what time it is', async () => {
    const fake = new FakeConnection();
    fake.pending = 3;
    const signals: PullSignal[] = [];
    const request = {
      ...{ connection: fake.connection, stream: STREAM, prefix: PREFIX, filter: `${PREFIX}.>` },
      ...{ scheduler: new VirtualTime(), batch: 4, idleMs: 20_000, where: 'pods' },
    };
    pull(request).subscribe((signal) => signals.push(signal));
    await new VirtualTime().advance(0);
    expect(signals).toEqual([{ kind: 'opened', pending: 3, serverMs: 1_000_000 }]);
    const sent = fake.asked[0]?.body;
    expect(sent).toMatchObject({ config: { deliver_policy: 'all' } });
    expect(sent).not.toHaveProperty('config.opt_start_seq');
    expect(sent).not.toHaveProperty('config.headers_only');
    // The server takes no heartbeat that is longer than half of the request's life.
    expect(fake.pulls).toEqual([{ batch: 4, expiresMs: 40_000, idleMs: 20_000 }]);
  });

  it('J7: a message that is missing between two is an error', async () => {
    const { fake, seen } = await pulled();
    fake.feed(...pods(1, 1));
    fake.feedAs(fake.consumer, 3, podMessage(3, 'c', '3'));
    expect(seen.slice(0, 2)).toEqual(['opened', 'message 1']);
    expect(seen[2]).toMatch(/^error pods: message 3 followed message 1, so messages were lost/);
    expect([seen.length, fake.isSubscribed]).toEqual([3, false]);
  });

  it('J21: messages of another consumer are ignored', async () => {
    const { fake, seen } = await pulled();
    fake.feedAs('other', 1, podMessage(1, 'a', '1'));
    fake.feed(...pods(2, 1));
    expect(seen).toEqual(['opened', 'message 2']);
  });

  it('J7: a request that has expired is sent again, for as many messages as it still owed', async () => {
    const { fake, seen } = await pulled();
    fake.tell(408, 'Request Timeout', { 'Nats-Pending-Messages': '1' });
    expect(fake.pulls).toHaveLength(1);
    fake.tell(408, 'Request Timeout', { 'Nats-Pending-Messages': '1' });
    expect(fake.pulls).toHaveLength(2);
    // Without a number nothing of the requests is left.
    fake.tell(404, 'No Messages');
    expect(fake.pulls).toHaveLength(3);
    expect(seen).toEqual(['opened']);
  });

  it('J7: any other end of a request is an error with its code and words', async () => {
    const { fake, seen } = await pulled();
    fake.tell(409, 'Consumer Deleted');
    expect(seen).toEqual([
      'opened',
      'error pods: NATS ended the request for messages with 409 Consumer Deleted',
    ]);
    expect(fake.pulls).toHaveLength(1);
  });

  it('J7: a server that is silent for two periods is an error, and a heartbeat is a sign of life', async () => {
    const { time, fake, seen } = await pulled();
    await time.advance(1_250);
    expect(seen).toEqual(['opened']);
    await time.advance(1_249);
    fake.tell(100, 'Idle Heartbeat');
    await time.advance(2 * 1_250);
    expect(seen).toEqual(['opened', 'alive']);
    await time.advance(1_250);
    const words = 'error pods: NATS sent nothing for 2500 ms; look at the connection';
    expect(seen).toEqual(['opened', 'alive', words]);
    expect([time.pending, fake.isSubscribed]).toEqual([0, false]);
  });

  it('J7: a closed demand requests nothing, and the silence of the server means nothing then', async () => {
    const open$ = new BehaviorSubject(true);
    const demand = () => (open$.value ? null : open$.pipe(filter(Boolean), take(1)));
    const { time, fake, seen } = await pulled({ demand });
    open$.next(false);
    fake.feed(...pods(1, 4));
    expect(fake.pulls).toHaveLength(1);
    expect(seen.filter((each) => !/^message/.test(each))).toEqual(['opened', 'paused']);
    await time.advance(60_000);
    open$.next(true);
    expect(fake.pulls).toHaveLength(2);
    expect(seen.slice(-2)).toEqual(['message 4', 'resumed']);
    await time.advance(2 * 1_250);
    expect(seen.at(-1)).toBe('resumed');
  });

  it('J7: a connection that is lost, silent or closed is an error, and so is one that was lost before', async () => {
    const words: (string | undefined)[] = [];
    for (const event of ['disconnect', 'staleConnection', undefined] as const) {
      const { time, fake, seen } = await pulled();
      fake.report(event);
      await time.advance(0);
      words.push(seen.at(-1));
      expect([time.pending, fake.isSubscribed]).toEqual([0, false]);
    }
    expect(words).toEqual([
      'error pods: the connection to NATS was lost',
      'error pods: the connection to NATS is silent',
      'error pods: the connection to NATS was closed',
    ]);
    const fake = new FakeConnection();
    const { time } = await pulled({}, fake);
    fake.report('disconnect');
    await time.advance(0);
    const late = await pulled({}, fake);
    expect(late.seen).toHaveLength(1);
    expect(late.seen[0]).toMatch(/^error pods: there is no connection to NATS at the moment/);
    expect([fake.isSubscribed, fake.asked.length]).toEqual([false, 1]);
    fake.report('reconnect');
    await time.advance(0);
    expect((await pulled({}, fake)).seen).toEqual(['opened']);
  });

  it('J20: a subscription that the server refuses is an error', async () => {
    const { fake, seen } = await pulled();
    fake.fail(Object.assign(new Error('no'), { name: 'PermissionViolationError' }));
    expect(seen[1]).toMatch(/^error pods: the NATS user lacks a permission/);
  });

  it('J20: a consumer that cannot be created is an error', async () => {
    const fake = new FakeConnection();
    fake.answer = () => ({
      body: { error: { code: 404, err_code: 10059, description: 'stream not found' } },
    });
    const { seen } = await pulled({}, fake);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatch(/^error pods: the bucket does not exist/);
  });

  it('J7: unsubscribing removes the consumer, also one that the server creates later', async () => {
    const { time, fake, subscription } = await pulled();
    subscription.unsubscribe();
    expect(fake.removed).toEqual([`$JS.API.CONSUMER.DELETE.${STREAM}.${fake.consumer}`]);
    expect([time.pending, fake.isSubscribed]).toEqual([0, false]);

    const slow = new FakeConnection();
    let answer: () => void = () => undefined;
    const body = { num_pending: 0, ts: '' };
    slow.answer = () =>
      new Promise((resolve) => {
        answer = () => resolve({ body });
      });
    const early = await pulled({}, slow);
    early.subscription.unsubscribe();
    expect(slow.removed).toEqual([]);
    answer();
    await time.advance(0);
    expect(slow.removed).toHaveLength(1);
    expect([early.seen, slow.pulls, early.time.pending]).toEqual([[], [], 0]);
  });

  it('J20: a consumer that was made for the reader is opened, and stays', async () => {
    const open = async (): Promise<PullSignal> => ({ kind: 'opened', pending: 0, serverMs: 0 });
    const { fake, seen, subscription } = await pulled({ consumer: { name: 'given', open } });
    fake.feed(...pods(1, 1));
    expect([seen, fake.consumer, fake.asked]).toEqual([['opened', 'message 1'], 'given', []]);
    subscription.unsubscribe();
    expect([fake.removed, fake.isSubscribed]).toEqual([[], false]);
  });
});
