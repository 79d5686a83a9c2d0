/**
 * ListerWatchers for reduced objects: their metadata, or the rows that `kubectl get` prints. The server reduces them
 * before it sends them, so a cache of a hundred thousand objects whose labels and owners are read stays small.
 * client-go: metadata/metadatainformer/informer.go; for tables, kubectl's own reading.
 */
import { Observable, Subject } from 'rxjs';
import {
  metadataProjection,
  type PartialObjectMetadata,
  type TableColumn,
  type TableRow,
  tableProjection,
} from '../decode/projection.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Resource } from '../meta/resource.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import type { ListWatchOptions } from './collection-requests.ts';
import { listWatchOf } from './create-list-watch.ts';
import type { ListerWatcher } from './lister-watcher.ts';

/**
 * Creates a {@link ListerWatcher} of a resource's metadata, without spec and status.
 *
 * Objects are as on the wire: their `kind` is `PartialObjectMetadata`. A server that ignores the projection and sends
 * complete objects causes a 406 `NotAcceptable`, which the status shows. Throws a `TypeError` if a namespace is given
 * for a cluster-scoped resource.
 *
 * @example
 * ```ts
 * import { createClient, createMetadataListWatch, createSharedInformer } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const informer = createSharedInformer(createMetadataListWatch(client, pods));
 * informer.start();
 * await informer.whenSynced({ timeoutMs: 5_000 });
 * Object.keys(informer.indexer.list()[0] ?? {}).sort(); // => ['apiVersion', 'kind', 'metadata']
 * await informer.stop();
 * ```
 */
export function createMetadataListWatch(
  client: KubeClient,
  resource: Resource<KubernetesObject>,
  options: ListWatchOptions<PartialObjectMetadata> = {},
): ListerWatcher<PartialObjectMetadata> {
  return listWatchOf(client, resource, options, metadataProjection);
}

/** A {@link ListerWatcher} of table rows, with the columns that describe their cells. */
export interface TableListerWatcher extends ListerWatcher<TableRow> {
  /**
   * Emits the columns immediately if the server has sent them, and again whenever they change. Never completes or
   * errors.
   */
  readonly columns$: Observable<readonly TableColumn[]>;
}

/** Whether two sets of columns are equal for a reader. */
export function sameColumns(a: readonly TableColumn[], b: readonly TableColumn[]): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/**
 * Creates a {@link ListerWatcher} of table rows: for each object the cells that `kubectl get` prints, and its
 * metadata.
 *
 * The cells of a row are computed when the server sends it: an `Age` does not increase. To show ages, compute them
 * from `metadata.creationTimestamp`. The first response contains the columns, for custom resources those of
 * `additionalPrinterColumns`. When the columns change, a row follows with the next change of its object. A server
 * that ignores the projection and sends complete objects causes a 406 `NotAcceptable`, which the status shows. Throws
 * a `TypeError` if a namespace is given for a cluster-scoped resource.
 *
 * @example
 * ```ts
 * import { createClient, createSharedInformer, createTableListWatch } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const table = createTableListWatch(client, pods, { namespace: 'shop' });
 * const informer = createSharedInformer(table);
 * informer.start();
 * await informer.whenSynced({ timeoutMs: 5_000 });
 * let names: string[] = [];
 * table.columns$.subscribe((columns) => (names = columns.map(({ name }) => name)));
 * names[0]; // => 'Name'
 * informer.indexer.list()[0]?.cells[0]; // => 'web-0'
 * await informer.stop();
 * ```
 */
export function createTableListWatch(
  client: KubeClient,
  resource: Resource<KubernetesObject>,
  options: ListWatchOptions<TableRow> = {},
): TableListerWatcher {
  let columns: readonly TableColumn[] | undefined;
  const changed = new Subject<readonly TableColumn[]>();
  const projection = tableProjection((sent) => {
    if (columns !== undefined && sameColumns(columns, sent)) return;
    columns = sent;
    changed.next(sent);
  });
  const columns$ = new Observable<readonly TableColumn[]>((subscriber) => {
    if (columns !== undefined) subscriber.next(columns);
    subscriber.add(changed.subscribe(subscriber));
  });
  // Not spread, because `watchList` is a getter that is read before each list.
  return Object.assign(listWatchOf(client, resource, options, projection), { columns$ });
}
