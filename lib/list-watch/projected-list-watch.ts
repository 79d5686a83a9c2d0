/**
 * A collection as less than its objects: metadata alone, or the rows that `kubectl get` prints. The server cuts
 * before it sends, so a cache of a hundred thousand objects of which only labels and owners are read stays small.
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
 * Lists and watches a resource's metadata: no spec, no status.
 *
 * Objects are as on the wire: `kind` is `PartialObjectMetadata`, because their own is that of the resource. A
 * server that sends whole objects all the same fails with a 406 `NotAcceptable`, visible in the status. Throws a
 * `TypeError` when a namespace is given for a cluster-scoped resource.
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

/** A {@link ListerWatcher} of rows, and the columns that say what their cells mean. */
export interface TableListerWatcher extends ListerWatcher<TableRow> {
  /** The columns at once where the server has sent them, then each change of them. Never completes or errors. */
  readonly columns$: Observable<readonly TableColumn[]>;
}

/** Whether a reader of the columns would see a difference. */
export function sameColumns(a: readonly TableColumn[], b: readonly TableColumn[]): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/**
 * Lists and watches a resource as rows: for each object the cells that `kubectl get` prints, and its metadata.
 *
 * A row's cells are text of the moment at which the server made them: an `Age` does not grow older. A page that
 * shows ages counts them from `metadata.creationTimestamp`. The columns come with the first answer, for custom
 * resources from `additionalPrinterColumns`; when these change, rows follow with the next change of their object.
 * A server that sends whole objects all the same fails with a 406 `NotAcceptable`, visible in the status. Throws
 * a `TypeError` when a namespace is given for a cluster-scoped resource.
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
  // Not spread: whether it may stream is asked anew each time.
  return Object.assign(listWatchOf(client, resource, options, projection), { columns$ });
}
