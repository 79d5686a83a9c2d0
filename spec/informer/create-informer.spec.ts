/** The unshared informer, `createInformer`. */

import {
  ApiError,
  createInformer,
  metaNamespaceKeyFunc,
  metricsOf,
  type WatchEvent,
} from 'rx-informer';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import * as fc from '../support/fast-check.ts';
import {
  added,
  deleted,
  modified,
  type Pod,
  pod,
  scriptedListWatch,
} from '../support/scripted-list-watch.ts';
import { logging, settle, slowly } from './handler-rig.ts';
import { mirror } from './mirror.ts';

describe('an unshared informer', () => {
  it('I14: sends no request before the start, then notifies its handler and fills its store (ExampleNewInformer)', async () => {
    const source = scriptedListWatch();
    const log: string[] = [];
    const informer = createInformer(source, logging(log), { name: 'pods' });
    expect([source.asked, informer.hasSynced, informer.status.phase]).toEqual([[], false, 'idle']);
    source.listed(1, pod('a', 1));
    informer.start();
    informer.start();
    await informer.whenSynced();
    source.send(added(pod('b', 2)), deleted(pod('a', 3)));
    expect(log).toEqual(['+a@1* initial', '-a@3 watch', '+b@2 watch']);
    expect(informer.indexer.listKeys()).toEqual(['shop/b']);
    expect([informer.lastSyncResourceVersion, informer.isStopped]).toEqual(['3', false]);
    expect(source.asked).toEqual(['L0', 'W1']);
    await informer.stop();
    expect([source.open, informer.isStopped, informer.status.phase]).toEqual([0, true, 'stopped']);
  });

  it('I12, I7, I14: is synced after its async handler, and keeps the waiting changes over a stop', async () => {
    const source = scriptedListWatch();
    const slow = slowly();
    const informer = createInformer(source, slow.handler);
    source.listed(1, pod('a', 1), pod('b', 1));
    informer.start();
    expect([informer.hasSynced, informer.lag]).toEqual([false, 1]);
    const failed = informer.whenSynced().catch(String);
    await informer.stop();
    expect(await failed).toMatch(/informer was stopped/);
    await slow.finish();
    expect(slow.log).toHaveLength(1);
    source.listed(2, pod('a', 1), pod('b', 1));
    informer.start();
    await slow.finish(5);
    await informer.whenSynced();
    expect(slow.log).toEqual(['+a@1* initial', '+b@1* initial']);
    await informer.stop();
  });

  it('I9, I14: its errors name the informer, and createInformer', async () => {
    const time = new VirtualTime();
    const source = scriptedListWatch();
    const slow = slowly();
    const informer = createInformer(source, slow.handler, { name: 'pods', scheduler: time });
    const timedOut = async () => {
      const failed = informer.whenSynced({ timeoutMs: 5 }).catch(String);
      await time.advance(5);
      return failed;
    };
    expect(await timedOut()).toMatch(/pods is not synced after 5 ms: it was not started/);
    source.listed(1, pod('a', 1));
    informer.start();
    expect(await timedOut()).toMatch(/pods is not synced after 5 ms: the handler is busy/);
    await informer.stop();
    expect(() => createInformer(source, {}, { resyncPeriodMs: 5 })).toThrow(/^createInformer: /);
  });

  it('I3, I14: reports subscribers of status$ and metrics$ that throw', () => {
    const reported: string[] = [];
    const informer = createInformer(
      scriptedListWatch(),
      {},
      { onUnhandledError: (error, { subscriber }) => reported.push(`${subscriber}: ${error}`) },
    );
    const page = () => {
      throw new Error('not painted');
    };
    informer.status$.subscribe(page);
    metricsOf(informer).metrics$.subscribe(page);
    expect(reported).toEqual(['page: Error: not painted', 'page: Error: not painted']);
  });

  it('I3, I14: reports an error of its handler, and stops when onError returns stop', async () => {
    const source = scriptedListWatch();
    const errors: unknown[] = [];
    const phases: string[] = [];
    const informer = createInformer<Pod>(
      source,
      {
        onAdd: () => {
          throw new Error('boom');
        },
      },
      {
        name: 'pods',
        onUnhandledError: (_error, context) => errors.push(context),
        onError: () => 'stop',
      },
    );
    informer.status$.subscribe(({ phase }) => phases.push(phase));
    source.listed(1, pod('a', 1));
    informer.start();
    expect(informer.hasSynced).toBe(true);
    expect(errors).toEqual([{ informer: 'pods', subscriber: 'handler', key: 'shop/a' }]);
    source.fail(ApiError.fromStatus({ code: 403, reason: 'Forbidden' }, 403));
    expect([informer.isStopped, source.open, phases.at(-1)]).toEqual([true, 0, 'stopped']);
    source.listed(2, pod('a', 2));
    informer.start();
    expect(informer.lastSyncResourceVersion).toBe('2');
    await informer.stop();
  });

  it('I14: after any sequence of changes the handler, the store and the server agree (TestHammerController)', async () => {
    const step = fc.tuple(fc.nat(4), fc.constantFrom('put', 'end', 'recreate', 'relist', 'turn'));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 100 }), fc.boolean(), async (steps, awaited) => {
        const time = new VirtualTime();
        const source = scriptedListWatch();
        const had = new Map<string, Pod>();
        const answer = () => (awaited ? Promise.resolve() : undefined);
        const informer = createInformer<Pod>(source, mirror(had, answer), {
          scheduler: time,
          backoff: () => 0,
        });
        const server = new Map<string, Pod>();
        let version = 1;
        source.listed(version);
        informer.start();
        for (const [which, what] of steps) {
          const name = `p${which}`;
          const there = server.get(name);
          version++;
          let event: WatchEvent<Pod> | undefined;
          if (what === 'put' || (what === 'recreate' && there === undefined)) {
            const object = pod(name, version, there?.metadata.uid ?? `${name}-${version}`);
            server.set(name, object);
            event = there === undefined ? added(object) : modified(object);
          } else if (what === 'end' && there !== undefined) {
            server.delete(name);
            event = deleted({
              ...there,
              metadata: { ...there.metadata, resourceVersion: String(version) },
            });
          } else if (what === 'recreate') {
            const object = pod(name, version, `${name}-${version}`);
            server.set(name, object);
            event = added(object);
          } else if (what === 'relist') {
            source.listed(version, ...server.values());
            source.fail(ApiError.fromStatus({ code: 410, reason: 'Expired' }, 410));
            await time.advance(1);
          } else await settle();
          if (event !== undefined) source.send(event);
        }
        await settle();
        await settle();
        const truth = [...server.values()].map(
          (object) => [metaNamespaceKeyFunc(object), object.metadata.resourceVersion] as const,
        );
        const of = (objects: Iterable<[string, Pod | undefined]>) =>
          new Map([...objects].map(([key, object]) => [key, object?.metadata.resourceVersion]));
        const { indexer } = informer;
        expect(of(had)).toEqual(new Map(truth));
        expect(of(indexer.listKeys().map((key) => [key, indexer.getByKey(key)]))).toEqual(
          new Map(truth),
        );
        await informer.stop();
        expect(source.open).toBe(0);
      }),
      { numRuns: 50 },
    );
  });
});
