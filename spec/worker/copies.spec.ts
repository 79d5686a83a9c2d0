/** Tests what a message cannot carry: rows, errors and parameters that are not data. */
import { liveQuery } from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { workerQuery } from 'rx-informer/worker';
import { describe, expect, it } from 'vitest';
import { BrowserRig, follow } from './browser-rig.ts';
import { names, rigWith } from './rig-pods.ts';

const selecting = (project: (pod: Pod) => unknown) => () =>
  liveQuery({ from: pods, select: { key: 'own', project } } as never) as never;
const own = { named: 'own' } as never;

describe('what cannot be copied', () => {
  it('B4: a query whose rows cannot be copied has an error, and the other queries of the tab have their rows', async () => {
    const rig = rigWith('a');
    rig.queries = { own: selecting(({ metadata }) => ({ name: metadata?.name, open: () => 1 })) };
    const { cluster } = rig.open();
    const [tab, other] = [follow(cluster, own), follow(cluster, names)];
    await rig.pass(3_000);
    expect(String(tab.shown.status.error)).toMatch(/cannot be sent to a tab: .*select data only/);
    expect([other.shown.rows.length, other.shown.synced]).toEqual([1, true]);
    await rig.pass(120_000);
    expect(rig.counts.tabs).toBe(1);
  });

  it.each<[string, unknown]>([
    ['without a text', Object.create(null)],
    ['whose message is a function', Object.assign(new Error('a'), { message: () => 1 })],
    ['whose stack is a list of functions', Object.assign(new Error('a'), { stack: [() => 1] })],
    [
      'whose message throws',
      Object.defineProperty(new Error('a'), 'message', {
        get: () => {
          throw new Error('no');
        },
      }),
    ],
  ])('B4: an error %s reaches the tab, and the other rows do, too', async (_what, thrown) => {
    const rig = rigWith('a', 'b');
    rig.queries = {
      own: selecting(({ metadata }) => {
        if (metadata?.name === 'b') throw thrown;
        return { name: metadata?.name };
      }),
    };
    const tab = follow(rig.open().cluster, own);
    await rig.pass(3_000);
    expect([tab.shown.rows.length, tab.shown.status.refusedRows.length]).toEqual([1, 1]);
    expect(tab.shown.status.refusedRows[0]?.error).toBeInstanceOf(Error);
  });

  it.each<[string, unknown]>([
    ['Set', new Set(['a'])],
    ['Map', new Map()],
    ['Date', new Date(0)],
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['BigInt', 1n],
    ['Symbol', Symbol('a')],
    ['Promise', Promise.resolve()],
    ['Uint8Array', new Uint8Array(1)],
  ])('B3: a parameter that is not JSON is refused with its place: %s', (type, value) => {
    const { cluster } = new BrowserRig().open();
    const message = new RegExp(`since is (a )?${type}, .*pass data of JSON`);
    expect(() => workerQuery('own', { since: value } as never)).toThrow(message);
    expect(() => cluster.view({ named: 'own', params: { since: value } } as never)).toThrow(
      message,
    );
    expect(() => cluster.view({ from: pods, limit: 1, since: value } as never)).toThrow(message);
  });

  it('B3: undefined in a list, which JSON makes null, is refused with its place', () => {
    const of = (params: unknown) => () => workerQuery('own', params as never);
    expect(of([1, undefined])).toThrow('1 is undefined, which a worker cannot receive');
    // biome-ignore lint/suspicious/noSparseArray: a hole is the case
    expect(of({ names: [, 'a'] })).toThrow('names.0 is undefined, which a worker cannot receive');
    expect(of({ name: undefined })).not.toThrow();
    expect(of(undefined)).not.toThrow();
  });

  it('B3: queries are the same if and only if the worker receives the same', async () => {
    const rig = rigWith('a');
    const received: unknown[] = [];
    rig.queries = {
      own: (params: never) => {
        received.push(params);
        return liveQuery({ from: pods, select: { name: 'metadata.name' } }) as never;
      },
    };
    const { cluster } = rig.open();
    const view = (params: unknown) => cluster.view(workerQuery('own', params as never) as never);
    expect(view({ a: -0, b: undefined })).toBe(view({ a: 0 }));
    expect(view({ a: 0 })).not.toBe(view({ a: null }));
    await rig.pass(100);
    view({ a: -0, b: undefined }).subscribe(() => undefined);
    await rig.pass(1_000);
    expect(received).toEqual([{ a: 0 }]);
    expect(Object.keys(received[0] as object)).toEqual(['a']);
  });
});
