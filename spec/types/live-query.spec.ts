/** The types of queries: which operators accept an order, and a `pipe` that ends in a view. Checked by `tsc`. */
import {
  animationFrames,
  atMostEvery,
  type ChangeSet,
  type ChangeStream,
  conflateByKey,
  count,
  createSharedInformer,
  defineResource,
  type KubernetesObject,
  type LiveQuery,
  label,
  liveDistinct,
  liveFilter,
  liveFlatMap,
  liveGroupBy,
  liveJoin,
  liveMap,
  liveMergeMap,
  liveQuery,
  liveShare,
  liveSort,
  liveTop,
  liveUnion,
  liveUntil,
  liveWindow,
  type OrderedChangeStream,
  type PartialObjectMetadata,
  type QueryPath,
  type Stored,
  toView,
  type ValueAt,
  type View,
  type ViewSnapshot,
  type Where,
  whenDrained,
} from 'rx-informer';
import {
  type Container,
  type Deployment,
  deployments,
  type Pod,
  pods,
} from 'rx-informer/resources';
import { firstValueFrom, type Observable, of } from 'rxjs';
import { filter, map } from 'rxjs/operators';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type Pod as ScriptedPod, scriptedListWatch } from '../support/scripted-list-watch.ts';

interface Widget extends KubernetesObject {
  spec: {
    size: 'small' | 'large';
    count: number;
    level?: 1 | 2;
    on: boolean;
    port: string | number;
  };
}
const names = { group: 'example.com', version: 'v1', namespaced: true } as const;
const things = defineResource({ ...names, plural: 'things', kind: 'Thing' });
const accept = <T>(_where: Where<T>): void => undefined;

describe('the types of queries', () => {
  it('Q67: a path that the type does not have does not compile', () => {
    accept<Pod>({ path: 'status.phase', eq: 'Running' });
    accept<Pod>({ path: 'spec.containers.image', prefix: 'nginx' });
    accept<Pod>({ path: 'metadata.ownerReferences', exists: true });
    accept<Pod>({ path: label('app.kubernetes.io/name'), in: ['a', 'b'] });
    accept<Pod>({ path: 'metadata.labels.app', eq: 'web' });
    accept<Pod>({ path: 'spec.nodeSelector["kubernetes.io/os"]', eq: 'linux' });
    accept<Pod>({ path: 'spec.containers.resources.requests.cpu', gte: '500m', as: 'quantity' });
    accept<KubernetesObject>({ path: 'spec.anything', gt: 5 });
    // @ts-expect-error: there is no such field
    accept<Pod>({ path: 'status.phse', eq: 'Running' });
    // @ts-expect-error: there is no such field
    accept<Pod>({ and: [{ not: { or: [{ path: 'spec.nodName', eq: 'a' }] } }] });
    // @ts-expect-error: there is no such field
    accept<Pod>({ path: 'metadata.label.app', eq: 'web' });
    // @ts-expect-error: an object is not compared with text
    accept<Pod>({ path: 'metadata.ownerReferences', eq: 'a' });
    const image = 'spec.template.spec.containers.image';
    accept<Deployment>({ path: image, eq: 'nginx' });
    const known: QueryPath<Deployment> = image;
    // @ts-expect-error: there is no such field
    const unknown: QueryPath<Deployment> = 'spec.template.spec.containers.imag';
    expect([known, unknown]).toHaveLength(2);
    liveQuery({ from: deployments, where: { path: image, prefix: 'nginx' } });
    liveQuery({ from: things, where: { path: 'spec.anything', gt: 5 } });
    // @ts-expect-error: there is no such field
    liveQuery({ from: pods, orderBy: { path: 'metadata.nam' } });
    // @ts-expect-error: there is no such field
    liveQuery({ from: pods, select: { name: 'metadata.nam' } });
    // @ts-expect-error: there is no such field
    liveQuery({ from: pods, where: { path: 'metadata.nam', eq: 'a' } });
  });

  it('Q67: a value has the type of the leaf', () => {
    accept<Widget>({ path: 'spec.size', eq: 'small' });
    accept<Widget>({ path: 'spec.count', gt: 5 });
    accept<Widget>({ path: 'spec.on', eq: true });
    accept<Widget>({ path: 'spec.port', in: ['http', 80] });
    accept<Widget>({ path: 'metadata.creationTimestamp', lt: 5_000, as: 'time' });
    accept<Widget>({ path: 'metadata.name', gt: 5, as: 'number' });
    // @ts-expect-error: not one of its values
    accept<Widget>({ path: 'spec.size', eq: 'medium' });
    // @ts-expect-error: not one of its values
    accept<Widget>({ path: 'spec.level', eq: 3 });
    // @ts-expect-error: a number
    accept<Widget>({ path: 'spec.count', gt: '5' });
    // @ts-expect-error: truth values have no order
    accept<Widget>({ path: 'spec.on', gt: true });
    // @ts-expect-error: numbers have no prefix
    accept<Widget>({ path: 'spec.count', prefix: '5' });
    // @ts-expect-error: text, unless it is read as something else
    accept<Widget>({ path: 'metadata.name', gt: 5 });
    // @ts-expect-error: no such reading
    accept<Widget>({ path: 'metadata.name', gt: '5', as: 'date' });
    // @ts-expect-error: a test needs a key
    accept<Widget>({ test: () => true });
    const where: Where<Pod> = {
      or: ['a', 'b'].map((name) => ({ path: 'metadata.name', eq: name })),
    };
    const test = (pod: Stored<Pod>) => pod.metadata.name !== '';
    expect(liveQuery({ from: pods, where: { and: [where, { key: 'named', test }] } }).key).not.toBe(
      '',
    );
  });

  it('Q67: rows are typed by column, and a path through an array gives a list', () => {
    const query = liveQuery({
      from: pods,
      select: {
        name: 'metadata.name',
        node: 'spec.nodeName',
        images: 'spec.containers.image',
        restarts: 'status.containerStatuses.restartCount',
        app: label('app.kubernetes.io/name'),
        containers: 'spec.containers',
        cpu: 'spec.containers.resources.requests.cpu',
      },
      limit: 5,
    });
    type Row = {
      readonly name: string;
      readonly node: string | undefined;
      readonly images: readonly string[] | undefined;
      readonly restarts: readonly number[] | undefined;
      readonly app: string | undefined;
      readonly containers: readonly Container[] | undefined;
      readonly cpu: readonly string[] | undefined;
    };
    expectTypeOf(query).toEqualTypeOf<LiveQuery<Row, true>>();
    expectTypeOf(liveQuery({ from: pods })).toEqualTypeOf<LiveQuery<Stored<Pod>, false>>();
    const project = (pod: Stored<Pod>) => (pod.spec === undefined ? undefined : { n: 1 });
    expectTypeOf(liveQuery({ from: pods, select: { key: 'one', project } })).toEqualTypeOf<
      LiveQuery<{ n: number }, false>
    >();
    const inPlace = liveQuery({
      from: pods,
      select: { key: 'two', project: (pod) => pod.metadata.uid },
      orderBy: {
        key: 'three',
        compare: (one, other) => one.metadata.uid.length - other.metadata.uid.length,
      },
    });
    expectTypeOf(inPlace).toEqualTypeOf<LiveQuery<string, true>>();
    expectTypeOf<ValueAt<Pod, 'metadata.finalizers'>>().toEqualTypeOf<
      readonly string[] | undefined
    >();
    // @ts-expect-error: a column is a path
    expect(() => liveQuery({ from: pods, select: { name: 5 } })).toThrow(
      /liveQuery: select.name is 5/,
    );
  });

  it('refuses a direction beside a function that compares', () => {
    const compare = () => 0;
    // @ts-expect-error: a direction is for a path
    const make = () => liveQuery({ from: pods, orderBy: { key: 'a', compare, direction: 'desc' } });
    expect(make).toThrow('swap the operands of compare');
  });

  it('Q67: the namespace of a query is text or a list', () => {
    liveQuery({ from: pods, namespace: ['a', 'b'] });
    // @ts-expect-error: a number
    expect(() => liveQuery({ from: pods, namespace: 5 })).toThrow(/liveQuery: namespace is 5/);
    // @ts-expect-error: no such field
    expect(() => liveQuery({ from: pods, namespaces: ['a'] })).toThrow(
      /liveQuery: namespaces is not/,
    );
  });

  it('Q72: a query of the metadata has rows of metadata, and paths of nothing else', () => {
    const query = liveQuery({ from: pods, as: 'metadata', labelSelector: 'app=web' });
    expectTypeOf(query).toEqualTypeOf<LiveQuery<Stored<PartialObjectMetadata>, false>>();
    const named = liveQuery({
      from: pods,
      as: 'metadata',
      where: { path: 'metadata.namespace', eq: 'shop' },
      orderBy: { path: 'metadata.name' },
      select: { name: 'metadata.name', at: 'metadata.creationTimestamp' },
    });
    expectTypeOf<typeof named>().toExtend<LiveQuery<{ readonly name: string }, true>>();
    const unknown = [
      // @ts-expect-error: no such field of the metadata
      () => liveQuery({ from: pods, as: 'metadata', where: { path: 'metadata.nam', eq: 'web' } }),
      // @ts-expect-error: a name is text
      () => liveQuery({ from: pods, as: 'metadata', where: { path: 'metadata.name', eq: 5 } }),
      // @ts-expect-error: no column of the status
      () => liveQuery({ from: pods, as: 'metadata', select: { phase: 'status.phase' } }),
      // @ts-expect-error: no order by the status
      () => liveQuery({ from: pods, as: 'metadata', orderBy: { path: 'status.phase' } }),
    ];
    expect(unknown).toHaveLength(4);
    const labelled = { path: label('app.kubernetes.io/name'), prefix: 'w' } as const;
    liveQuery({ from: pods, as: 'metadata', where: { and: [labelled, { not: labelled }] } });
    // @ts-expect-error: a row has no status
    const invalid = () => query as unknown as LiveQuery<Stored<Pod>> satisfies typeof query;
    expect(invalid).toBeTypeOf('function');
    const refused = () =>
      // @ts-expect-error: there are only 'metadata' and complete objects
      liveQuery({ from: pods, as: 'table' });
    expect(refused).toThrow(TypeError);
  });
});

describe('the types of ordered streams', () => {
  const { changes$ } = createSharedInformer(scriptedListWatch());
  const byName = liveSort<ScriptedPod>((one, other) =>
    one.metadata.name < other.metadata.name ? -1 : 1,
  );
  const sorted = changes$.pipe(byName);

  it('an order is kept by the operators that do not lose it', () => {
    expectTypeOf(sorted).toEqualTypeOf<OrderedChangeStream<ScriptedPod>>();
    expectTypeOf(sorted.pipe(liveWindow(0, 10))).toEqualTypeOf<OrderedChangeStream<ScriptedPod>>();
    expectTypeOf(sorted.pipe(liveMap(({ metadata }) => metadata.name))).toEqualTypeOf<
      OrderedChangeStream<string>
    >();
    expectTypeOf(sorted.pipe(byName)).toEqualTypeOf<OrderedChangeStream<ScriptedPod>>();
    expectTypeOf(sorted.pipe(liveShare())).toEqualTypeOf<OrderedChangeStream<ScriptedPod>>();
    expectTypeOf(sorted.pipe(liveUntil(() => undefined))).toEqualTypeOf<
      OrderedChangeStream<ScriptedPod>
    >();
    expectTypeOf(sorted.pipe(conflateByKey())).toEqualTypeOf<OrderedChangeStream<ScriptedPod>>();
    expectTypeOf(sorted.pipe(toView())).toEqualTypeOf<View<ScriptedPod>>();
    expectTypeOf(changes$.pipe(liveTop(3, () => 0))).toEqualTypeOf<
      OrderedChangeStream<ScriptedPod>
    >();
    expect(sorted.pipe(toView()).getSnapshot().rows).toEqual([]);
  });

  it('the operators that would lose it do not accept it', () => {
    // @ts-expect-error: filter first
    sorted.pipe(liveFilter(() => true));
    // @ts-expect-error: make rows first
    sorted.pipe(liveFlatMap(({ metadata }) => [metadata]));
    // @ts-expect-error: make rows first
    sorted.pipe(liveMergeMap(() => of(1)));
    // @ts-expect-error: group first
    sorted.pipe(liveGroupBy(() => 'a', { pods: count() }));
    // @ts-expect-error: find the values first
    sorted.pipe(liveDistinct(({ metadata }: ScriptedPod) => metadata.name));
    // @ts-expect-error: join first
    sorted.pipe(liveJoin(changes$, { on: { owner: 'left' } }));
    // @ts-expect-error: nor as the other side of a join
    changes$.pipe(liveJoin(sorted, { on: { owner: 'left' } }));
    // @ts-expect-error: unite first
    expect(() => liveUnion({ a: sorted })).not.toThrow();
  });

  it('a window and an order need each other', () => {
    // @ts-expect-error: rows without an order have no positions
    changes$.pipe(liveWindow(0, 10));
    // @ts-expect-error: nor is an ordered stream one without
    const unordered: ChangeStream<ScriptedPod> = sorted;
    expect(unordered).toBe(sorted);
  });
});

describe('a stream of change sets', () => {
  const { changes$ } = createSharedInformer(scriptedListWatch());

  it('a pipe may end in a view', () => {
    expectTypeOf(changes$.pipe(toView())).toEqualTypeOf<View<ScriptedPod>>();
    expectTypeOf(changes$.pipe(conflateByKey(), toView())).toEqualTypeOf<View<ScriptedPod>>();
    expect(changes$.pipe(conflateByKey(), toView()).getSnapshot().rows).toEqual([]);
  });

  it('a pipe of eight live operators may end in a view', () => {
    const view = changes$.pipe(
      liveUntil(() => undefined),
      liveFilter(({ metadata }) => metadata.name !== ''),
      liveMap(({ metadata }) => ({ name: metadata.name, size: 1 })),
      liveShare(),
      liveSort((one, other) => one.size - other.size),
      liveWindow(0, 10),
      liveMap(({ name }) => ({ title: name })),
      conflateByKey(),
      toView(),
    );
    expectTypeOf(view).toEqualTypeOf<View<{ title: string }>>();
    expect(view.getSnapshot().rows).toEqual([]);
  });

  it('a view may be made by a call, with any demand', () => {
    expectTypeOf(toView(changes$)).toEqualTypeOf<View<ScriptedPod>>();
    const ready = atMostEvery(200);
    expectTypeOf(toView(changes$.pipe(conflateByKey({ ready })))).toEqualTypeOf<
      View<ScriptedPod>
    >();
    const frames$ = changes$.pipe(conflateByKey({ ready: animationFrames() }));
    expectTypeOf(frames$.pipe(toView())).toEqualTypeOf<View<ScriptedPod>>();
    expectTypeOf(toView<ScriptedPod>()(changes$)).toEqualTypeOf<View<ScriptedPod>>();
    expectTypeOf(toView(changes$).getSnapshot()).toEqualTypeOf<ViewSnapshot<ScriptedPod>>();
    // @ts-expect-error a row has no such field
    expect(toView(changes$).getSnapshot().rows[0]?.nonsense).toBeUndefined();
    // @ts-expect-error not a demand
    conflateByKey({ ready: () => 5 });
    whenDrained(process.stdout);
    whenDrained(new WritableStream().getWriter());
    // @ts-expect-error not a stream
    expect(() => whenDrained({})()).not.toThrow();
  });

  it('a stream of change sets is an Observable', () => {
    expectTypeOf(changes$).toEqualTypeOf<ChangeStream<ScriptedPod>>();
    expectTypeOf(changes$.pipe(map((set) => set.rev))).toEqualTypeOf<Observable<number>>();
    expectTypeOf(changes$.pipe(filter((set) => set.synced))).toEqualTypeOf<
      Observable<ChangeSet<ScriptedPod>>
    >();
    expectTypeOf(firstValueFrom(changes$)).toEqualTypeOf<Promise<ChangeSet<ScriptedPod>>>();
    // @ts-expect-error a change set has no such field
    changes$.pipe(map((set) => set.nonsense));
    expect(typeof changes$.subscribe).toBe('function');
  });
});
