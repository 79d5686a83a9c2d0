/** Joins of rows that are no objects any more: which object each was made of. */
import {
  type ChangeSet,
  count,
  type JoinBySelector,
  type JoinThrough,
  type KubernetesObject,
  liveFlatMap,
  liveGroupBy,
  liveJoin,
  liveMap,
  liveShare,
  liveUnion,
  through,
  toView,
} from 'rx-informer';
import { changeSet } from 'rx-informer/testing';
import { defer, type Observable, of } from 'rxjs';
import { map } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';

type Rows = Observable<ChangeSet<unknown>>;
type On = { readonly owner: 'left' | 'right' } | JoinBySelector<unknown> | JoinThrough;

interface Thing extends KubernetesObject {
  readonly parts?: readonly string[];
}

/** An object as a server sends it; without a namespace it is cluster-scoped. */
function thing(name: string, more: object = {}, parts: readonly string[] = []): Thing {
  return { metadata: { name, uid: `uid-of-${name}`, ...more }, parts };
}

const owned = (name: string, owner: string, more: object = {}) =>
  thing(name, {
    ownerReferences: [{ apiVersion: 'v1', kind: 'Owner', name: owner, uid: `uid-of-${owner}` }],
    ...more,
  });
const rows = (...added: readonly Thing[]): Rows =>
  of(changeSet({ added: [...added], reset: true } as never)) as unknown as Rows;

/** The rows of a join: how the left row is written, and the names of the right ones. */
function joined(left$: Rows, right$: Rows, on: On) {
  const view = toView(left$.pipe(liveJoin(right$ as never, { on: on as never })));
  const leave = view.subscribe(() => undefined);
  const { rows: all, status } = view.getSnapshot();
  leave();
  const nameOf = (row: unknown) => {
    const { metadata, name } = Object(row) as Thing & { readonly name?: string };
    return metadata?.name ?? name ?? (row as string);
  };
  const shown = (all as readonly { left: unknown; right: readonly unknown[] }[]).map(
    (row) => `${nameOf(row.left)}: ${row.right.map(nameOf).join(' ')}`,
  );
  return { shown, refused: status.refusedRows.map(({ key, error }) => [key, String(error)]) };
}

const slim = liveMap((row: unknown) => ({ name: (row as Thing).metadata?.name }));
const partsOf = liveFlatMap((row: unknown) => (row as Thing).parts);
const pipe = (source$: Rows, ...operators: readonly unknown[]): Rows =>
  operators.reduce<unknown>(
    (all$, operator) => (operator as (each: unknown) => unknown)(all$),
    source$,
  ) as Rows;
const named = (east$: Rows, west$: Rows = rows()): Rows =>
  liveUnion({ east: east$, west: west$ }) as Rows;

describe('a join by owner', () => {
  const owners$ = rows(thing('web', { namespace: 'shop' }, ['a', 'b/c', '100%']));
  const pods$ = rows(owned('web-0', 'web', { namespace: 'shop' }));
  const web = ['web: web-0'];

  it.each<[string, Rows, readonly string[]]>([
    ['a map', pipe(owners$, slim), web],
    ['a union', named(owners$), web],
    ['a map of a union', pipe(named(owners$), slim), web],
    ['a union of maps', named(pipe(owners$, slim)), web],
    ['a union of unions', pipe(named(named(owners$)), slim), web],
    [
      'operators of RxJS',
      pipe(
        named(owners$),
        map((set: unknown) => set),
        liveShare(),
        slim,
      ),
      web,
    ],
    ['parts', pipe(owners$, partsOf), ['100%: web-0', 'a: web-0', 'b/c: web-0']],
    ['parts of a union', pipe(named(owners$), partsOf), ['100%: web-0', 'a: web-0', 'b/c: web-0']],
    [
      'a map of a union behind defer',
      pipe(
        defer(() => named(owners$)),
        slim,
      ),
      web,
    ],
  ])('Q91: finds the owner of which %s was made', (_name, left$, expected) => {
    const { shown, refused } = joined(left$, pods$, { owner: 'left' });
    expect([shown.sort(), refused]).toEqual([expected, []]);
    // On the other side.
    const { shown: others } = joined(pods$, left$, { owner: 'right' });
    const names = expected.map((each) => each.split(':')[0]);
    expect(others.map((each) => each.slice('web-0: '.length).split(' ').sort())).toEqual([names]);
  });

  it.each<[string, Rows]>([
    ['a map', pipe(owners$, slim)],
    ['a map of a union', pipe(named(owners$), slim)],
    ['parts of a union', pipe(named(owners$), partsOf)],
  ])('Q91: finds the upper owner of which %s was made, with through', (_name, left$) => {
    const between$ = rows(owned('set', 'web', { namespace: 'shop' }));
    const right$ = rows(owned('pod', 'set', { namespace: 'shop' }));
    const { shown } = joined(left$, right$, through(between$ as never, { owner: 'left' }));
    expect(shown.length).toBeGreaterThan(0);
    for (const row of shown) expect(row).toMatch(/: pod$/);
  });

  it('Q91: refuses an owned row and one between that are no objects, because their owners are not known', () => {
    const message = (key: string) => [
      key,
      `TypeError: liveJoin: the row ${key} has no metadata, so its owners are not known; join by owner first, and make other rows behind the join`,
    ];
    const right = joined(owners$, pipe(pods$, slim), { owner: 'left' });
    expect(right).toEqual({ shown: ['web: '], refused: [message('shop/web-0')] });
    const left = joined(pipe(pods$, slim), owners$, { owner: 'right' });
    expect(left).toEqual({ shown: [], refused: [message('shop/web-0')] });
    const between$ = pipe(rows(owned('set', 'web', { namespace: 'shop' })), slim);
    const over = joined(owners$, pods$, through(between$ as never, { owner: 'left' }));
    expect(over).toEqual({ shown: ['web: '], refused: [message('shop/set')] });
  });
});

describe('a join by selector', () => {
  const labels = { app: 'web' };
  const on = { selectorOf: () => 'app=web' };
  const services$ = rows(thing('web', { namespace: 'shop' }, ['a', 'b/c']));
  const pods$ = rows(
    thing('near', { namespace: 'shop', labels }),
    thing('far', { namespace: 'till', labels }),
    thing('east', { namespace: 'east', labels }),
  );
  const nodes$ = rows(thing('n1', { labels }));
  const pools$ = rows(thing('pool', {}, ['zone=a', 'zone/b']));
  const template = liveMap((row: unknown) => ({
    metadata: { name: (row as Thing).metadata?.name, labels },
  }));

  it.each<[string, Rows, Rows, readonly string[]]>([
    ['a map', pipe(services$, slim), pods$, ['web: near']],
    ['a map of a union', pipe(named(services$), slim), pods$, ['web: near']],
    ['a union of maps', named(pipe(services$, slim)), pods$, ['web: near']],
    ['parts', pipe(services$, partsOf), pods$, ['a: near', 'b/c: near']],
    ['parts of a union', pipe(named(services$), partsOf), pods$, ['a: near', 'b/c: near']],
    ['parts without a namespace', pipe(pools$, partsOf), nodes$, ['zone/b: n1', 'zone=a: n1']],
    ['such parts of a union', pipe(named(pools$), partsOf), nodes$, ['zone/b: n1', 'zone=a: n1']],
    ['a map of such a row of a union', pipe(named(pools$), slim), nodes$, ['pool: n1']],
    ['the metadata of a template', pipe(services$, template), pods$, ['web: near']],
    ['such metadata on the right', services$, pipe(pods$, template), ['web: near']],
    [
      'a map of a union behind defer',
      pipe(
        defer(() => named(services$)),
        slim,
      ),
      pods$,
      ['web: near'],
    ],
  ])(
    'Q91: selects in the namespace of the object of which %s was made',
    (_name, left$, right$, expected) => {
      expect(joined(left$, right$, on).shown.sort()).toEqual(expected);
    },
  );

  it('Q91: groups have no object, so they are in no namespace, whatever their key says', () => {
    const groups$ = pipe(
      named(pods$),
      liveGroupBy(() => 'shop/all', { pods: count() }),
      liveMap((row: unknown) => (row as { readonly key: string }).key),
    );
    expect(joined(groups$, pods$, on).shown).toEqual(['shop/all: ']);
    const across = joined(groups$, pods$, { ...on, acrossNamespaces: true }).shown;
    expect(across).toEqual(['shop/all: east far near']);
  });
});
