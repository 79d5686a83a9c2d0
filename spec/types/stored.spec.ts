/** The type `Stored<T>` of objects from a store, a change set or a server. Checked by `tsc`. */
import {
  addEventHandler,
  applyDeltas,
  type ChangeSet,
  createClient,
  createDynamicInformerFactory,
  createIndexer,
  createInformerFactory,
  createLister,
  createListWatch,
  createMetadataListWatch,
  createResourceClient,
  createSharedInformer,
  createTableListWatch,
  deltaFifo,
  filteringEventHandler,
  type IndexerReader,
  type KubernetesObject,
  type Lister,
  type ListerWatcher,
  type ObjectMeta,
  reflect,
  type SharedInformer,
  type Stored,
  toView,
} from 'rx-informer';
import { type Pod, pods, selfSubjectAccessReviews } from 'rx-informer/resources';
import { EMPTY } from 'rxjs';
import { describe, expect, expectTypeOf, it } from 'vitest';

/** Reads the metadata without `?? ''`, which compiles only if the fields are required. */
function read(object: Stored<Pod>): string {
  const { name, uid, resourceVersion } = object.metadata;
  return `${name}${uid}${resourceVersion}`;
}

interface PodMetrics extends KubernetesObject {
  metadata: { name: string; namespace?: string; uid?: never; resourceVersion?: never };
  usage: Record<string, string>;
}

/** A type that omits the fields, with the same meaning as `never`. */
interface NodeMetrics extends KubernetesObject {
  metadata: Omit<ObjectMeta, 'uid' | 'resourceVersion'>;
  usage: Record<string, string>;
}

const client = createClient({ baseUrl: 'http://fake', fetch: () => new Promise(() => {}) });
const informer = createSharedInformer(createListWatch(client, pods));

describe('the types of stored objects', () => {
  it('S51: objects from an informer have a name, a UID and a version', async () => {
    expectTypeOf(informer).toExtend<SharedInformer<Pod>>();
    informer.added$.subscribe(read);
    informer.updated$.subscribe(({ previous, object }) => read(previous) + read(object));
    informer.deleted$.subscribe(({ previous, object }) => read(previous) + read(object));
    informer.changes$.subscribe(({ added, changes }) => {
      added.map(read);
      for (const { object, previous, last } of changes) {
        expectTypeOf(object).toEqualTypeOf<Stored<Pod> | undefined>();
        expectTypeOf(previous).toEqualTypeOf<Stored<Pod> | undefined>();
        expectTypeOf(last).toEqualTypeOf<Stored<Pod> | undefined>();
      }
    });
    informer.snapshot$.subscribe((reader) => reader.list().map(read));
    addEventHandler(informer, {
      onAdd: read,
      onUpdate: (previous, object) => read(previous) + read(object),
      onDelete: ({ previous, object }) => read(previous) + read(object),
    });
    addEventHandler(
      informer,
      filteringEventHandler<Pod>({
        filter: ({ metadata }) => metadata.uid !== '',
        handler: { onAdd: read },
      }),
    );
    const view = informer.changes$.pipe(toView());
    expectTypeOf(view.getSnapshot().rows).toEqualTypeOf<readonly Stored<Pod>[]>();
    expectTypeOf(view.select('u').getSnapshot()).toEqualTypeOf<Stored<Pod> | undefined>();
    view.items$.subscribe((rows) => rows.map(read));
    expect(informer.indexer.list().map(read)).toEqual([]);
    await informer.stop();
  });

  it('S51: objects from a lister, a factory, a separate store and a client have a name, a UID and a version', () => {
    const listers: Lister<Pod>[] = [
      createLister(informer, pods),
      createInformerFactory(client).lister(pods),
    ];
    expectTypeOf<ReturnType<Lister<Pod>['get']>>().toEqualTypeOf<Stored<Pod>>();
    expect(listers.flatMap((lister) => lister.namespace('shop').list().map(read))).toEqual([]);
    const indexer = createIndexer<Pod>();
    indexer.add({ metadata: { name: 'a', uid: 'u', resourceVersion: '1' } });
    expect(indexer.list().map(read)).toEqual(['au1']);
    const piped = reflect(createListWatch(client, pods)).pipe(
      deltaFifo<Pod>({ known: indexer }),
      applyDeltas(indexer),
    );
    piped.subscribe(({ added }) => added.map(read)).unsubscribe();
    const calls = createResourceClient(client, pods);
    expectTypeOf(calls.get).returns.resolves.toEqualTypeOf<Stored<Pod>>();
    expectTypeOf(calls.list).returns.resolves.toHaveProperty('items');
    const dynamic = createDynamicInformerFactory(client);
    const objects = dynamic.lister({ group: '', version: 'v1', plural: 'pods' }).list();
    expectTypeOf<(typeof objects)[number]['metadata']['uid']>().toEqualTypeOf<string>();
  });

  it('S51: metadata objects and table rows have a name, a UID and a version', () => {
    const partial = createSharedInformer(createMetadataListWatch(client, pods)).indexer.list();
    expectTypeOf<(typeof partial)[number]['metadata']['uid']>().toEqualTypeOf<string>();
    const rows = createSharedInformer(createTableListWatch(client, pods)).indexer.list();
    expectTypeOf<(typeof rows)[number]['metadata']['resourceVersion']>().toEqualTypeOf<string>();
  });

  it('S51: a Stored<T> is assignable to T, also for a type parameter, and Stored<Stored<T>> is Stored<T>', () => {
    expectTypeOf<Stored<Pod>>().toExtend<Pod>();
    expectTypeOf<Stored<Stored<Pod>>>().toEqualTypeOf<Stored<Pod>>();
    const firstOf = <T extends KubernetesObject>(reader: IndexerReader<T>): T | undefined => {
      const first = reader.list()[0];
      expectTypeOf(first?.metadata.name).toEqualTypeOf<string | undefined>();
      const any: IndexerReader<KubernetesObject> = reader;
      return any.size === 0 ? undefined : first;
    };
    expect(firstOf(informer.indexer)).toBeUndefined();
    const own: ListerWatcher<Pod> = { list: () => EMPTY, watch: () => EMPTY };
    expectTypeOf(createSharedInformer(own).indexer.list()).toEqualTypeOf<readonly Stored<Pod>[]>();
    // @ts-expect-error: a Pod need not have a UID
    const pod: Stored<Pod> = { metadata: { name: 'a' } } as Pod;
    expect(pod.metadata.name).toBe('a');
  });

  it('S51: Stored<T> does not change a type without these fields', () => {
    expectTypeOf<Stored<{ readonly id: number }>>().toEqualTypeOf<{ readonly id: number }>();
    expectTypeOf<ChangeSet<{ id: number }>['added']>().toEqualTypeOf<readonly { id: number }[]>();
    const rows = createIndexer<{ id: string }>({ keyOf: ({ id }) => id });
    expectTypeOf(rows.list()).toEqualTypeOf<readonly { id: string }[]>();
    expectTypeOf<Stored<PodMetrics>['metadata']['uid']>().toEqualTypeOf<undefined>();
    expectTypeOf<Stored<PodMetrics>['metadata']['name']>().toEqualTypeOf<string>();
    expectTypeOf<Stored<NodeMetrics>['metadata']['name']>().toEqualTypeOf<string>();
    expectTypeOf<Stored<NodeMetrics>['metadata']>().not.toHaveProperty('uid');
    const metrics: ListerWatcher<PodMetrics> = { list: () => EMPTY, watch: () => EMPTY };
    const any: SharedInformer<KubernetesObject> = createSharedInformer(metrics);
    expect(any.indexer.size).toBe(0);
    // The server responds to a review, but does not store it.
    const reviews = createResourceClient(client, selfSubjectAccessReviews);
    expectTypeOf<Awaited<ReturnType<typeof reviews.create>>['metadata']>().not.toHaveProperty(
      'uid',
    );
  });
});
