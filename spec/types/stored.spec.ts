/**
 * The type `Stored<T>` of objects from a store, a change set or a server, and the generated types, which are compared with the models of
 * `@kubernetes/client-node`. Checked by `tsc`.
 */
import type * as models from '@kubernetes/client-node';
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
  type Resource,
  reflect,
  type SharedInformer,
  type Stored,
  toView,
} from 'rx-informer';
import type * as ours from 'rx-informer/resources';
import { deployments, type Pod, pods, selfSubjectAccessReviews } from 'rx-informer/resources';
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

/** client-node's names for fields that are keywords of its languages: `_from` is `from` on the wire. */
type WireName<K> = K extends `_${infer Name}` ? Name : K;

/** A model as it is on the wire: a `Date` is a string, and names are those of the JSON. */
type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer E)[]
    ? Wire<E>[]
    : T extends object
      ? { [K in keyof T as WireName<K>]: Wire<T[K]> }
      : T;

type Keys<T> = keyof Wire<NonNullable<T>>;
type Part<T, K extends string> = T extends { [P in K]?: infer V } ? NonNullable<V> : never;
type Spec<T> = Part<T, 'spec'>;
type Status<T> = Part<T, 'status'>;

type Names<T, Except> = [Keys<T>, Exclude<Keys<Spec<T>>, Except>, Exclude<Keys<Status<T>>, Except>];

/**
 * Whether two types have the same property names, and so have their `spec` and `status`, except for those that are newer
 * than client-node's models.
 */
type SameNames<A, B, New = never> =
  Names<A, New> extends Names<B, New>
    ? Names<B, New> extends Names<A, New>
      ? true
      : false
    : false;

describe('the generated types', () => {
  it('the generated types have the same property names as those of client-node', () => {
    expectTypeOf<
      SameNames<ours.Pod, models.V1Pod, 'evictionResponders' | 'volumeHealth'>
    >().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.Deployment, models.V1Deployment>>().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.Service, models.V1Service>>().toEqualTypeOf<true>();
    expectTypeOf<
      SameNames<ours.Node, models.V1Node, 'podPreemptionPolicy' | 'runningInUserNamespace'>
    >().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.Job, models.V1Job, 'scheduling'>>().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.CronJob, models.V1CronJob>>().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.ConfigMap, models.V1ConfigMap>>().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.Secret, models.V1Secret>>().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.Ingress, models.V1Ingress>>().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.NetworkPolicy, models.V1NetworkPolicy>>().toEqualTypeOf<true>();
    expectTypeOf<
      SameNames<ours.PersistentVolumeClaim, models.V1PersistentVolumeClaim, 'healthStatus'>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      SameNames<ours.CustomResourceDefinition, models.V1CustomResourceDefinition>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      SameNames<ours.HorizontalPodAutoscaler, models.V2HorizontalPodAutoscaler>
    >().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.Pod, models.V1Service>>().toEqualTypeOf<false>();
    expectTypeOf<
      SameNames<ours.HorizontalPodAutoscaler, models.V1HorizontalPodAutoscaler>
    >().toEqualTypeOf<false>();
  });

  it('objects of client-node are assignable to the generated types if they have the form of the wire', () => {
    expectTypeOf<Wire<models.V1PodSpec>>().toExtend<ours.PodSpec>();
    expectTypeOf<Wire<models.V1PodStatus>>().toExtend<ours.PodStatus>();
    expectTypeOf<Wire<models.V1DeploymentSpec>>().toExtend<ours.DeploymentSpec>();
    expectTypeOf<Wire<models.V1NetworkPolicySpec>>().toExtend<ours.NetworkPolicySpec>();
    expectTypeOf<Wire<models.V1NodeStatus>>().toExtend<ours.NodeStatus>();
    // @ts-expect-error: a date is a string on the wire
    expectTypeOf<models.V1PodStatus>().toExtend<ours.PodStatus>();
    // @ts-expect-error: the name in client-node is _from
    expectTypeOf<models.V1NetworkPolicyIngressRule>().toExtend<{
      from?: unknown;
      ports?: string;
    }>();
  });

  it('the generated types are Kubernetes objects, and the resources have these types', () => {
    expectTypeOf<Pod>().toExtend<KubernetesObject>();
    expectTypeOf(pods).toEqualTypeOf<Resource<ours.Pod>>();
    expectTypeOf(deployments).toEqualTypeOf<Resource<ours.Deployment>>();
    // @ts-expect-error: pods are not deployments
    expectTypeOf(pods).toEqualTypeOf<Resource<ours.Deployment>>();
  });

  it('valid literals compile, and invalid ones do not', () => {
    const container = { name: 'web', image: 'nginx' };
    const pod: Pod = { metadata: { name: 'web' }, spec: { containers: [container] } };
    expectTypeOf(pod.metadata.name).toEqualTypeOf<string | undefined>();
    expectTypeOf(pod.status?.startTime).toEqualTypeOf<string | undefined>();
    // @ts-expect-error: metadata is required
    const nameless: Pod = { spec: { containers: [container] } };
    // @ts-expect-error: the apiVersion of a Pod is v1
    const wrongVersion: Pod = { apiVersion: 'apps/v1', metadata: {} };
    // @ts-expect-error: a container has a name
    const unnamed: Pod = { metadata: {}, spec: { containers: [{ image: 'nginx' }] } };
    // @ts-expect-error: a number is not an IntOrString array
    const port: ours.ServicePort = { port: 80, targetPort: [80] };
    // @ts-expect-error: a quantity is a string
    const limits: ours.ResourceRequirements = { limits: { cpu: 1 } };
    expectTypeOf([nameless, wrongVersion, unnamed, port, limits]).toBeArray();
  });
});
