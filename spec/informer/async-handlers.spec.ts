/** Handlers that return promises: their order, their queue, and their independence of other handlers. */

import {
  ApiError,
  addEventHandler,
  createSharedInformer,
  type InformerWarning,
  type WatchEvent,
} from 'rx-informer';
import { Subject } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import * as fc from '../support/fast-check.ts';
import {
  added,
  deleted,
  modified,
  type Pod,
  pod,
  scriptedInformer,
  scriptedListWatch,
} from '../support/scripted-list-watch.ts';
import { logging, settle, slowInformer, slowly } from './handler-rig.ts';
import { mirror } from './mirror.ts';

describe('an async handler', () => {
  it('I19: a returned promise is awaited before the next callback, and no other handler waits for it', async () => {
    const { source, informer, slow } = slowInformer(['a', 'b']);
    const quick: string[] = [];
    addEventHandler(informer, logging(quick));
    source.send(added(pod('c', 2)));
    expect(slow.log).toEqual(['+a@1* initial']);
    expect(quick).toEqual(['+a@1* initial', '+b@1* initial', '+c@2 watch']);
    expect(informer.indexer.size).toBe(3);
    await slow.finish();
    expect(slow.log).toEqual(['+a@1* initial', '+b@1* initial']);
    await slow.finish(5);
    expect(slow.log).toEqual(['+a@1* initial', '+b@1* initial', '+c@2 watch']);
  });

  it('I19: a callback without a promise runs within the commit, also after callbacks with promises', async () => {
    const { source, informer } = scriptedInformer();
    const log: string[] = [];
    addEventHandler(informer, {
      onAdd: async ({ metadata }) => log.push(metadata.name),
      onDelete: ({ key }) => log.push(`-${key}`),
    });
    source.listed(1, pod('a', 1));
    informer.start();
    await settle();
    source.send(deleted(pod('a', 2)));
    expect(log).toEqual(['a', '-shop/a']);
  });

  it('I19: a callback that waited sees the newest store, and no commit runs within it', async () => {
    const { source, informer, slow } = slowInformer(['a', 'b']);
    const seen: unknown[] = [];
    const registration = addEventHandler(informer, {
      onAdd: async (object) => {
        await settle();
        source.send(modified(pod(object.metadata.name, 5)));
        seen.push(informer.indexer.getByKey('shop/b')?.metadata.resourceVersion);
      },
    });
    await settle();
    await settle();
    await settle();
    expect(seen).toEqual(['1', '5']);
    expect(registration.lag).toBe(0);
    await slow.finish(9);
  });

  it('I12: the registration is synced once the promises of the first list have settled, also if they reject', async () => {
    const { source, informer, slow, registration, errors } = slowInformer(['a', 'b'], {
      name: 'reconcile',
    });
    expect([informer.hasSynced, registration.hasSynced, registration.lag]).toEqual([
      true,
      false,
      1,
    ]);
    source.send(added(pod('c', 2)));
    let resolved = false;
    const wait = registration.whenSynced().then(() => {
      resolved = true;
    });
    await slow.finish();
    expect([registration.hasSynced, resolved]).toEqual([false, false]);
    await slow.finish(1, new Error('boom'));
    await wait;
    // `c` is not part of the first list, although it waited together with its objects.
    expect([registration.hasSynced, slow.running, slow.log.at(-1)]).toEqual([
      true,
      1,
      '+c@2 watch',
    ]);
    expect(errors).toEqual([['Error: boom', 'reconcile shop/b']]);
  });

  it('I12: an empty first list is synced immediately, and a late handler has its own sync (TestAddWhileActive)', async () => {
    const empty = slowInformer([]);
    expect(empty.registration.hasSynced).toBe(true);
    await empty.informer.stop();
    const { informer, slow } = slowInformer(['a']);
    await slow.finish(9);
    const late = slowly();
    const registration = addEventHandler(informer, late.handler);
    expect([late.log, registration.hasSynced]).toEqual([['+a@1* initial'], false]);
    await late.finish();
    expect(registration.hasSynced).toBe(true);
  });

  it('I12: folding the waiting changes does not move the end of the first list', async () => {
    const { source, slow, registration } = slowInformer(['a', 'b', 'c']);
    source.send(modified(pod('b', 2)), deleted(pod('c', 3)), added(pod('d', 4)));
    await slow.finish();
    expect([slow.log.at(-1), registration.hasSynced]).toEqual(['+b@2* initial', false]);
    await slow.finish();
    expect(slow.log.at(-1)).toBe('+d@4 watch');
    expect(registration.hasSynced).toBe(true);
  });

  it('I8, I12: the registration syncs again in each generation', async () => {
    const { source, informer, slow, registration } = slowInformer(['a']);
    await slow.finish();
    expect(registration.hasSynced).toBe(true);
    await informer.stop();
    source.listed(9, pod('a', 9));
    informer.start();
    expect([informer.hasSynced, registration.hasSynced]).toEqual([true, false]);
    await slow.finish();
    expect(registration.hasSynced).toBe(true);
  });

  it('I12: the timeout error of whenSynced names the busy handler, and whenSynced rejects on removal and stop', async () => {
    const time = new VirtualTime();
    const { informer, registration } = slowInformer(['a', 'b'], {}, { scheduler: time });
    const timedOut = registration.whenSynced({ timeoutMs: 50 }).catch(String);
    await time.advance(50);
    expect(await timedOut).toMatch(
      /handler 1 is not synced after 50 ms: the handler is busy \(waiting changes: 1\)/,
    );
    const other = addEventHandler(informer, slowly().handler, { name: 'other' });
    const removed = other.whenSynced().catch(String);
    void other.remove();
    expect(await removed).toMatch(/other was removed/);
    expect(await other.whenSynced().catch(String)).toMatch(/other was removed/);
    const stopped = registration.whenSynced().catch(String);
    await informer.stop();
    expect(await stopped).toMatch(/pods was stopped/);
  });

  it('I21: each notification carries its cause, and only additions of the first list are initial (TestResetWatch)', async () => {
    const time = new VirtualTime();
    const { source, informer } = scriptedInformer({ scheduler: time, backoff: () => 0 });
    const log: string[] = [];
    addEventHandler(informer, logging(log), { resyncPeriodMs: 60_000 });
    source.listed(1, pod('a', 1), pod('b', 1));
    informer.start();
    source.send(modified(pod('a', 2)));
    source.listed(9, pod('a', 8), pod('c', 9));
    source.fail(ApiError.fromStatus({ code: 410, reason: 'Expired' }, 410));
    await time.advance(1);
    await time.advance(60_000);
    expect(log).toEqual([
      '+a@1* initial',
      '+b@1* initial',
      '~a@1>2 watch',
      '-b@1? relist',
      '~a@2>8 relist',
      '+c@9 relist',
      '~a@8>8 resync',
      '~c@9>9 resync',
    ]);
  });

  it('I21: every callback takes its objects and one notification, and isInInitialList is true only for additions of the first list', async () => {
    const { source, informer } = scriptedInformer();
    const calls: unknown[][] = [];
    const of = (object: Pod) => object.metadata.resourceVersion;
    addEventHandler(informer, {
      onAdd: (object, notification) => calls.push(['add', of(object), notification]),
      onUpdate: (previous, object, notification) =>
        calls.push(['update', of(previous), of(object), notification]),
      onDelete: (deleted, notification) => calls.push(['delete', of(deleted.object), notification]),
    });
    source.listed(1, pod('a', 1), pod('b', 1));
    informer.start();
    source.send(added(pod('c', 2)));
    await informer.stop();
    // The first list of the next run has the cause initial, too, but isInInitialList is false for its update and
    // deletion.
    source.listed(9, pod('a', 8), pod('b', 1));
    informer.start();
    const about = (key: string, cause: string, isInInitialList: boolean) => ({
      ...{ key: `shop/${key}`, cause },
      isInInitialList,
    });
    expect(calls).toEqual([
      ['add', '1', about('a', 'initial', true)],
      ['add', '1', about('b', 'initial', true)],
      ['add', '2', about('c', 'watch', false)],
      ['delete', '2', about('c', 'initial', false)],
      ['update', '1', '8', about('a', 'initial', false)],
    ]);
  });
});

describe('a deletion', () => {
  it('S7, I21: a deletion carries its key, its UID and a state, also if the deletion itself was missed (TestDeletionHandlingObjectToName, TestDeletedObjectGetKey, TestDeletedObjectGetObjectName)', async () => {
    const { source, informer } = scriptedInformer();
    const gone: unknown[] = [];
    addEventHandler(informer, {
      onDelete: (deletion, { key }) => gone.push([key === deletion.key, deletion]),
    });
    const [a, b, end] = [pod('a', 1), pod('b', 1), pod('a', 2)];
    source.listed(1, a, b);
    informer.start();
    source.send(deleted(end));
    await informer.stop();
    source.listed(9);
    informer.start();
    const base = { previous: b, object: b, finalStateUnknown: true };
    expect(gone).toEqual([
      [true, { key: 'shop/a', uid: 'a', previous: a, object: end, finalStateUnknown: false }],
      [true, { key: 'shop/b', uid: 'b', ...base }],
    ]);
  });
});

describe('the queue of a busy handler', () => {
  it('I20, I11: a paused handler of a stopped run does not hold up the next run', async () => {
    const delivery = { kind: 'buffer', limit: 1, overflow: 'pause' } as const;
    const { source, informer, slow, registration } = slowInformer(['a'], { delivery });
    for (let version = 2; version < 5; version++) source.send(modified(pod('a', version)));
    expect(registration.lag).toBe(2);
    await informer.stop();
    source.listed(9, pod('a', 9));
    informer.start();
    await informer.whenSynced({ timeoutMs: 1_000 });
    expect(informer.lastSyncResourceVersion).toBe('9');
    // The sets that it was given are still delivered, before the difference.
    await slow.finish(9);
    expect(slow.log.slice(1).map((line) => line.split(' ')[0])).toEqual([
      '~a@1>2',
      '~a@2>3',
      '~a@3>9',
    ]);
  });

  it('I11: reading resumes if a handler that paused reading is removed', () => {
    const delivery = { kind: 'buffer', limit: 1, overflow: 'pause' } as const;
    const { source, informer, registration } = slowInformer(['a'], { delivery });
    for (let version = 2; version < 6; version++) source.send(modified(pod('a', version)));
    expect(informer.lastSyncResourceVersion).toBe('3');
    void registration.remove();
    expect(informer.lastSyncResourceVersion).toBe('5');
  });

  it('I20: if a policy starts over, the handler receives the difference', async () => {
    const delivery = { kind: 'drop', limit: 1 } as const;
    const { source, slow } = slowInformer(['a', 'b'], { delivery });
    await slow.finish(2);
    source.send(modified(pod('a', 2)));
    source.send(deleted(pod('b', 3)));
    source.send(modified(pod('a', 4)));
    source.send(added(pod('c', 5)));
    await slow.finish(9);
    expect(slow.log.slice(2)).toEqual(['~a@1>2 watch', '-b@3 watch', '~a@2>4 watch', '+c@5 watch']);
  });

  it('I20: the resyncs of a handler are left out while that handler has paused reading', async () => {
    const time = new VirtualTime();
    const { source, informer } = scriptedInformer({ scheduler: time });
    const slow = slowly();
    const registration = addEventHandler(informer, slow.handler, {
      delivery: { kind: 'buffer', limit: 2, overflow: 'pause' },
      resyncPeriodMs: 1_000,
    });
    source.listed(1, pod('a', 1));
    informer.start();
    await time.advance(60_000);
    expect(registration.lag).toBe(3);
    await slow.finish(4);
    expect([slow.log.length, registration.lag]).toEqual([4, 0]);
    await time.advance(1_000);
    expect(slow.log.at(-1)).toBe('~a@1>1 resync');
  });

  it('I20: ready is called after each batch, with its changes', () => {
    const { source, informer } = scriptedInformer();
    const log: string[] = [];
    const gate = new Subject<void>();
    const batches: number[] = [];
    addEventHandler(informer, logging(log), {
      delivery: {
        kind: 'conflate',
        ready: (set) => {
          batches.push(set.changes.length);
          return gate;
        },
      },
    });
    source.listed(1, pod('a', 1), pod('b', 1));
    informer.start();
    source.send(modified(pod('a', 2)));
    source.send(modified(pod('a', 3)), deleted(pod('b', 4)));
    expect(log).toEqual(['+a@1* initial', '+b@1* initial']);
    gate.next();
    expect(log.slice(2)).toEqual(['~a@1>3 watch', '-b@4 watch']);
    expect(batches).toEqual([2, 2]);
  });

  it('I20, I21: a resync does not replace the cause of a change that waits already', async () => {
    const time = new VirtualTime();
    const { source, slow } = slowInformer(
      ['a', 'b'],
      { resyncPeriodMs: 1000 },
      { scheduler: time },
    );
    await slow.finish();
    source.send(modified(pod('a', 2)));
    await time.advance(1000);
    await slow.finish(9);
    expect(slow.log.slice(2)).toEqual(['~a@1>2 watch', '~b@1>1 resync']);
  });

  it('I20: addEventHandler throws on a limit below one, and registers nothing', () => {
    const informer = createSharedInformer(scriptedListWatch());
    const delivery = { kind: 'drop', limit: 0 } as const;
    expect(() => addEventHandler(informer, {}, { delivery })).toThrow(/limit is 0/);
  });

  it('I20: a handler that is awaited each time processes 30,000 objects and 30,000 events', async () => {
    const { source, informer } = scriptedInformer({ onWarning: () => undefined });
    let calls = 0;
    const registration = addEventHandler(informer, {
      onAdd: async () => calls++,
      onUpdate: async () => calls++,
    });
    const objects = Array.from({ length: 30_000 }, (_, at) => pod(`p${at}`, 1));
    source.listed(1, ...objects);
    informer.start();
    source.send(...objects.map((_, at) => modified(pod(`p${at}`, at + 2))));
    expect(registration.lag).toBe(30_000);
    await registration.whenSynced();
    while (registration.lag > 0) await settle();
    // The first object was delivered before its update arrived, all others are folded with theirs.
    expect(calls).toBe(30_001);
  });

  it('I20: under every policy and pace, the handler ends with the contents of the store', async () => {
    const policies = fc.constantFrom(
      { kind: 'conflate' } as const,
      { kind: 'buffer', limit: 2, overflow: 'conflate' } as const,
      { kind: 'drop', limit: 1 } as const,
    );
    const step = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('put', 'end', 'finish'));
    await fc.assert(
      fc.asyncProperty(policies, fc.array(step, { maxLength: 40 }), async (delivery, steps) => {
        const { source, informer } = scriptedInformer();
        const had = new Map<string, Pod>();
        const calls: (() => void)[] = [];
        const wait = () => new Promise<void>((resolve) => calls.push(resolve));
        const registration = addEventHandler(informer, mirror(had, wait), { delivery });
        source.listed(1, pod('a', 1));
        informer.start();
        let version = 2;
        for (const [name, what] of steps) {
          const event: WatchEvent<Pod> =
            what === 'put'
              ? modified(pod(name, version++, `${name}${version % 3}`))
              : deleted(pod(name, version++));
          if (what === 'finish') {
            calls.shift()?.();
            await settle();
          } else source.send(event);
        }
        while (calls.length > 0) {
          calls.shift()?.();
          await settle();
        }
        expect(registration.lag).toBe(0);
        expect(new Map(had)).toEqual(
          new Map(informer.indexer.listKeys().map((key) => [key, informer.indexer.getByKey(key)])),
        );
        await informer.stop();
      }),
      { numRuns: 60 },
    );
  });
});

describe('a stop', () => {
  it('I7: no callback begins after stop(), and the waiting changes are delivered after the next start, before the difference', async () => {
    const { source, informer, slow, registration } = slowInformer(['a', 'b', 'c']);
    const stopped = informer.stop();
    await stopped;
    await slow.finish();
    expect(slow.log).toEqual(['+a@1* initial']);
    expect(registration.lag).toBe(2);
    source.listed(9, pod('b', 1), pod('d', 9));
    informer.start();
    expect(registration.hasSynced).toBe(false);
    await slow.finish(9);
    expect(slow.log.slice(1)).toEqual(['+b@1* initial', '-a@1? initial', '+d@9* initial']);
    expect(registration.hasSynced).toBe(true);
  });

  it('I7: a handler may stop its own informer and await the stop', async () => {
    const { source, informer } = scriptedInformer();
    const log: string[] = [];
    addEventHandler(informer, {
      onAdd: async ({ metadata }) => {
        log.push(metadata.name);
        await settle();
        await informer.stop();
        log.push('stopped');
      },
    });
    source.listed(1, pod('a', 1), pod('b', 1));
    informer.start();
    await settle();
    await settle();
    expect(log).toEqual(['a', 'stopped']);
  });
});

describe('a slow handler', () => {
  afterEach(() => vi.restoreAllMocks());

  it('I24: one warning names a slow handler, and the next follows only after its queue was empty', async () => {
    const time = new VirtualTime();
    const warnings: InformerWarning[] = [];
    const names = Array.from({ length: 8 }, (_, at) => `p${at}`);
    const { source, slow } = slowInformer(
      names,
      { name: 'reconcile', slowPending: 3 },
      { scheduler: time, onWarning: (warning) => warnings.push(warning) },
    );
    await time.advance(100);
    await slow.finish();
    expect(warnings).toEqual([]);
    await time.advance(101);
    await slow.finish();
    expect(warnings).toMatchObject([
      { type: 'slow-handler', informer: 'pods', subscriber: 'reconcile', key: 'shop/p1' },
    ]);
    expect(warnings[0]).toMatchObject({ tookMs: 101, pending: 6 });
    expect(warnings[0]?.message).toBe(
      'reconcile took 101 ms for shop/p1 while 6 changes were waiting for it',
    );
    await time.advance(101);
    await slow.finish(20);
    expect(warnings).toHaveLength(1);
    source.send(...names.map((name) => modified(pod(name, 5))));
    await time.advance(500);
    await slow.finish(20);
    expect(warnings).toHaveLength(2);
  });

  it('I24: a slow handler without promises is named, too, by default on the console', () => {
    const time = new VirtualTime();
    const printed = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const { source, informer } = scriptedInformer({ name: 'pods', scheduler: time });
    addEventHandler(informer, { onAdd: () => time.jump(150) });
    source.listed(1, ...Array.from({ length: 1100 }, (_, at) => pod(`p${at}`, 1)));
    informer.start();
    expect(printed.mock.calls).toEqual([
      ['pods: handler 1 took 150 ms for shop/p0 while 1099 changes were waiting for it'],
    ]);
  });

  it('I24: a slow handler causes no warning while few changes wait', () => {
    const time = new VirtualTime();
    let warned = 0;
    const { source, informer } = scriptedInformer({
      scheduler: time,
      onWarning: () => {
        warned++;
      },
    });
    let calls = 0;
    addEventHandler(informer, {
      onAdd: () => {
        calls++;
        time.jump(5_000);
      },
    });
    source.listed(1, ...Array.from({ length: 1024 }, (_, at) => pod(`p${at}`, 1)));
    informer.start();
    expect([warned, calls]).toEqual([0, 1024]);
  });
});
