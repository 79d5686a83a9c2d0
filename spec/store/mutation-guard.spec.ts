import { runInNewContext } from 'node:vm';
import {
  type ChangeSet,
  createChangeSet,
  createIndexer,
  liveFilter,
  liveShare,
  toView,
} from 'rx-informer';
import { changeSet } from 'rx-informer/testing';
import { Subject } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { defaultMutationGuard, guardObject } from '../../lib/store/mutation-guard.ts';

const make = () => ({
  metadata: { name: 'a', labels: { app: 'web' } },
  spec: { ports: [{ n: 1 }] },
});

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('mutation guard', () => {
  it('S16: code that changes a cached object throws at the line of the change (TestMutationDetector)', () => {
    const indexer = createIndexer<ReturnType<typeof make>>({ mutationGuard: 'freeze' });
    indexer.add(make());
    const cached = indexer.get('a');
    expect(() => {
      if (cached) cached.metadata.labels.app = 'db';
    }).toThrow(/read only property 'app'/);
    expect(() => cached?.spec.ports.push({ n: 2 })).toThrow(TypeError);
    expect(() => {
      for (const port of indexer.list()[0]?.spec.ports ?? []) port.n = 2;
    }).toThrow(TypeError);
    expect(indexer.get('a')).toEqual(make());
  });

  it('S16: arrays and plain objects of any realm are frozen at any depth', () => {
    const nested = JSON.parse(`${'[{"a":'.repeat(50_000)}{}${'}]'.repeat(50_000)}`);
    let depth = 0;
    for (let at = guardObject(nested, 'freeze'); at !== undefined; at = at.a ?? at[0]) {
      expect(Object.isFrozen(at)).toBe(true);
      depth++;
    }
    expect(depth).toBe(100_001);
    const foreign = runInNewContext(
      '({ list: [{}], map: Object.assign(Object.create(null), { a: {} }) })',
    );
    guardObject(foreign, 'freeze');
    const { list, map } = foreign;
    for (const each of [foreign, list, list[0], map, map.a])
      expect(Object.isFrozen(each)).toBe(true);
  });

  it('S16: instances of classes and the contents of frozen objects are not frozen', () => {
    const [date, bytes, below] = [new Date(0), new Uint8Array(1), { open: true }];
    const object = { date, bytes, frozen: Object.freeze({ below }) };
    expect(guardObject(object, 'freeze')).toBe(object);
    expect([object, date, bytes, below].map(Object.isFrozen)).toEqual([true, false, false, false]);
    expect(guardObject('text', 'freeze')).toBe('text');
  });

  it('S16: a subscriber that changes the lists of a set throws, and the others get all changes', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ metadata: { name, uid: name } }));
    const updated = [{ previous: b, object: { ...b } }];
    const source$ = new Subject<ChangeSet<object>>();
    const shared$ = source$.pipe(
      liveFilter<object>(() => true),
      liveShare(),
    );
    const thrown: string[] = [];
    const greedy = (set: ChangeSet<object>) => {
      for (const list of ['changes', 'added', 'updated', 'deleted', 'left'] as const) {
        try {
          (set[list] as unknown[]).length = 0;
          (set[list] as unknown[]).push('more');
        } catch (error) {
          thrown.push(`${list}: ${error instanceof TypeError}`);
        }
      }
    };
    source$.subscribe(greedy);
    shared$.subscribe(greedy);
    const view = toView(shared$);
    view.subscribe(() => undefined);
    const inits = [
      { added: [b, c], reset: true },
      { added: [a], updated, deleted: [c] },
    ];
    for (const init of inits) {
      const set = changeSet<object>(init as never);
      source$.next(createChangeSet<object>(set, set.changes));
    }
    expect(view.getSnapshot().rows).toEqual([{ ...b }, a]);
    const lists = ['changes', 'added', 'updated', 'deleted', 'left'];
    expect(thrown).toEqual([...lists, ...lists, ...lists, ...lists].map((each) => `${each}: true`));
    const late = createChangeSet(changeSet({}), () => [{ id: 'a', key: 'a', object: a as never }]);
    expect([late.changes, late.added].map(Object.isFrozen)).toEqual([true, true]);
  });

  it('S16: in production the lists are not frozen, because that costs time', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    vi.resetModules();
    const production = await import('rx-informer');
    const { changes, ...head } = changeSet({ added: [{ metadata: { name: 'a', uid: 'a' } }] });
    const set = production.createChangeSet(head, [...changes]);
    expect([set.changes, set.added, set.left].map(Object.isFrozen)).toEqual([false, false, false]);
  });

  it('S16: with `off` objects are stored as they are, not frozen', () => {
    const indexer = createIndexer<ReturnType<typeof make>>({ mutationGuard: 'off' });
    const object = make();
    indexer.add(object);
    expect(indexer.get('a')).toBe(object);
    expect(Object.isFrozen(object)).toBe(false);
  });

  it.each([
    ['development', 'freeze'],
    ['test', 'freeze'],
    ['production', 'off'],
    ['', 'freeze'],
    ['staging', 'freeze'],
  ])('S53: NODE_ENV %j means %s', (mode, guard) => {
    vi.stubEnv('NODE_ENV', mode);
    expect(defaultMutationGuard()).toBe(guard);
    const indexer = createIndexer<ReturnType<typeof make>>();
    indexer.add(make());
    expect(Object.isFrozen(indexer.get('a')?.spec)).toBe(guard === 'freeze');
  });

  it('S53: without NODE_ENV or without a process, as in a page without a bundler, objects are frozen', () => {
    vi.stubEnv('NODE_ENV', undefined);
    expect(defaultMutationGuard()).toBe('freeze');
    vi.stubGlobal('process', undefined);
    expect(defaultMutationGuard()).toBe('freeze');
    vi.unstubAllGlobals();
  });
});
