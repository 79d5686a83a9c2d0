/** An object log that copies another server: it takes the versions of the objects and counts no versions itself. */
import { defineResource } from 'rx-informer';
import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { Collection } from '../../lib/object-log/collection.ts';
import { list } from '../../lib/object-log/list.ts';
import { type LogEvent, LogWatch } from '../../lib/object-log/log-watch.ts';
import type { LoggedResource } from '../../lib/object-log/logged-resource.ts';
import { type StoredObject, store } from '../../lib/object-log/stored-object.ts';
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
  const collection = new Collection(served, { newest: 0n }, 100);
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
    const old = 'cannot append MODIFIED shop/a at resourceVersion 100: the last change in the log';
    expect(() => collection.append('MODIFIED', pod('a', '100'))).toThrow(RangeError);
    expect(() => collection.append('MODIFIED', pod('a', '100'))).toThrow(old);
    collection.append('MODIFIED', pod('a', '105'));
    expect(() => collection.append('DELETED', pod('a', '104'))).toThrow(RangeError);
    expect(page(collection)).toEqual({ names: ['a'], metadata: { resourceVersion: '105' } });
  });

  it('A72: the next list and the next bookmark carry a version that was recorded without a change', () => {
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

  it('A74: an object that stops matching a selector is sent as deleted, one that starts matching as added', () => {
    const collection = copyOf(100n, pod('a', '90'));
    const read = watch(collection, 'resourceVersion=100&fieldSelector=status.phase=Running');
    collection.append('MODIFIED', pod('a', '101', 'Failed'));
    collection.append('MODIFIED', pod('a', '102', 'Running'));
    collection.append('ADDED', pod('b', '103', 'Pending'));
    expect(read()).toEqual(['DELETED a@101', 'ADDED a@102', 'BOOKMARK @103']);
  });
});
