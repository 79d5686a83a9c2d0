import { describe, expect, it } from 'vitest';
import type { Meta } from '../../lib/nats/meta.ts';
import { PastPlaces } from '../../lib/nats/read/past-places.ts';
import { type Folded, Session } from '../../lib/nats/read/session.ts';
import type { Received } from '../../lib/nats/received.ts';
import { of } from './fake-connection.ts';

const scope = { namespace: '', apiVersion: 'v1', kind: 'Pod', where: 'pods in a bucket' };

function message(sequence: number, fields: Partial<Received>): Received {
  return {
    sequence,
    delivery: sequence,
    pending: 0,
    storedMs: 0,
    meaning: undefined,
    isDeletion: false,
    uid: '',
    version: '',
    text: () => '',
    ...fields,
  };
}

function pod(sequence: number, name: string, resourceVersion: string, isDeletion = false) {
  const object = { metadata: { namespace: 'shop', name, uid: name, resourceVersion } };
  return message(sequence, {
    meaning: { kind: 'object', namespace: 'shop', name },
    isDeletion,
    uid: name,
    version: resourceVersion,
    text: () => JSON.stringify(object),
  });
}

function record(
  sequence: number,
  fields: Partial<Meta> & Pick<Meta, 'count' | 'digest'>,
  pending = 0,
) {
  const meta: Meta = {
    epoch: 'e1',
    terms: [{ writer: 'w1', after: 0 }],
    resourceVersion: '10',
    horizon: 0,
    heartbeatMs: 1_000,
    apiVersion: 'v1',
    kind: 'Pod',
    ...fields,
  };
  return message(sequence, {
    meaning: { kind: 'meta', namespace: '' },
    pending,
    text: () => JSON.stringify(meta),
  });
}

/** What the bucket has before the changes of a test. */
const before = of('a@5', 'b@6');

/** A session that has listed `a` and `b` up to version 10 at sequence 3. */
function listed(): Session<object> {
  const session = new Session<object>(scope);
  session.fold(pod(1, 'a', '5'));
  session.fold(pod(2, 'b', '6'));
  expect(session.fold(record(3, before)).kind).toBe('complete');
  return session;
}

function shown(folded: Folded<object>): string[] {
  if (folded.kind === 'failed') return [`${folded.error.code}`];
  if (folded.kind === 'open') return ['open'];
  return folded.events.map((event) =>
    event.type === 'BOOKMARK'
      ? `BOOKMARK ${event.resourceVersion}`
      : `${event.type} ${(event as { key: string }).key}`,
  );
}

describe('a session', () => {
  it('J3: a set has one event for each key, also if a publisher died and the next one wrote the key again', () => {
    const session = listed();
    for (const each of [
      ...[pod(4, 'c', '11'), pod(5, 'a', '12'), pod(6, 'd', '13')],
      ...[pod(7, 'c', '14'), pod(8, 'd', '15', true), pod(9, 'a', '16')],
    ]) {
      session.fold(each);
    }
    const end = session.fold(record(10, { ...of('a@16', 'b@6', 'c@14'), resourceVersion: '16' }));
    expect(shown(end)).toEqual(['ADDED shop/c', 'MODIFIED shop/a', 'BOOKMARK 16']);
  });

  it.each([
    ['another epoch', { epoch: 'e2' }],
    ['a writer that the record does not know', { terms: [{ writer: 'w9', after: 0 }] }],
    [
      'a later term that began before what the reader has',
      {
        terms: [
          { writer: 'w1', after: 0 },
          { writer: 'w2', after: 2 },
        ],
      },
    ],
    ['a horizon above the reader', { horizon: 4 }],
    ['an older version', { resourceVersion: '9' }],
  ] satisfies [string, Partial<Meta>][])('J4: %s is a 410', (_title, fields) => {
    expect(shown(listed().fold(record(9, { ...before, ...fields })))).toEqual(['410']);
  });

  it.each([
    ['more objects than the reader has', of('a@5', 'b@6', 'c@9')],
    ['fewer objects than the reader has', of('a@5')],
    ['another version of an object', of('a@5', 'b@9')],
  ])('J4: a record about %s is a 410 when nothing follows', (_title, other) => {
    const repeated = listed();
    expect(shown(repeated.fold(record(9, other)))).toEqual(['open']);
    expect(shown(repeated.fold(record(10, other)))).toEqual(['410']);
    const quiet = listed();
    quiet.fold(record(9, other));
    expect(quiet.quiet()?.code).toBe(410);
  });

  it('J4: a record about an object that follows is no 410', () => {
    const session = listed();
    expect(session.quiet()).toBeUndefined();
    session.fold(record(9, of('a@5', 'b@6', 'c@11')));
    session.fold(pod(10, 'c', '12'));
    expect(session.quiet()).toBeUndefined();
    expect(shown(session.fold(record(11, of('a@5', 'b@6', 'c@13'))))).toEqual(['open']);
    session.fold(pod(12, 'c', '14'));
    const end = session.fold(record(13, { ...of('a@5', 'b@6', 'c@14'), resourceVersion: '14' }));
    expect(shown(end)).toEqual(['ADDED shop/c', 'BOOKMARK 14']);
  });

  it('J4: what did not fit before a new consumer counts no more', () => {
    const session = listed();
    const other = of('a@5', 'b@6', 'c@11');
    session.fold(record(9, other));
    expect(session.quiet()?.code).toBe(410);
    session.rewind();
    expect(session.quiet()).toBeUndefined();
    expect(shown(session.fold(record(9, other)))).toEqual(['open']);
  });

  it('J3: a watch that resumes at an earlier version receives each later set again', () => {
    const session = listed();
    const sets = [
      [pod(4, 'a', '11'), record(5, { ...of('a@11', 'b@6'), resourceVersion: '11' })],
      [pod(6, 'a', '12'), record(7, { ...of('a@12', 'b@6'), resourceVersion: '12' })],
      [pod(8, 'b', '13', true), record(9, { ...of('a@12'), resourceVersion: '13' })],
    ];
    for (const each of sets.flat()) session.fold(each);
    const fork = session.fork('10') as Session<object>;
    expect(fork.place).toMatchObject({ resourceVersion: '10', sequence: 3 });
    expect(sets.map((set) => shown(set.map((each) => fork.fold(each)).at(-1) as never))).toEqual([
      ['MODIFIED shop/a', 'BOOKMARK 11'],
      ['MODIFIED shop/a', 'BOOKMARK 12'],
      ['DELETED shop/b', 'BOOKMARK 13'],
    ]);
    expect([session.fork('13')?.place?.sequence, session.fork('9')]).toEqual([9, undefined]);
  });

  it('J3: a reader remembers the way back over 128 sets with 2,000 changes, also after it was empty', () => {
    const past = new PastPlaces();
    const remember = (resourceVersion: string, changes: number) => {
      const place = { resourceVersion, sequence: 1, epoch: '', writer: '', heartbeatMs: 1 };
      past.remember({ place, before: Array(changes).fill(['shop/a', undefined]) });
    };
    for (const first of [1, 1_000]) {
      for (let at = first; at <= first + 128; at++) remember(String(at), 1);
      const ways = [first, first + 1].map((at) => past.wayBack(String(at))?.length);
      expect(ways).toEqual([undefined, 128]);
      remember('large', 1_999);
      remember('last', 1);
      expect(past.wayBack('large')).toHaveLength(2);
      remember('more', 1);
      expect([past.wayBack('large'), past.wayBack('last')?.length]).toEqual([undefined, 2]);
      past.clear();
      expect(past.wayBack('last')).toBeUndefined();
    }
  });

  it('J4: a set that lacks an object is no 410 while messages follow, because the object was overwritten meanwhile', () => {
    const session = listed();
    // `c` was created before the record and updated after it, so its first message is gone.
    const early = { ...of('a@5', 'b@6', 'c@12'), resourceVersion: '12' };
    expect(shown(session.fold(record(6, early, 2)))).toEqual(['open']);
    session.fold(pod(7, 'c', '13'));
    const late = record(8, { ...of('a@5', 'b@6', 'c@13'), resourceVersion: '13' });
    expect(shown(session.fold(late))).toEqual(['ADDED shop/c', 'BOOKMARK 13']);
  });

  it('J3: a set that lacks an update is not shown under the version of its record', () => {
    const session = listed();
    // `a` was updated to 11 before the record and to 13 after it, so the message of 11 is gone.
    const early = { ...of('a@11', 'b@12'), resourceVersion: '12' };
    session.fold(pod(5, 'b', '12'));
    expect(shown(session.fold(record(6, early, 2)))).toEqual(['open']);
    expect(session.place?.resourceVersion).toBe('10');
    session.fold(pod(7, 'a', '13'));
    const end = session.fold(record(8, { ...of('a@13', 'b@12'), resourceVersion: '13' }));
    expect(shown(end)).toEqual(['MODIFIED shop/b', 'MODIFIED shop/a', 'BOOKMARK 13']);
  });

  it('J4: an older version of an object without a new epoch is a 410', () => {
    const session = listed();
    session.fold(pod(4, 'a', '9'));
    expect(shown(session.fold(record(5, { ...of('a@9', 'b@6'), resourceVersion: '11' })))).toEqual([
      '410',
    ]);
  });
});
