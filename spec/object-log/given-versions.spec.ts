/** An object log that copies another server: it takes the versions of the objects and counts no versions itself. */
import { defineResource } from 'rx-informer';
import { asyncScheduler, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { Collection } from '../../lib/object-log/collection.ts';
import { list } from '../../lib/object-log/list.ts';
import { type LogEvent, LogWatch } from '../../lib/object-log/log-watch.ts';
import {
  type LoggedResource,
  type StoredObject,
  store,
} from '../../lib/object-log/stored-object.ts';
import { watchPlan } from '../../lib/object-log/watch-plan.ts';

const served: LoggedResource = {
  resource: defineResource({
    group: '',
    version: 'v1',
    plural: 'pods',
    kind: 'Pod',
    namespaced: true,
  }),
  custom: false,
  selectableFields: ['status.phase'],
};

function pod(name: string, resourceVersion: string, phase = 'Running'): StoredObject {
  const metadata = { namespace: 'shop', name, uid: `uid-${name}`, resourceVersion };
  return store(served, { metadata, status: { phase } } as never, metadata);
}

function copyOf(version: bigint, ...objects: StoredObject[]): Collection {
  const limits = { changes: 100, bytes: Number.POSITIVE_INFINITY };
  const collection = new Collection(served, { newest: 0n }, limits);
  const byKey = objects.map((object) => [`shop/${object.metadata.name}`, object] as const);
  collection.restore(new Map(byKey), version);
  return collection;
}

function page(collection: Collection, query = '') {
  const scope = { collection, namespace: '' };
  const { items, metadata } = list(scope, new URLSearchParams(query), 500);
  return { names: items.map((item) => item.metadata.name), metadata };
}

function watch(collection: Collection, query: string): () => string[] {
  const scope = { collection, namespace: '' };
  const params = new URLSearchParams(`allowWatchBookmarks=true&${query}`);
  const plan = watchPlan(scope, params, { watchList: true, random: () => 0 });
  const scheduler = new VirtualTimeScheduler(undefined, 0);
  const reader = new LogWatch(collection, plan, { scheduler, bookmarkIntervalMs: 60_000 });
  return () => {
    scheduler.maxFrames += 60_000;
    scheduler.flush();
    const events: string[] = [];
    for (let event = reader.next(); event; event = reader.next()) events.push(textOf(event));
    return events;
  };
}

function textOf({ type, object }: LogEvent): string {
  const { metadata, reason } = object as { metadata?: StoredObject['metadata']; reason?: string };
  return `${type} ${reason ?? metadata?.name ?? ''}@${metadata?.resourceVersion ?? ''}`;
}

describe('a log with versions from another server', () => {
  it('A70: lists and watches show the versions that the objects carry', () => {
    const collection = copyOf(9_007_199_254_740_993n, pod('a', '17'));
    expect(page(collection)).toEqual({
      names: ['a'],
      metadata: { resourceVersion: '9007199254740993' },
    });
    const read = watch(collection, 'resourceVersion=9007199254740993');
    collection.append('ADDED', pod('b', '9007199254740999'));
    collection.append('DELETED', pod('a', '9007199254741007'));
    expect(read()).toEqual([
      'ADDED b@9007199254740999',
      'DELETED a@9007199254741007',
      'BOOKMARK @9007199254741007',
    ]);
    expect(page(collection).metadata.resourceVersion).toBe('9007199254741007');
    const exact = 'resourceVersion=9007199254740999&resourceVersionMatch=Exact';
    expect(page(collection, exact).names).toEqual(['a', 'b']);
  });

  it('A70: collections that share no version do not advance each other', () => {
    const one = copyOf(100n);
    const other = copyOf(5000n);
    one.append('ADDED', pod('a', '101'));
    expect([one.version, other.version]).toEqual([101n, 5000n]);
  });

  it('A71: append throws for a change that is not newer than the last one, and changes nothing', () => {
    const collection = copyOf(100n, pod('a', '90'));
    const old =
      'cannot append MODIFIED shop/a at resourceVersion 100: the log is complete up to version 100';
    expect(() => collection.append('MODIFIED', pod('a', '100'))).toThrow(RangeError);
    expect(() => collection.append('MODIFIED', pod('a', '100'))).toThrow(old);
    collection.append('MODIFIED', pod('a', '105'));
    expect(() => collection.append('DELETED', pod('a', '104'))).toThrow(RangeError);
    expect(page(collection)).toEqual({ names: ['a'], metadata: { resourceVersion: '105' } });
  });

  it('A71: append throws for a change that is not newer than a version recorded without a change', () => {
    const collection = copyOf(100n);
    collection.advance(150n);
    expect(() => collection.append('ADDED', pod('a', '150'))).toThrow(
      'the log is complete up to version 150',
    );
    collection.append('ADDED', pod('a', '151'));
    expect(page(collection).names).toEqual(['a']);
  });

  it('A71: a compaction up to a future version throws, because the log could record no change up to it', () => {
    const collection = copyOf(100n);
    expect(() => collection.compact(101n)).toThrow(
      new RangeError('cannot compact up to version 101: the newest version is 100'),
    );
    collection.append('ADDED', pod('a', '101'));
    expect(page(collection).names).toEqual(['a']);
  });

  it('A71: the next list and the next bookmark carry a version that was recorded without a change', () => {
    const collection = copyOf(100n);
    const read = watch(collection, 'resourceVersion=100');
    collection.advance(150n);
    collection.advance(120n);
    expect(read()).toEqual(['BOOKMARK @150']);
    expect(page(collection).metadata.resourceVersion).toBe('150');
  });

  it('A73: a watch that is open during a restore ends with a 410', () => {
    const collection = copyOf(100n);
    const read = watch(collection, 'resourceVersion=100');
    collection.append('ADDED', pod('a', '101'));
    collection.restore(new Map(), 300n);
    collection.append('ADDED', pod('b', '301'));
    expect(read()).toEqual(['ERROR Expired@']);
  });

  it('A73: a watch that has read everything is woken by a restore and ends with a 410', async () => {
    const collection = copyOf(100n);
    const plan = watchPlan(
      { collection, namespace: '' },
      new URLSearchParams('resourceVersion=100'),
      { watchList: true, random: () => 0 },
    );
    const scheduler = new VirtualTimeScheduler();
    const reader = new LogWatch(collection, plan, { scheduler, bookmarkIntervalMs: 60_000 });
    const seen: string[] = [];
    reader.onReadable = () => {
      for (let event = reader.next(); event; event = reader.next()) seen.push(textOf(event));
    };
    collection.append('ADDED', pod('a', '101'));
    await Promise.resolve();
    collection.restore(new Map(), 50n);
    await Promise.resolve();
    expect(seen).toEqual(['ADDED a@101', 'ERROR Expired@']);
    expect(reader.next()).toBeNull();
  });

  it('A73: a page after a restore to an older version is refused like any future version', () => {
    const collection = copyOf(100n, pod('a', '90'), pod('b', '91'));
    const token = page(collection, 'limit=1').metadata['continue'];
    collection.restore(new Map([['shop/c', pod('c', '40')]]), 50n);
    expect(() => page(collection, `limit=1&continue=${token}`)).toThrow(
      'Too large resource version: 100, current: 50',
    );
  });

  it('A70: a list continues after a name with any letters', () => {
    const collection = copyOf(100n, pod('ß', '90'), pod('日本', '91'), pod('東京', '92'));
    const names: string[] = [];
    for (let token = ''; ; ) {
      const { names: some, metadata } = page(collection, `limit=1&continue=${token}`);
      names.push(...some);
      if (metadata['continue'] === undefined) break;
      token = String(metadata['continue']);
    }
    expect(names).toEqual(['ß', '日本', '東京']);
  });

  it('X5: with an infinite interval a watch sends no bookmarks but the last', () => {
    vi.useFakeTimers();
    try {
      const collection = copyOf(100n);
      const options = 'resourceVersion=100&allowWatchBookmarks=true&timeoutSeconds=600';
      const scope = { collection, namespace: '' };
      const query = new URLSearchParams(options);
      const plan = watchPlan(scope, query, { watchList: true, random: () => 0 });
      const times = { scheduler: asyncScheduler, bookmarkIntervalMs: Number.POSITIVE_INFINITY };
      const reader = new LogWatch(collection, plan, times);
      vi.advanceTimersByTime(597_000);
      expect(reader.next()).toBeUndefined();
      vi.advanceTimersByTime(1_000);
      expect(reader.next()).toMatchObject({ kind: 'bookmark' });
    } finally {
      vi.useRealTimers();
    }
  });

  it('X5: a watch of a year is open for a year', () => {
    vi.useFakeTimers();
    try {
      const collection = copyOf(100n);
      const query = new URLSearchParams('resourceVersion=100&timeoutSeconds=31536000');
      const scope = { collection, namespace: '' };
      const plan = watchPlan(scope, query, { watchList: true, random: () => 0 });
      const times = { scheduler: asyncScheduler, bookmarkIntervalMs: 60_000 };
      const reader = new LogWatch(collection, plan, times);
      vi.advanceTimersByTime(31_535_999_999);
      expect(reader.next()).toBeUndefined();
      vi.advanceTimersByTime(1);
      expect(reader.next()).toBeNull();
    } finally {
      vi.useRealTimers();
    }
  });

  it('A7: an object that stops matching a selector is sent as deleted, one that starts matching as added', () => {
    const collection = copyOf(100n, pod('a', '90'));
    const read = watch(collection, 'resourceVersion=100&fieldSelector=status.phase=Running');
    collection.append('MODIFIED', pod('a', '101', 'Failed'));
    collection.append('MODIFIED', pod('a', '102', 'Running'));
    collection.append('ADDED', pod('b', '103', 'Pending'));
    expect(read()).toEqual(['DELETED a@101', 'ADDED a@102', 'BOOKMARK @103']);
  });
});
