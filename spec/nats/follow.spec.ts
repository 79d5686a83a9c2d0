/** Following a bucket with one consumer, over a connection without a server. */

import { createSharedInformer, type Demand, describeStatus } from 'rx-informer';
import { createNatsListWatch } from 'rx-informer/nats';
import { pods } from 'rx-informer/resources';
import { BehaviorSubject } from 'rxjs';
import { filter, take } from 'rxjs/operators';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Bucket } from '../../lib/nats/read/bucket.ts';
import { follow } from '../../lib/nats/read/follow.ts';
import { Session } from '../../lib/nats/read/session.ts';
import { Tally } from '../../lib/nats/tally.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import {
  FakeConnection,
  type Fed,
  metaOf,
  of,
  PREFIX,
  podMessage,
  recordMessage,
  STREAM,
} from './fake-connection.ts';

function scene(namespace = '') {
  const fake = new FakeConnection();
  const time = new VirtualTime();
  const scope = { namespace, apiVersion: 'v1', kind: 'Pod', where: 'pods' };
  const bucket: Bucket = {
    ...{ connection: fake.connection, stream: STREAM, prefix: PREFIX, consumer: undefined, scope },
    ...{ scheduler: time, batch: 1_000, idleMs: 1e9 },
  };
  const session = new Session<object>(scope);
  const followed = async (demand?: Demand, next = session) => {
    const seen: string[] = [];
    const subscription = follow(bucket, next, demand).subscribe({
      next: ({ kind, events = [], ...of }) => {
        const keys = events.map((each) => ('key' in each ? `${each.type} ${each.key}` : each.type));
        const ms = 'silentMs' in of ? [of.silentMs] : [];
        const why = 'error' in of && of.error ? [`${of.error.code} ${of.error.message}`] : [];
        seen.push([kind, ...ms, ...why, ...keys].join(' '));
      },
      error: (error: { code: number; message: string }) =>
        seen.push(`${error.code} ${error.message}`),
    });
    await time.advance(0);
    return { seen, subscription };
  };
  return { fake, time, session, followed };
}

/** A scene whose reader has listed the Pod `a` at sequence 2; its heartbeats come every second. */
async function listed(demand?: Demand) {
  const all = scene();
  all.fake.pending = 2;
  const reader = await all.followed(demand);
  all.fake.feed(podMessage(1, 'a', '5'), recordMessage(2, of('a@5')));
  expect(reader.seen).toEqual(['opened', 'listed ADDED shop/a']);
  reader.seen.length = 0;
  return { ...all, reader };
}

const MISSING = /^doubted 3000 503 pods: the publisher has sent nothing for 3 s/;

describe('follow', () => {
  it('J3: a list ends at its record, and each later set is one signal', async () => {
    const { fake, reader } = await listed();
    fake.feed(podMessage(3, 'b', '11'), podMessage(4, 'a', '12', true));
    expect(reader.seen).toEqual([]);
    fake.feed(recordMessage(5, { ...of('b@11'), resourceVersion: '12' }));
    fake.feed(recordMessage(6, { ...of('b@11'), resourceVersion: '12' }));
    expect(reader.seen).toEqual(['changed ADDED shop/b DELETED shop/a BOOKMARK', 'alive']);
  });

  it('J3: a long list comes in parts of 500', async () => {
    const { fake, session, followed } = scene();
    fake.pending = 1_001;
    const { seen } = await followed();
    const names = Array.from({ length: 1_000 }, (_, at) => `p${at}`);
    for (const [at, name] of names.entries()) fake.feed(podMessage(at + 1, name, '5'));
    const sizes = () => seen.map((each) => `${each.split(' ')[0]} ${each.split(' ').length / 2}`);
    expect(sizes().slice(1)).toEqual(['part 500.5', 'part 500.5']);
    fake.feed(podMessage(1_001, 'last', '6'));
    fake.feed(recordMessage(1_002, of(...names.map((each) => `${each}@5`), 'last@6')));
    expect(seen.at(-1)).toBe('listed ADDED shop/last');
    expect(session.size).toBe(1_001);
  });

  it('J4: a place without a message after it is a 410, because the bucket has lost the record', async () => {
    const { fake, reader, followed } = await listed();
    reader.subscription.unsubscribe();
    fake.pending = 0;
    const { seen } = await followed();
    expect(fake.asked.at(-1)?.body).toMatchObject({ config: { opt_start_seq: 2 } });
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatch(/^410 pods: sequence 2 is not in the bucket; it was purged/);
  });

  it('J4: a quiet server after a record about other objects is a 410', async () => {
    const { fake, reader } = await listed();
    fake.tell(100);
    expect(reader.seen).toEqual(['alive']);
    fake.feed(recordMessage(3, of('a@5', 'b@6')));
    fake.tell(100);
    expect(reader.seen[1]).toMatch(/^410 pods: the bucket has 2 objects and the reader 1/);
  });

  /** A reader that is fed a message, and a record about other objects, every second for 11 s. */
  async function behind(name: (at: number) => string, version: (at: number) => string) {
    const all = await listed();
    const { fake, time, reader } = all;
    for (let at = 0; at < 11; at++) {
      expect(reader.seen).toEqual([]);
      const record = { ...recordMessage(4 + 2 * at, of('a@5', 'c@6')), pending: 1 };
      fake.feed(podMessage(3 + 2 * at, name(at), version(at)), record);
      await time.advance(990);
    }
    expect(reader.seen).toEqual(['doubted 10000']);
    reader.seen.length = 0;
    return all;
  }

  it('J69: a reader that gets messages for 10 s without a complete set is behind, until a set is complete', async () => {
    const ofOne = await behind(
      () => 'b',
      (at) => String(11 + at),
    );
    ofOne.fake.feed(recordMessage(40, { ...of('a@5', 'b@21'), resourceVersion: '21' }));
    expect(ofOne.reader.seen).toEqual(['changed ADDED shop/b BOOKMARK']);
    // The reader has the object in this state already.
    const ofNone = await behind(
      () => 'a',
      () => '5',
    );
    ofNone.fake.feed(recordMessage(40, of('a@5')));
    expect(ofNone.reader.seen).toEqual(['changed BOOKMARK', 'alive']);
    await ofNone.time.advance(2_000);
    expect(ofNone.reader.seen).toHaveLength(2);
  });

  it('J69: a reader that paused when the 10 s ended is behind as soon as it goes on, and says so once', async () => {
    const open$ = new BehaviorSubject(true);
    const demand = () => (open$.value ? null : open$.pipe(filter(Boolean), take(1)));
    const { fake, time, reader } = await listed(demand);
    fake.feed(podMessage(3, 'b', '11'));
    await time.advance(2_000);
    open$.next(false);
    fake.tell(408);
    await time.advance(30_000);
    expect(reader.seen).toEqual([]);
    open$.next(true);
    expect(reader.seen).toEqual(['doubted 32000']);
    for (let at = 4; at < 16; at++) {
      fake.feed(podMessage(at, 'b', String(8 + at)));
      await time.advance(1_000);
    }
    expect(reader.seen).toEqual(['doubted 32000']);
    fake.feed(recordMessage(16, of('a@5', 'b@23')));
    expect(reader.seen).toEqual(['doubted 32000', 'changed ADDED shop/b BOOKMARK']);
  });

  it('J69: a watch that begins with more than the record of its place is behind until a set is complete', async () => {
    const { fake, time, reader, followed } = await listed();
    reader.subscription.unsubscribe();
    fake.pending = 1;
    const quiet = await followed();
    fake.feed(recordMessage(2, of('a@5')));
    expect(quiet.seen).toEqual(['opened', 'alive']);
    quiet.subscription.unsubscribe();
    fake.pending = 3;
    const { seen } = await followed();
    expect(seen).toEqual(['opened', 'doubted 0']);
    fake.feed(podMessage(3, 'b', '11'), podMessage(4, 'c', '12'));
    await time.advance(2_000);
    expect(seen).toHaveLength(2);
    fake.feed(recordMessage(5, of('a@5', 'b@11', 'c@12')));
    expect(seen[2]).toBe('changed ADDED shop/b ADDED shop/c BOOKMARK');
  });

  it('J69: a reader that is behind counts each message once, however many records come between them', async () => {
    const { fake, reader } = await listed();
    const counted = vi.spyOn(Tally.prototype, 'replace');
    onTestFinished(() => counted.mockRestore());
    for (let at = 0; at < 1_000; at++) {
      fake.feed(podMessage(3 + 2 * at, `p${at}`, String(11 + at)));
      fake.feed({ ...recordMessage(4 + 2 * at, of('a@5', 'c@6')), pending: 1 });
    }
    expect(counted.mock.calls.length).toBeLessThan(5_000);
    expect(reader.seen).toEqual([]);
  });

  it('J8: a publisher that is missing for three heartbeats is doubted once, and its next record ends the doubt', async () => {
    const { fake, time, reader } = await listed();
    await time.advance(2_999);
    fake.feed(recordMessage(3, of('a@5')));
    await time.advance(3_299);
    expect(reader.seen).toEqual(['alive']);
    await time.advance(1);
    expect(reader.seen[1]).toMatch(MISSING);
    await time.advance(600_000);
    fake.tell(100);
    // A set that is not complete says nothing about the rows.
    fake.feed(podMessage(4, 'b', '11'));
    expect([reader.seen.length, reader.seen[2], fake.isSubscribed]).toEqual([3, 'alive', true]);
    fake.feed(recordMessage(5, { ...of('a@5', 'b@11'), resourceVersion: '11' }));
    expect(reader.seen[3]).toBe('changed ADDED shop/b BOOKMARK');
    await time.advance(3_300);
    expect(reader.seen[4]).toMatch(MISSING);
    fake.feed(recordMessage(6, { ...of('a@5', 'b@11'), resourceVersion: '11' }));
    expect(reader.seen.slice(5)).toEqual(['changed BOOKMARK', 'alive']);
  });

  it('J8: the watch after one whose publisher was missing is doubted until a newer record', async () => {
    const { fake, time, reader, followed } = await listed();
    await time.advance(3_300);
    expect(reader.seen[0]).toMatch(MISSING);
    reader.subscription.unsubscribe();
    fake.pending = 1;
    const { seen } = await followed();
    expect(seen).toEqual([expect.stringMatching(MISSING)]);
    fake.feed(recordMessage(2, of('a@5')));
    expect(seen.slice(1)).toEqual(['alive']);
    fake.feed(recordMessage(3, of('a@5')));
    expect(seen.slice(2)).toEqual(['changed BOOKMARK', 'alive']);
  });

  it('J8: an informer whose publisher was missing for minutes is live as soon as it is back, with one consumer', async () => {
    const fake = new FakeConnection();
    const time = new VirtualTime();
    const options = { bucket: 'test', scheduler: time, random: () => 0.5 };
    const reader = createSharedInformer(createNatsListWatch(fake.connection, pods, options), {
      ...{ scheduler: time, random: () => 0.5 },
    });
    reader.start();
    fake.pending = 2;
    await time.advance(0);
    fake.feed(podMessage(1, 'a', '5'), recordMessage(2, of('a@5')));
    await time.advance(0);
    expect(reader.status.live).toBe(true);
    for (let beat = 0; beat < 40; beat++) {
      fake.tell(100);
      await time.advance(5_000);
      expect(reader.status.live).toBe(false);
    }
    expect(reader.status.error?.message).toMatch(/the publisher has sent nothing for 3 s/);
    expect(describeStatus(reader.status).headline).toBe('Not live');
    expect(fake.asked.filter(({ subject }) => subject.includes('CONSUMER.CREATE'))).toHaveLength(1);
    fake.feed(recordMessage(3, of('a@5')));
    await time.advance(0);
    expect(reader.status).toMatchObject({ live: true, error: undefined, relists: 0, attempt: 0 });
    await reader.stop();
  });

  it('J8: the time that the last message waited in the bucket counts as silence', async () => {
    const { fake, time, reader, followed } = await listed();
    reader.subscription.unsubscribe();
    fake.pending = 1;
    const { seen } = await followed();
    fake.feed({ ...recordMessage(2, of('a@5')), storedMs: fake.nowMs - 2_000 });
    await time.advance(1_299);
    expect(seen).toEqual(['opened', 'alive']);
    await time.advance(1);
    expect(seen[2]).toMatch(MISSING);
  });

  it('J8: silence during a pause of the reader says nothing, and after it messages have 300 ms', async () => {
    const open$ = new BehaviorSubject(true);
    const demand = () => (open$.value ? null : open$.pipe(filter(Boolean), take(1)));
    const { fake, time, reader } = await listed(demand);
    open$.next(false);
    // The requests for messages have expired, so the reader asks again.
    fake.tell(408);
    await time.advance(60_000);
    expect(reader.seen).toEqual([]);
    open$.next(true);
    await time.advance(299);
    expect(reader.seen).toEqual([]);
    await time.advance(1);
    expect(reader.seen[0]).toMatch(MISSING);
  });

  it('J8: a pause that is shorter than the silence does not prolong it', async () => {
    const open$ = new BehaviorSubject(true);
    const demand = () => (open$.value ? null : open$.pipe(filter(Boolean), take(1)));
    const { fake, time, reader } = await listed(demand);
    open$.next(false);
    fake.tell(408);
    await time.advance(2_000);
    open$.next(true);
    await time.advance(1_299);
    expect(reader.seen).toEqual([]);
    await time.advance(1);
    expect(reader.seen[0]).toMatch(MISSING);
  });

  it('J3: a list that is not complete after 30 s of silence names what it has collected', async () => {
    const { fake, time, followed } = scene();
    fake.pending = 2;
    const { seen } = await followed();
    await time.advance(20_000);
    fake.feed(podMessage(1, 'a', '5'));
    await time.advance(20_000);
    // The record of a set that is not complete prolongs nothing.
    fake.feed(recordMessage(2, of('a@5', 'b@6')));
    await time.advance(10_299);
    expect(seen).toEqual(['opened']);
    await time.advance(1);
    expect(seen[1]).toMatch(/^503 pods: collected 1 objects, and no `_meta` record/);
  });

  it('J1: a collection without a record was not published yet', async () => {
    const { seen } = await scene().followed();
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatch(/^503 pods: the bucket has no `_meta` record of this collection/);
  });

  it('J1: a namespace without messages is empty at the record of the collection, which has its heartbeats', async () => {
    const { fake, time, followed } = scene('shop');
    let sequence = 7;
    let isGone = false;
    const { answer } = fake;
    fake.answer = (subject, body) => {
      if (!subject.includes('DIRECT.GET')) return answer(subject, body);
      const stored = new Date(fake.nowMs + time.now()).toISOString();
      const headers = { 'Nats-Sequence': `${sequence}`, 'Nats-Time-Stamp': stored };
      return isGone
        ? { body: '', code: 404, description: 'Message Not Found' }
        : { body: metaOf(of()), headers };
    };
    const { seen } = await followed();
    expect(seen).toEqual(['opened', 'listed']);
    // A newer record of the collection is a heartbeat; without one the publisher is missing.
    for (let round = 0; round < 3; round++) {
      sequence++;
      await time.advance(3_300);
    }
    expect(seen).toEqual(['opened', 'listed']);
    await time.advance(6_600);
    expect(seen[2]).toMatch(MISSING);
    isGone = true;
    const again = scene('shop');
    again.fake.answer = fake.answer;
    expect((await again.followed()).seen[0]).toMatch(/^503 pods: .*no complete list was published/);
  });

  it('J8, J1: in a namespace without messages, the silence begins with the last record of the collection, not when it is read', async () => {
    const { fake, time, followed } = scene('shop');
    const beganMs = fake.nowMs + time.now();
    let record = { sequence: 7, storedMs: beganMs };
    const { answer } = fake;
    fake.answer = (subject, body) => {
      if (!subject.includes('DIRECT.GET')) return answer(subject, body);
      const stored = new Date(record.storedMs).toISOString();
      const headers = { 'Nats-Sequence': `${record.sequence}`, 'Nats-Time-Stamp': stored };
      return { body: metaOf(of()), headers };
    };
    const { seen } = await followed();
    // The last heartbeat; the reader asks for it when the first one is 3.3 s old.
    record = { sequence: 8, storedMs: beganMs + 500 };
    await time.advance(3_700);
    expect(seen).toEqual(['opened', 'listed']);
    await time.advance(800);
    expect(seen[2]).toMatch(MISSING);
    // The reader asks again at each heartbeat.
    await time.advance(60_000);
    record = { sequence: 9, storedMs: beganMs + 64_000 };
    await time.advance(1_300);
    expect(seen.slice(3)).toEqual(['changed BOOKMARK']);
  });

  it.each([
    ['goes on', 'ends'],
    ['ends at once', ''],
  ])(
    'J71: a reader of a namespace whose last record was written follows that of the collection, whose publisher %s',
    async (_how, end) => {
      const { fake, time, followed } = scene('shop');
      let sequence = 3;
      let storedMs = 0;
      const { answer } = fake;
      fake.answer = (subject, body) => {
        if (!subject.includes('DIRECT.GET')) return answer(subject, body);
        const stored = new Date(fake.nowMs + storedMs).toISOString();
        const headers = { 'Nats-Sequence': `${sequence}`, 'Nats-Time-Stamp': stored };
        return { body: metaOf({ count: 9, digest: 'other', resourceVersion: '11' }), headers };
      };
      fake.pending = 2;
      const { seen } = await followed();
      const at = (message: Fed) => fake.feed({ ...message, storedMs: fake.nowMs + time.now() });
      at(podMessage(1, 'a', '5'));
      const own = { subject: `${PREFIX}.shop._meta` };
      at({ ...recordMessage(2, of('a@5')), ...own });
      at(podMessage(3, 'a', '11', true));
      at({ ...recordMessage(4, { ...of(), resourceVersion: '11' }), ...own });
      expect(seen).toEqual(['opened', 'listed ADDED shop/a', 'changed DELETED shop/a BOOKMARK']);
      sequence = 5;
      for (let beat = 0; end !== '' && beat < 10; beat++) {
        await time.advance(1_000);
        sequence++;
        storedMs = time.now();
      }
      const quiet = seen.length;
      await time.advance(2_999);
      expect(seen).toHaveLength(quiet);
      expect(quiet).toBe(3);
      await time.advance(1_001);
      expect(seen[3]).toMatch(MISSING);
    },
  );

  it('J7: a reader that leaves within a set leaves no timer', async () => {
    const { fake, time, reader } = await listed();
    fake.feed(podMessage(3, 'b', '11'));
    reader.subscription.unsubscribe();
    expect(time.pending).toBe(0);
  });

  it('J7: an error of the connection ends it, and no timer is left', async () => {
    const { fake, time, reader } = await listed();
    fake.report('disconnect');
    await time.advance(0);
    expect(reader.seen).toEqual([expect.stringMatching(/the connection to NATS was lost$/)]);
    expect([time.pending, fake.isSubscribed]).toEqual([0, false]);
  });
});
