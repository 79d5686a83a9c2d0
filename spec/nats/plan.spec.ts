/** The publisher's plan: which messages a change becomes, in which order, and what the records say. */
import { describe, expect, it } from 'vitest';
import type { Meta } from '../../lib/nats/meta.ts';
import {
  type Contents,
  difference,
  type InBucket,
  isBehind,
  newestVersion,
  type Tombstone,
  type Wanted,
} from '../../lib/nats/publish/contents.ts';
import {
  HEADER_BYTES,
  inBatches,
  type Planned,
  type RecordSettings,
} from '../../lib/nats/publish/messages.ts';
import { nextSet } from '../../lib/nats/publish/next-set.ts';
import { Published } from '../../lib/nats/publish/published.ts';
import { publishingWords } from '../../lib/nats/publish/publisher-status.ts';
import { checkSource, takeOver } from '../../lib/nats/publish/take-over.ts';

const settings: RecordSettings = {
  prefix: '$KV.k8s.core.pods',
  apiVersion: 'v1',
  kind: 'Pod',
  namespace: '',
  heartbeatMs: 1_000,
  tombstoneMs: 10_000,
  maxPayload: 4_096,
};

const empty: Contents = {
  objects: [],
  tombstones: [],
  records: new Map(),
  meta: undefined,
  last: 0,
};

function wanted(key: string, version: string, more: Partial<Wanted> = {}): Wanted {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name, uid: name, version, isDeletion: false, text: () => version, ...more };
}

const deleted = (key: string, version: string) => wanted(key, version, { isDeletion: true });

function inBucket(key: string, version: string, sequence: number): InBucket {
  const { namespace, name, uid } = wanted(key, version);
  return { namespace, name, uid, version, sequence };
}

const short = (subject: string) => subject.slice(settings.prefix.length + 1);

/** A message in words: subject, version, and `-` for a deletion. */
function shown({ subject, headers, record }: Planned): string {
  if (record !== undefined) return short(subject);
  const sign = headers['KV-Operation'] === 'DEL' ? '-' : '';
  return `${sign}${short(subject)}@${headers['Kube-Resource-Version']}`;
}

function recordIn(messages: readonly Planned[], namespace = ''): Meta {
  const found = messages.findLast(({ record }) => record === namespace);
  return JSON.parse(new TextDecoder().decode(found?.body)) as Meta;
}

let ids = 0;
const newId = () => `id${ids++}`;

/** Plans a set and notes it as stored in one batch, after everything before. */
function publish(
  published: Published,
  changes: readonly Wanted[],
  resourceVersion: string,
  { all = false, nowMs = 0 } = {},
): readonly Planned[] {
  const set = nextSet(published, { changes, resourceVersion, all, nowMs, newId });
  published.stored(set, published.lastSequence + 1, resourceVersion, nowMs);
  return set;
}

/** A bucket with shop/a@5 and shop/b@6 at version 10. */
function begun(more: Partial<RecordSettings> = {}): Published {
  const published = new Published({ ...settings, ...more }, empty, 'w1', 'e1');
  publish(published, [wanted('shop/a', '5'), wanted('shop/b', '6')], '10', { all: true });
  return published;
}

describe('the plan of a set', () => {
  it('J5: objects and deletions are in the order of versions, and deletions that nobody saw come last', () => {
    const set = publish(
      begun(),
      [
        deleted('shop/b', ''),
        wanted('bank/c', '102'),
        deleted('shop/a', '20'),
        wanted('bank/d', '12'),
      ],
      '103',
    );
    const order = ['bank.d@12', '-shop.a@20', 'bank.c@102', '-shop.b@103'];
    expect(set.map(shown)).toEqual([...order, 'bank._meta', 'shop._meta', '_._meta']);
  });

  it('J5: a deletion with a version that readers have passed comes last, under the version of the set', () => {
    // The last state of an object that a transform refused has an old version.
    const set = publish(begun(), [deleted('shop/a', '5'), wanted('shop/b', '12')], '13');
    expect(set.map(shown)).toEqual(['shop.b@12', '-shop.a@13', 'shop._meta', '_._meta']);
  });

  it('J5: a state that the bucket has, and a deletion of what it has not, are no messages', () => {
    const published = begun();
    const changes = [wanted('shop/a', '5'), deleted('shop/c', '11')];
    expect(publish(published, changes, '11')).toEqual([]);
    expect(published.resourceVersion).toBe('10');
  });

  it('J12: each message expects the last sequence of its subject, of a tombstone, too', () => {
    const published = begun();
    publish(published, [deleted('shop/a', '11')], '11');
    const set = publish(published, [wanted('shop/a', '12'), wanted('shop/b', '13')], '13');
    expect(set.map(({ subject, expected }) => [short(subject), expected])).toEqual([
      ['shop.a', 5],
      ['shop.b', 2],
      ['shop._meta', 6],
      ['_._meta', 7],
    ]);
  });

  it('J1: the record of each touched namespace counts its objects, and that of the collection all', () => {
    const published = begun();
    const set = publish(published, [wanted('bank/c', '11'), deleted('shop/a', '12')], '12');
    expect(recordIn(set, 'bank').count).toBe(1);
    expect(recordIn(set, 'shop').count).toBe(1);
    expect(recordIn(set)).toMatchObject({ count: 2, resourceVersion: '12', epoch: 'e1' });
    const heartbeat = publish(published, [], '15', { all: true });
    expect(heartbeat.map(shown)).toEqual(['shop._meta', 'bank._meta', '_._meta']);
    expect(recordIn(heartbeat).digest).toBe(recordIn(set).digest);
  });

  it.each([
    ['an older version of the collection', [], '9', true],
    ['an object whose version readers have passed', [wanted('shop/c', '10')], '11', true],
    ['an older state of an object', [wanted('shop/a', '4')], '11', true],
    ['a newer object', [wanted('shop/c', '11')], '11', false],
    ['a deletion with an old version', [deleted('shop/a', '4')], '11', false],
  ] satisfies [string, Wanted[], string, boolean][])(
    'J4: %s begins a new epoch: %s',
    (_title, changes, version, isNew) => {
      const set = publish(begun(), changes, version, { all: true });
      expect(recordIn(set).epoch !== 'e1').toBe(isNew);
      expect(recordIn(set).horizon > 0).toBe(isNew);
    },
  );

  it('J11: an object that is too large is deleted from the bucket, and enters it when it fits', () => {
    const published = begun();
    const text = () => 'x'.repeat(settings.maxPayload - HEADER_BYTES + 1);
    const out = publish(published, [wanted('shop/a', '11', { text })], '11');
    expect(out.map(shown)).toEqual(['-shop.a@11', 'shop._meta', '_._meta']);
    expect(out[0]?.body.length).toBe(0);
    expect(published.tooLarge).toEqual([{ key: 'shop/a', bytes: 3_073 }]);
    expect(recordIn(out).count).toBe(1);
    publish(published, [deleted('shop/a', '')], '11');
    expect(published.tooLarge).toEqual([]);
    publish(published, [wanted('shop/a', '11', { text })], '11');
    const fits = () => text().slice(1);
    const back = publish(published, [wanted('shop/a', '12', { text: fits })], '12');
    expect(back.map(shown)).toEqual(['shop.a@12', 'shop._meta', '_._meta']);
    expect(published.tooLarge).toEqual([]);
  });

  it('J11: an object that cannot be written is deleted from the bucket, named, and the others are published', () => {
    const published = begun();
    const deep = Array.from({ length: 20_000 }).reduce((inner) => ({ k: inner }), 1);
    const text = () => JSON.stringify(deep);
    const out = publish(
      published,
      [wanted('shop/a', '11', { text }), wanted('shop/z', '12')],
      '12',
    );
    expect(out.map(shown)).toEqual(['-shop.a@11', 'shop.z@12', 'shop._meta', '_._meta']);
    expect(published.unwritable).toEqual([
      { key: 'shop/a', message: 'Maximum call stack size exceeded' },
    ]);
    expect(recordIn(out).count).toBe(2);
    expect(publishingWords(published)).toBe(
      'the bucket is complete up to 12; 1 objects cannot be written as JSON, for example because of their depth, and are not in the bucket, the first is shop/a',
    );
    // One that is in the bucket and was too deep at last has a tombstone without a body.
    const [gone] = publish(published, [wanted('shop/z', '13', { isDeletion: true, text })], '13');
    expect([gone && shown(gone), gone?.body.length]).toEqual(['-shop.z@13', 0]);
    const back = publish(published, [wanted('shop/a', '14')], '14');
    expect(back.map(shown)).toEqual(['shop.a@14', 'shop._meta', '_._meta']);
    expect(published.unwritable).toEqual([]);
  });

  it('J4: the horizon rises above a tombstone before the server removes it', () => {
    const published = begun();
    publish(published, [deleted('shop/a', '11')], '11', { nowMs: 1_000 });
    expect(recordIn(publish(published, [], '11', { all: true, nowMs: 7_999 })).horizon).toBe(0);
    expect(recordIn(publish(published, [], '11', { all: true, nowMs: 8_000 })).horizon).toBe(5);
    // An expired tombstone is no message, so the next one of the subject expects none.
    publish(published, [], '11', { all: true, nowMs: 11_000 });
    const [again] = publish(published, [wanted('shop/a', '12')], '12', { nowMs: 11_000 });
    expect(again?.expected).toBe(0);
  });

  it('J71: a namespace without objects has heartbeats until its tombstones have expired, then a last record, which expires', () => {
    const published = begun();
    publish(published, [wanted('bank/c', '11')], '11');
    const gone = publish(published, [deleted('bank/c', '12')], '12', { nowMs: 1_000 });
    expect(gone.map(shown)).toEqual(['-bank.c@12', 'bank._meta', '_._meta']);
    const records = ['bank._meta', 'shop._meta', '_._meta'];
    const beat = (nowMs: number) => publish(published, [], '12', { all: true, nowMs });
    expect(beat(10_999).map(shown).toSorted()).toEqual(records.toSorted());
    expect(beat(10_999).map(({ headers }) => headers)).toEqual([{}, {}, {}]);
    const before = published.leastMessages;
    const last = beat(11_000);
    expect(last.map(shown).toSorted()).toEqual(records.toSorted());
    const final = last.find(({ record }) => record === 'bank');
    expect(final?.headers).toEqual({ 'Nats-TTL': '10s' });
    expect(recordIn(last, 'bank').count).toBe(0);
    expect(published.leastMessages).toBe(before - 1);
    for (const nowMs of [11_000, 20_999, 21_000, 99_000]) {
      expect(beat(nowMs).map(shown)).toEqual(['shop._meta', '_._meta']);
    }
    // An object that comes has no record before it, and one that came earlier replaces the last record.
    const [, back] = publish(published, [wanted('bank/c', '13')], '13', { nowMs: 99_000 });
    expect([back && shown(back), back?.expected, back?.headers]).toEqual(['bank._meta', 0, {}]);
    publish(published, [deleted('bank/c', '14')], '14', { nowMs: 100_000 });
    const second = beat(110_000).find(({ record }) => record === 'bank');
    expect(second?.headers).toEqual({ 'Nats-TTL': '10s' });
    const soon = publish(published, [wanted('bank/d', '15')], '15', { nowMs: 111_000 });
    expect(soon.map(shown)).toEqual(['bank.d@15', 'bank._meta', '_._meta']);
    expect(soon[1]?.expected).toBeGreaterThan(0);
    expect(beat(200_000).map(shown).toSorted()).toEqual(records.toSorted());
  });

  it('J17: another content is another state, and its name is in the headers', () => {
    const objects = [
      inBucket('shop/a', '5', 1),
      { ...inBucket('shop/b', '6', 2), content: 'rows' },
    ];
    const records = new Map([['', 4]]);
    const rows = { ...settings, content: 'rows' };
    const published = takeOver({
      ...{ settings: rows, contents: { ...empty, objects, records, last: 4 } },
      ...{ before: undefined, writer: '', newId },
    });
    const set = publish(published, [wanted('shop/a', '5'), wanted('shop/b', '6')], '10', {
      all: true,
    });
    expect(set.map(shown)).toEqual(['shop.a@5', 'shop._meta', '_._meta']);
    expect(set[0]?.headers['Kube-Content']).toBe('rows');
    expect(recordIn(set).content).toBe('rows');
    expect(recordIn(set).epoch).not.toBe('e1');
  });

  it.each<[string, object, object, string | undefined]>([
    [
      'the same source',
      { namespace: 'shop', cluster: 'a', content: 'rows' },
      { namespace: 'shop', cluster: 'a', content: 'rows' },
      undefined,
    ],
    ['a record of an older version', { namespace: 'shop' }, {}, undefined],
    ['a publisher that names no cluster', {}, { cluster: 'a' }, undefined],
    ['a record that names no cluster', { cluster: 'a' }, {}, undefined],
    [
      'another namespace',
      { namespace: 'shop' },
      { namespace: 'bank' },
      'the namespace "bank", and this publisher "shop"',
    ],
    [
      'one namespace instead of all',
      { namespace: 'shop' },
      { namespace: '' },
      'the namespace "", and',
    ],
    ['another cluster', { cluster: 'a' }, { cluster: 'b' }, 'the cluster "b", and'],
    [
      'another content',
      { content: 'rows' },
      { content: 'metadata' },
      'the content "metadata", and',
    ],
    ['a content that has no name', { content: 'rows' }, {}, 'the content "", and'],
    ['a content in place of complete objects', {}, { content: 'rows' }, 'the content "rows", and'],
  ])('J15: %s', (_title, own, recorded, words) => {
    const { namespace: _, ...meta } = recordIn(publish(begun(), [], '10', { all: true }));
    const check = () => checkSource({ ...settings, ...own }, { ...meta, ...recorded }, 'here');
    if (words === undefined) expect(check()).toBeUndefined();
    else expect(check).toThrow(words);
  });

  it('J15: each record names the namespace, the cluster and the content', () => {
    const source = { namespace: 'shop', cluster: 'a', content: 'rows' };
    const published = new Published({ ...settings, ...source }, empty, 'w1', 'e1');
    const set = publish(published, [wanted('shop/a', '5')], '10');
    for (const namespace of ['', 'shop']) expect(recordIn(set, namespace)).toMatchObject(source);
  });
});

describe('the batches of a set', () => {
  it('J5: each one writes the record of the collection, and only the last one ends the set', () => {
    const published = begun();
    const changes = [11, 12, 13].map((version) => wanted(`shop/n${version}`, `${version}`));
    const set = nextSet(published, { changes, resourceVersion: '13', all: false, nowMs: 0, newId });
    const batches = inBatches(set, 3, 1e9);
    const sent = batches.map((batch, at) => {
      const isLast = at === batches.length - 1;
      const guarded = published.guarded(batch, isLast);
      published.stored(guarded, published.lastSequence + 1, '13', 0);
      return { names: guarded.map(shown), record: recordIn(guarded), last: guarded.at(-1) };
    });
    expect(sent.map(({ names }) => names)).toEqual([
      ['shop.n11@11', 'shop.n12@12', 'shop.n13@13', '_._meta'],
      ['shop._meta', '_._meta'],
    ]);
    expect(sent[0]?.record).toMatchObject({ isOpen: true, resourceVersion: '10' });
    expect(sent[1]?.record).toMatchObject({ resourceVersion: '13', count: 5 });
    expect(sent[1]?.record.isOpen).toBe(undefined);
    // The second batch expects the record of the first: another publisher's record between them refuses it.
    expect(sent[1]?.last?.expected).toBe(8);
    expect(published.resourceVersion).toBe('13');
  });

  it('J3: batches are limited by number and by bytes, and keep the order', () => {
    const planned = (bytes: number, subject: string): Planned => ({
      ...{ subject, body: new Uint8Array(bytes), headers: {}, expected: 0 },
    });
    const messages = [10, 10, 10, 5_000, 10].map((bytes, at) => planned(bytes, `${at}`));
    const subjects = (most: number, bytes: number) =>
      inBatches(messages, most, bytes).map((batch) => batch.map(({ subject }) => subject).join(''));
    expect(subjects(2, 1e9)).toEqual(['01', '23', '4']);
    expect(subjects(9, 2 * (HEADER_BYTES + 10))).toEqual(['01', '2', '3', '4']);
    expect(subjects(9, 1e9)).toEqual(['01234']);
    const equal = [0, 1, 2, 3, 4].map((at) => planned(10, `${at}`));
    expect(inBatches(equal, 9, 2 * (HEADER_BYTES + 10)).map(({ length }) => length)).toEqual([
      ...[2, 2, 1],
    ]);
  });
});

describe('a publisher that takes over', () => {
  /** What a first publisher has left: shop/a@5, a tombstone of shop/b, and its record. */
  function left(more: Partial<Contents> = {}): Contents {
    const published = begun();
    const meta = recordIn(publish(published, [deleted('shop/b', '11')], '11'));
    const tombstone: Tombstone = {
      ...{ namespace: 'shop', name: 'b', version: '11', sequence: 5, atMs: 0 },
    };
    return {
      ...{ objects: [inBucket('shop/a', '5', 1)], tombstones: [tombstone], meta, last: 7 },
      records: new Map([
        ['shop', 6],
        ['', 7],
      ]),
      ...more,
    };
  }

  const takes = (contents: Contents, before?: Published, writer = '') =>
    takeOver({ settings, contents, before, writer, newId });

  it('J5: continues the epoch in a term of its own, which begins after the last message', () => {
    const published = takes(left());
    expect(published.epoch).toBe('e1');
    const { terms } = recordIn(publish(published, [], '12', { all: true }));
    expect(terms).toEqual([
      { writer: 'w1', after: 0 },
      { writer: published.writer, after: 7 },
    ]);
    expect(takes(left(), published, 'w1').writer).toBe('w1');
  });

  it('J5: a record names the newest 16 terms, however many publishers have taken over', () => {
    let contents = left();
    for (let take = 0; take < 40; take++) {
      const meta = recordIn(publish(takes(contents), [], '12', { all: true }));
      contents = { ...contents, meta, last: contents.last + 1 };
    }
    expect(contents.meta?.terms.map(({ after }) => after)).toEqual(
      Array.from({ length: 16 }, (_, at) => 31 + at),
    );
  });

  it('J5: publishes the difference between the store and the bucket, and nothing else', () => {
    const contents = left({ objects: [inBucket('shop/a', '5', 1), inBucket('shop/c', '7', 3)] });
    const pod = (name: string, resourceVersion: string) => {
      const metadata = { namespace: 'shop', name, uid: name, resourceVersion };
      return [`shop/${name}`, { metadata }] as const;
    };
    const changes = difference([pod('a', '5'), pod('d', '13'), pod('b', '12')], contents.objects);
    const set = publish(takes(contents), changes, '14');
    const order = ['shop.b@12', 'shop.d@13', '-shop.c@14', 'shop._meta', '_._meta'];
    expect(set.map(shown)).toEqual(order);
    expect(set.map(({ expected }) => expected)).toEqual([5, 0, 3, 6, 7]);
  });

  it('J4: begins an epoch if the bucket has lost messages that this publisher wrote', () => {
    const before = takes(left());
    publish(before, [wanted('shop/e', '12')], '12', { all: true });
    expect(before.lastSequence).toBe(10);
    expect(takes(left(), before).epoch).not.toBe('e1');
    // As many messages, but of another writer: the store is a copy of another time.
    const longer = left({ last: 20, records: new Map([['', 20]]) });
    expect(takes(longer, before).epoch).not.toBe('e1');
    expect(takes(longer).epoch).toBe('e1');
    // As many messages and the same writer, but an older record: others have written to the copy since.
    const meta = recordIn(publish(before, [], '12', { all: true }));
    const written = left({ last: 20, records: new Map([['', 9]]), meta });
    expect(takes(written, before).epoch).not.toBe('e1');
    expect(takes({ ...written, records: new Map([['', 19]]) }, before).epoch).toBe('e1');
  });

  it('J5: writes the records of all namespaces that have a message, also if they had none', () => {
    const objects = [inBucket('shop/a', '5', 1), inBucket('bank/c', '7', 3)];
    const tombstone = { ...{ namespace: 'mall', name: 'b', version: '8' }, sequence: 5, atMs: 0 };
    const records = new Map([['', 7]]);
    const published = takes(left({ objects, tombstones: [tombstone], records }));
    const set = publish(published, [], '12', { all: true });
    expect(set.map(shown).sort()).toEqual(['_._meta', 'bank._meta', 'mall._meta', 'shop._meta']);
  });

  it('J5: waits for an informer that has not reached the newest object or deletion in the bucket', () => {
    expect(newestVersion(left())).toBe('11');
    expect(newestVersion(left({ objects: [inBucket('shop/a', '101', 1)] }))).toBe('101');
    const tombstone = { ...{ namespace: 'shop', name: 'b', version: '12' }, sequence: 5, atMs: 0 };
    expect(newestVersion(left({ tombstones: [tombstone] }))).toBe('12');
    expect([isBehind('11', left()), isBehind('10', left())]).toEqual([false, true]);
    // A bucket that was purged does not say how far it was.
    expect(isBehind('99', { ...empty, last: 7 })).toBe(true);
    expect(isBehind('99', empty)).toBe(false);
  });
});
