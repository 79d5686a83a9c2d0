/** Joins: `liveJoin()`. */

import {
  type ChangeSet,
  createChangeSet,
  type JoinBySelector,
  type JoinedRow,
  type JoinOn,
  type KubernetesObject,
  liveJoin,
  liveMap,
  selectNothing,
  toView,
} from 'rx-informer';
import { changeSet, inTurn } from 'rx-informer/testing';
import {
  BehaviorSubject,
  config,
  NEVER,
  type Observable,
  of,
  Subject,
  VirtualTimeScheduler,
} from 'rxjs';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import * as fc from '../support/fast-check.ts';
import { isProduction } from '../support/production.ts';
import { Mirror } from './mirror.ts';
import { type Item, type Step, World } from './world.ts';

interface Thing extends KubernetesObject {
  readonly metadata: NonNullable<KubernetesObject['metadata']> & { name: string; uid: string };
  readonly of?: string | readonly string[];
}

function thing(
  uid: string,
  more: Partial<Thing> & {
    owners?: string[];
    labels?: Record<string, string>;
    namespace?: string;
  } = {},
): Thing {
  const { owners = [], labels, namespace, ...rest } = more;
  const ownerReferences = owners.map((owner) => ({
    apiVersion: 'v1',
    kind: 'Owner',
    name: owner,
    uid: owner,
  }));
  return {
    metadata: {
      name: uid,
      uid,
      ownerReferences,
      ...(labels === undefined ? {} : { labels }),
      ...(namespace === undefined ? {} : { namespace }),
    },
    ...rest,
  };
}

/** Two sources whose sets a test emits, and the joined rows. */
function join(on: JoinOn<Thing, Thing>, more: object = {}) {
  const left = new Subject<ChangeSet<Thing>>();
  const right = new Subject<ChangeSet<Thing>>();
  const joined$ = left.pipe(liveJoin<Thing, Thing>(right, { on, ...more }));
  const mirror = new Mirror<JoinedRow<Thing, Thing>>(joined$);
  const shown = () =>
    mirror.objects().map(({ left: { metadata }, right: found }) => {
      const names = [found ?? []].flat().map((each) => each.metadata.name);
      return `${metadata.name}[${names.join()}]`;
    });
  const row = (id: string) => mirror.rows.get(id)?.object as JoinedRow<Thing, Thing>;
  return { left, right, mirror, shown, row, joined$ };
}

const keys: JoinOn<Thing, Thing> = {
  left: ({ metadata }) => metadata.name,
  right: (right) => right.of,
};
const update = (previous: Thing, object: Thing) =>
  changeSet<Thing>({ updated: [{ previous, object }] } as never);
const add = (...added: Thing[]) => changeSet<Thing>({ added } as never);
const remove = (...deleted: Thing[]) => changeSet<Thing>({ deleted } as never);
const first = (...added: Thing[]) => changeSet<Thing>({ added, reset: true } as never);

// What no view shows is reported, after the test.
beforeAll(() => {
  config.onUnhandledError = () => undefined;
});

describe('liveJoin', () => {
  it('Q40: has one row for each left row, with its id and key, in any order of arrival; an orphan has an empty list', () => {
    const { left, right, shown, mirror } = join(keys);
    right.next(first(thing('p1', { of: 'a' }), thing('p2', { of: 'none' })));
    expect(mirror.sets.map(({ synced, reset }) => [synced, reset])).toEqual([[false, true]]);
    left.next(first(thing('a'), thing('b')));
    expect(shown()).toEqual(['a[p1]', 'b[]']);
    expect(mirror.sets.at(-1)?.synced).toBe(true);
    right.next(add(thing('p3', { of: 'b' })));
    right.next(remove(thing('p1', { of: 'a' })));
    expect(shown()).toEqual(['a[]', 'b[p3]']);
    left.next(remove(thing('b')));
    left.next(add(thing('c')));
    right.next(update(thing('p3', { of: 'b' }), thing('p3', { of: 'c' })));
    expect([shown(), [...mirror.rows.values()].map(({ id, key }) => [id, key])]).toEqual([
      ['a[]', 'c[p3]'],
      [
        ['a', 'a'],
        ['c', 'c'],
      ],
    ]);
    const [last] = mirror.sets.slice(-1);
    expect([last?.resourceVersion, last?.rev]).toEqual(['', mirror.sets.length]);
  });

  it('Q41: the right rows are ordered by id in code units; the list and the row stay the same until they change', () => {
    const { left, right, shown, row, mirror } = join(keys);
    const [a, b] = [thing('a'), thing('b')];
    left.next(first(a, b));
    right.next(first(thing('p10', { of: 'a' }), thing('p9', { of: 'a' }), thing('P', { of: 'a' })));
    right.next(add(thing('é', { of: 'a' }), thing('p1', { of: 'a' })));
    expect(shown()[0]).toBe('a[P,p1,p10,p9,é]');
    const [rowA, rowB] = [row('a'), row('b')];
    right.next(add(thing('q', { of: 'b' })));
    expect([row('a') === rowA, row('b') === rowB]).toEqual([true, false]);
    const a2 = thing('a');
    left.next(update(a, a2));
    expect(row('a')).not.toBe(rowA);
    expect([row('a').right === rowA.right, row('a').left === a2]).toEqual([true, true]);
    // A resync, and a row that leaves its list and is back before the turn ends, change nothing.
    const sets = mirror.sets.length;
    const p1 = rowA.right[1] as Thing;
    right.next(update(p1, p1));
    inTurn(() => {
      right.next(remove(p1));
      right.next(add(p1));
    });
    expect(mirror.sets.length).toBe(sets);
    // What was emitted before has not changed.
    right.next(remove(p1));
    expect([rowA.right.length, row('a').right.length]).toEqual([5, 4]);
  });

  it('Q41: a list that was emitted stays as it was when a right row is replaced', () => {
    const { left, right, row, mirror } = join(keys);
    left.next(first(thing('a')));
    let [p1, p2] = [thing('p1', { of: 'a' }), thing('p2', { of: 'a' })];
    right.next(first(p1, p2));
    for (let round = 0; round < 3; round++) {
      const before = row('a').right;
      const replaced = thing('p2', { of: 'a' });
      right.next(update(p2, replaced));
      expect(row('a').right).not.toBe(before);
      expect([before[1] === p2, row('a').right[1] === replaced]).toEqual([true, true]);
      p2 = replaced;
    }
    const [before, sets] = [row('a').right, mirror.sets.length];
    const [other, last] = [thing('p1', { of: 'a' }), thing('p1', { of: 'a' })];
    inTurn(() => {
      right.next(update(p1, other));
      right.next(update(other, last));
    });
    expect([before[0] === p1, row('a').right[0] === last]).toEqual([true, true]);
    p1 = last;
    inTurn(() => {
      right.next(update(p1, other));
      right.next(update(other, p1));
    });
    expect(mirror.sets.length).toBe(sets + 1);
  });

  it.skipIf(isProduction)(
    'Q90: a row and its list are frozen, so code that changes them throws',
    () => {
      const { left, right, row } = join(keys);
      left.next(first(thing('a'), thing('b')));
      right.next(first(thing('p1', { of: ['a', 'b'] }), thing('p2', { of: 'a' })));
      const { right: list } = row('a');
      expect(() => (list as Thing[]).reverse()).toThrow(TypeError);
      expect([row('a'), list, row('b'), row('b').right].map(Object.isFrozen)).not.toContain(false);
      expect(list.map(({ metadata }) => metadata.uid)).toEqual(['p1', 'p2']);
    },
  );

  it('Q90: in production a list that a consumer has changed is correct again with the next change', () => {
    vi.stubEnv('NODE_ENV', 'production');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { left, right, shown, row } = join(keys);
    const owned = ['p1', 'p2', 'p3', 'p4'].map((uid) => thing(uid, { of: 'a' }));
    left.next(first(thing('a')));
    right.next(first(...owned));
    const [p1, p2, p3] = owned as [Thing, Thing, Thing];
    const spoil = () => (row('a').right as Thing[]).reverse();
    spoil();
    right.next(remove(p1));
    expect(shown()).toEqual(['a[p2,p3,p4]']);
    spoil();
    right.next(update(p2, thing('p2', { of: 'a' })));
    expect(shown()).toEqual(['a[p2,p3,p4]']);
    spoil().length = 0;
    right.next(add(p1));
    expect(shown()).toEqual(['a[p1,p2,p3,p4]']);
    spoil();
    inTurn(() => {
      right.next(remove(p3));
      right.next(add(thing('p5', { of: 'a' })));
    });
    expect(shown()).toEqual(['a[p1,p2,p4,p5]']);
  });

  it('Q41: of two right rows with one object, the one that changes is replaced', () => {
    const left = new Subject<ChangeSet<Thing>>();
    const right = new Subject<ChangeSet<{ readonly name: string }>>();
    const on = { left: ({ metadata }: Thing) => metadata.name, right: () => 'a' };
    const mirror = new Mirror(left.pipe(liveJoin(right, { on })));
    const [shared, other] = [{ name: 'shared' }, { name: 'other' }];
    const set = (reset: boolean, changes: object[]) =>
      createChangeSet<{ readonly name: string }>(
        { rev: 1, cause: 'watch', reset, synced: true, initial: false, resourceVersion: '' },
        changes as never,
      );
    left.next(first(thing('a')));
    right.next(
      set(
        true,
        ['1', '2'].map((id) => ({ id, key: id, object: shared })),
      ),
    );
    right.next(set(false, [{ id: '2', key: '2', previous: shared, object: other }]));
    expect(mirror.objects().map((row) => row.right)).toEqual([[shared, other]]);
  });

  it('Q41: with `one` a row has the right row of the lowest id, or undefined', () => {
    const { left, right, shown, row } = join(keys, { one: true });
    left.next(first(thing('a')));
    right.next(first());
    expect(row('a').right).toBeUndefined();
    const [p1, p2] = [thing('p1', { of: 'a' }), thing('p2', { of: 'a' })];
    right.next(add(p2));
    expect(row('a').right).toBe(p2);
    right.next(add(p1));
    const before = row('a');
    right.next(remove(p2));
    expect([shown(), row('a') === before]).toEqual([['a[p1]'], true]);
  });

  it('Q42: by owner reference: the owner may be on either side, and only its UID counts', () => {
    const sets = [thing('rs1'), thing('rs2')];
    const pods = [
      thing('p1', { owners: ['rs1'] }),
      thing('p2', { owners: ['x', 'rs1'] }),
      thing('p3'),
    ];
    const owners = join({ owner: 'left' });
    owners.right.next(first(...pods));
    owners.left.next(first(...sets));
    expect(owners.shown()).toEqual(['rs1[p1,p2]', 'rs2[]']);
    const owned = join({ owner: 'right' }, { one: true });
    owned.right.next(first(...sets));
    owned.left.next(first(...pods));
    expect(owned.shown()).toEqual(['p1[rs1]', 'p2[rs1]', 'p3[]']);
    // Another object of the same name is another owner.
    const other = { metadata: { ...thing('rs1').metadata, uid: 'other' } };
    owners.left.next(changeSet<Thing>({ deleted: [thing('rs1')], added: [other] } as never));
    expect(owners.shown()).toEqual(['rs1[]', 'rs2[]']);
    // A row that was made of an object still has its UID as its id.
    const mapped = of(first(...sets)).pipe(
      liveMap(({ metadata }) => ({ name: metadata.name })),
      liveJoin(of(first(...pods)), { on: { owner: 'left' } }),
    );
    const rows = new Mirror<JoinedRow<{ name: string }, Thing>>(mapped).objects();
    expect(rows.map(({ left, right }) => [left.name, right.length])).toEqual([
      ['rs1', 2],
      ['rs2', 0],
    ]);
  });

  it('Q42: by keys: undefined joins nothing, several keys join the rows of each once', () => {
    const { left, right, shown } = join({ left: (each) => each.of, right: (each) => each.of });
    left.next(first(thing('a', { of: ['x', 'y', 'x'] }), thing('b'), thing('c', { of: 'y' })));
    right.next(first(thing('p', { of: ['y', 'x'] }), thing('q', { of: 'y' }), thing('r')));
    expect(shown()).toEqual(['a[p,q]', 'b[]', 'c[p,q]']);
    right.next(update(thing('q', { of: 'y' }), thing('q', { of: 'z' })));
    left.next(update(thing('c', { of: 'y' }), thing('c', { of: ['z', 'none'] })));
    expect(shown()).toEqual(['a[p]', 'b[]', 'c[q]']);
  });

  it('Q41: a function that throws keeps its row out, and a key of a row that joins itself is another call', () => {
    const rows = new Subject<ChangeSet<Thing>>();
    const fails = (side: string) => (each: Thing) => {
      if (each.of === side) throw new Error(side);
      return 'k';
    };
    const joined$ = rows.pipe(
      liveJoin(rows, { on: { left: fails('left'), right: fails('right') } }),
    );
    const view = toView(joined$);
    view.subscribe(() => undefined);
    const shown = () =>
      view.getSnapshot().rows.map(({ left, right }) => `${left.metadata.name}${right.length}`);
    const refusedRows = () =>
      view.getSnapshot().status.refusedRows.map(({ id, error }) => `${id}: ${error}`);
    rows.next(first(thing('a', { of: 'left' }), thing('b', { of: 'right' }), thing('c')));
    expect([shown(), refusedRows()]).toEqual([
      ['b2', 'c2'],
      ['a: Error: left', 'b: Error: right'],
    ]);
    rows.next(update(thing('b', { of: 'right' }), thing('b')));
    rows.next(update(thing('a', { of: 'left' }), thing('a')));
    expect([shown(), refusedRows()]).toEqual([['b3', 'c3', 'a3'], []]);
    rows.next(update(thing('a'), thing('a', { of: 3 as never })));
    rows.next(remove(thing('a')));
    expect(refusedRows()).toEqual([]);
  });

  it('Q41: a row that an inner join omits is not listed as refused any more', () => {
    const [left, right] = [new Subject<ChangeSet<Thing>>(), new Subject<ChangeSet<Thing>>()];
    const project = () => {
      throw new Error('no');
    };
    const view = toView(left.pipe(liveJoin(right, { on: keys, type: 'inner', project })));
    view.subscribe(() => undefined);
    left.next(first(thing('a')));
    right.next(first(thing('p', { of: 'a' })));
    expect(view.getSnapshot().status.refusedRows.map(({ id }) => id)).toEqual(['a']);
    right.next(remove(thing('p', { of: 'a' })));
    expect(view.getSnapshot().status.refusedRows).toEqual([]);
  });

  it('Q41: `project` makes rows of its own, keeps rows out, and is called only for what changed', () => {
    const calls: string[] = [];
    const project = ({ metadata }: Thing, right: readonly Thing[]) => {
      calls.push(metadata.name);
      if (right.length === 2) throw new Error('two');
      return right.length === 3 ? undefined : { name: metadata.name, some: right.length > 0 };
    };
    const { left, right, mirror } = join(keys, { project });
    const rows = mirror.rows as unknown as Map<string, { object: unknown }>;
    left.next(first(thing('a'), thing('b')));
    right.next(first(thing('p1', { of: 'a' })));
    expect(rows.get('a')?.object).toEqual({ name: 'a', some: true });
    const before = rows.get('a')?.object;
    calls.length = 0;
    const sets = mirror.sets.length;
    right.next(update(thing('p1', { of: 'a' }), thing('p1', { of: 'a' })));
    expect([calls, mirror.sets.length, rows.get('a')?.object === before]).toEqual([
      ['a'],
      sets,
      true,
    ]);
    right.next(add(thing('p2', { of: 'a' })));
    expect(mirror.ids()).toEqual(['b']);
    right.next(add(thing('p3', { of: 'a' })));
    expect(mirror.ids()).toEqual(['b']);
    right.next(add(thing('p4', { of: 'a' })));
    expect(rows.get('a')?.object).toEqual({ name: 'a', some: true });
  });

  it('Q41: an invalid option throws where the join is made', () => {
    const right$: Observable<ChangeSet<Thing>> = NEVER;
    const made =
      (options: object, right: unknown = right$) =>
      () =>
        liveJoin<Thing, Thing>(right as typeof right$, options as never);
    expect(made({ on: 'owner' })).toThrow(/^liveJoin: on is "owner"; it must be { owner/);
    expect(made({ on: { owner: 'both' } })).toThrow(TypeError);
    expect(made({ on: { left: () => '' } })).toThrow(TypeError);
    expect(made({})).toThrow(TypeError);
    expect(made({ on: keys, type: 'outer' })).toThrow(
      "liveJoin: type is \"outer\"; it must be 'left' or 'inner'",
    );
    expect(made({ on: keys, project: 3 })).toThrow(TypeError);
    expect(made({ on: keys }, [])).toThrow(/^liveJoin: right\$ is a list; it must be a stream/);
    const on$ = new BehaviorSubject<JoinOn<Thing, Thing>>(keys);
    const mirror = new Mirror(of(first(thing('a'))).pipe(liveJoin(right$, { on: on$ })));
    expect(mirror.ids()).toEqual(['a']);
    on$.next({} as never);
    expect(String(mirror.error)).toMatch(/^TypeError: liveJoin: on is \{\};/);
  });
});

const SELECTORS = [
  undefined,
  {},
  'app=a',
  { matchLabels: { app: 'b' } },
  'app in (a,b),tier=1',
  'tier!=0',
  'app=a,tier=1',
  'app=(',
  '!app',
  { matchLabels: { tier: '1', app: 'c' } },
  null,
  selectNothing,
  '',
  { matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['0'] }] },
  'app in (a,b),tier',
] as const;

function left(item: Item): Thing & { n: number } {
  const { metadata, n, group } = item;
  return { metadata: { ...metadata, namespace: group === 'c' ? 'y' : 'x' }, n };
}

function right(item: Item): Thing {
  const { metadata, n, group } = item;
  const labels: Record<string, string> = n === 3 ? {} : { app: group, tier: String(n % 3) };
  return { metadata: { ...metadata, namespace: n > 6 ? 'y' : 'x', labels } };
}

const steps = fc.array(
  fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    what: fc.constantFrom<Step['what'][]>('set', 'set', 'set', 'delete', 'recreate', 'again'),
    n: fc.nat(SELECTORS.length - 1),
    group: fc.constantFrom('a', 'b', 'c'),
  }),
  { maxLength: 4 },
);
const changed = fc.oneof(
  { weight: 6, arbitrary: steps.map((commit) => ({ commit })) },
  {
    weight: 1,
    arbitrary: fc
      .uniqueArray(
        fc.record({ name: fc.constantFrom('a', 'b', 'c', 'g'), n: fc.nat(SELECTORS.length - 1) }),
        {
          selector: ({ name }) => name,
        },
      )
      .map((reset) => ({ reset })),
  },
  { weight: 1, arbitrary: fc.boolean().map((across) => ({ across })) },
);

function apply(
  world: World,
  change: { commit?: Step[]; reset?: { name: string; n: number }[] },
): void {
  if (change.commit !== undefined) world.commit(change.commit);
  else if (change.reset !== undefined) world.reset(change.reset);
}

/** The naive answer: the ids of the right rows for each left id. */
function naive(lefts: World, rights: World, across: boolean): Map<string, string[]> {
  const answer = new Map<string, string[]>();
  const all = [...rights.items.values()].map(right);
  for (const each of [...lefts.items.values()].map(left)) {
    const { app, tier } = {
      app: (l: Thing) => l.metadata.labels?.['app'],
      tier: (l: Thing) => l.metadata.labels?.['tier'],
    };
    const matches: Record<number, (other: Thing) => boolean> = {
      0: () => false,
      1: () => true,
      2: (other) => app(other) === 'a',
      3: (other) => app(other) === 'b',
      4: (other) => ['a', 'b'].includes(app(other) ?? '') && tier(other) === '1',
      5: (other) => tier(other) !== '0',
      6: (other) => app(other) === 'a' && tier(other) === '1',
      8: (other) => app(other) === undefined,
      9: (other) => app(other) === 'c' && tier(other) === '1',
      10: () => false,
      11: () => false,
      12: () => true,
      13: (other) => tier(other) !== '0',
      14: (other) => ['a', 'b'].includes(app(other) ?? '') && tier(other) !== undefined,
    };
    const test = matches[each.n];
    if (test === undefined) continue;
    const found = all.filter(
      (other) => test(other) && (across || other.metadata.namespace === each.metadata.namespace),
    );
    answer.set(each.metadata.uid, found.map(({ metadata }) => metadata.uid).sort());
  }
  return answer;
}

describe('joins by selector', () => {
  it('Q43, Q41: hold the naive answer and keep what has not changed, through relists and another `on`', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.boolean(), changed), { maxLength: 40, size: 'max' }),
        (events) => {
          const [lefts, rights] = [new World(), new World()];
          const selectorOf = (each: Thing & { n: number }) => SELECTORS[each.n];
          const on$ = new BehaviorSubject<JoinBySelector<Thing & { n: number }>>({ selectorOf });
          const joined$ = lefts.changes$.pipe(
            liveMap(left),
            liveJoin(rights.changes$.pipe(liveMap(right)), {
              on: on$,
              scheduler: new VirtualTimeScheduler(),
            }),
          );
          const mirror = new Mirror(joined$);
          let before = new Map(mirror.rows);
          for (const [isLeft, change] of events) {
            if ('across' in change) on$.next({ selectorOf, acrossNamespaces: change.across });
            else apply(isLeft ? lefts : rights, change);
            const expected = naive(lefts, rights, on$.value.acrossNamespaces === true);
            expect(mirror.ids()).toEqual([...expected.keys()].sort());
            for (const [id, { object: row }] of mirror.rows) {
              expect(row.right.map(({ metadata }) => metadata.uid)).toEqual(expected.get(id));
              const former = before.get(id)?.object;
              const isSameRight =
                former?.right.length === row.right.length &&
                former.right.every((each, at) => each === row.right[at]);
              if (isSameRight) expect(row.right).toBe(former.right);
              if (isSameRight && former.left === row.left) expect(row).toBe(former);
            }
            before = new Map(mirror.rows);
          }
          mirror.subscription.unsubscribe();
        },
      ),
      { numRuns: 300 },
    );
  });
});
