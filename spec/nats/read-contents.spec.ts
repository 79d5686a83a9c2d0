/** Reading a bucket for a comparison while another publisher writes to it, over a connection without a server. */
import { describe, expect, it } from 'vitest';
import type { Contents } from '../../lib/nats/publish/contents.ts';
import { readContents } from '../../lib/nats/publish/read-contents.ts';
import { managerOf } from '../../lib/nats/pull.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import {
  FakeConnection,
  metaOf,
  PREFIX,
  podMessage,
  recordMessage,
  STREAM,
} from './fake-connection.ts';

const fields = { count: 1, digest: '' };
const record = (sequence: number) => recordMessage(sequence, fields);

/** Begins to read a stream that ends at `last`. A direct read finds the record of the collection at `recordAt`, if any. */
async function reading(last: number, recordAt: number | undefined) {
  const fake = new FakeConnection();
  fake.pending = 9;
  const { answer } = fake;
  fake.answer = (subject, body) => {
    if (subject.includes('STREAM.INFO')) {
      return { body: { config: {}, state: { last_seq: last }, ts: '2030-01-01T00:00:00Z' } };
    }
    if (!subject.includes('DIRECT.GET')) return answer(subject, body);
    if (recordAt === undefined) return { body: {}, code: 404, description: 'Message Not Found' };
    const headers = { 'Nats-Sequence': `${recordAt}`, 'Nats-Subject': `${PREFIX}._._meta` };
    return { body: metaOf(fields), headers };
  };
  const { connection } = fake;
  const time = new VirtualTime();
  const manager = await managerOf(connection);
  let read: Contents | Error | undefined;
  readContents({
    ...{ connection, manager, stream: STREAM, prefix: PREFIX, scheduler: time },
    ...{ passedMs: () => 0, where: 'pods' },
  }).then(
    (contents) => {
      read = contents;
    },
    (error: Error) => {
      read = error;
    },
  );
  await time.advance(0);
  return {
    fake,
    async result() {
      await time.advance(0);
      return read;
    },
  };
}

describe('reading a bucket while another publisher writes', () => {
  it('J5: a term begins after a record that was written after the end of the stream was asked for', async () => {
    const { fake, result } = await reading(2, 3);
    fake.feed({ ...podMessage(1, 'a', '5'), pending: 1 }, record(3));
    expect(await result()).toMatchObject({ last: 3, meta: { epoch: 'e1' } });
  });

  it('J5: reads on to the record of the collection, which a set has moved behind the end of the stream', async () => {
    const { fake, result } = await reading(2, 4);
    const more = { pending: 1 };
    fake.feed({ ...podMessage(1, 'a', '5'), ...more }, { ...podMessage(3, 'b', '6'), ...more });
    expect(await result()).toBe(undefined);
    fake.feed(record(4));
    expect(await result()).toMatchObject({ last: 4, meta: { epoch: 'e1' } });
  });

  it('J5: ends at the end of the stream if the record was read before', async () => {
    const { fake, result } = await reading(3, 2);
    const more = { pending: 5 };
    fake.feed({ ...record(2), ...more }, { ...podMessage(3, 'b', '6'), ...more });
    expect(await result()).toMatchObject({ last: 3, meta: { epoch: 'e1' } });
  });

  it('J12: a record that was not read is a change by another publisher, and a bucket without one has none', async () => {
    const changed = await reading(1, 3);
    changed.fake.feed(podMessage(1, 'a', '5'));
    expect(await changed.result()).toMatchObject({
      message: 'pods: the bucket changed while it was read',
    });
    const purged = await reading(7, undefined);
    purged.fake.feed(podMessage(8, 'a', '5'));
    expect(await purged.result()).toMatchObject({ last: 8, meta: undefined });
  });
});
