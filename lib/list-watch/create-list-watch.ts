/**
 * `createListWatch`, which implements {@link ListerWatcher} for a collection of an API server. client-go:
 * tools/cache/listwatch.go, NewFilteredListWatchFromClient.
 */
import { tap } from 'rxjs/operators';
import type { Decoding } from '../decode/decoding.ts';
import { jsonDecoding } from '../decode/json-decoding.ts';
import { metadataProjection, type Projection } from '../decode/projection.ts';
import { checkSelectorTexts } from '../meta/given-selectors.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Resource } from '../meta/resource.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { CollectionRequests, type ListWatchOptions } from './collection-requests.ts';
import type { ListerWatcher } from './lister-watcher.ts';
import { streamingSupport } from './streaming-support.ts';

/**
 * Creates a {@link ListerWatcher} that lists and watches a resource through a client.
 *
 * Nothing is sent before `list` or `watch` is subscribed. While no watch of the client has proved that events arrive
 * when they are sent, a silent watch sends a probe, at most one per minute. Behind a proxy that holds events back,
 * watches end after 15 to 20 s. Throws a `TypeError` if a selector cannot be parsed or is `undefined`, if the
 * namespace is not a valid name, or if a namespace is given for a cluster-scoped resource.
 *
 * @example
 * ```ts
 * import { createClient, createListWatch, createSharedInformer } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
 * const informer = createSharedInformer(createListWatch(client, pods, { namespace: 'shop' }));
 * informer.start();
 * await informer.whenSynced({ timeoutMs: 5_000 });
 * informer.indexer.size; // => 0
 * await informer.stop();
 * ```
 */
export function createListWatch<T extends KubernetesObject>(
  client: KubeClient,
  resource: Resource<T>,
  options: ListWatchOptions<T> = {},
): ListerWatcher<T> {
  return listWatchOf(client, resource, options);
}

type DecodingMaker = (() => Decoding) | undefined;

/** If no more connections than this are left, no second watch is opened. A browser never has more over HTTP/1.1. */
const SCARCE = 6;

/** Creates a ListerWatcher of complete objects, or of a projection of them. */
export function listWatchOf<T extends KubernetesObject>(
  client: KubeClient,
  resource: Resource<KubernetesObject>,
  options: ListWatchOptions<T>,
  projection?: Projection,
): ListerWatcher<T> {
  checkSelectorTexts('list and watch', options);
  const { namespace } = options;
  const decoding = (options.decoding ?? (client.decoding as DecodingMaker) ?? jsonDecoding)();
  const requests = new CollectionRequests(client, resource, options, projection);
  requests.decoding = decoding;
  const { findings, guards } = requests;
  const streaming = streamingSupport(client, findings, requests.named());
  const remember = (object: T | undefined) => {
    requests.knownName = object?.metadata?.name ?? requests.knownName;
  };
  return {
    scope: namespace || undefined,
    get watchList() {
      // A proxy would hold a streaming list back until its watch ends.
      if (options.watchList === false || guards?.found?.heldBack !== undefined) return false;
      return streaming.known;
    },
    get heldBack() {
      return guards?.found?.heldBack;
    },
    get mayOverlap() {
      const { connectionsLeft = SCARCE + 1 } = client;
      // No overlap is needed while watches are short, because the next watch begins soon.
      return connectionsLeft > SCARCE && guards?.found?.heldBack === undefined;
    },
    get awake$() {
      return client.awake$;
    },
    onWatchListUnsupported: streaming.rememberNone,
    collection: requests,
    list: (request) =>
      requests
        .list(request, projection, () => decoding.list(requests.context(request, true)))
        .pipe(tap(({ items }) => remember(items[0]))),
    listMetadata: (request) =>
      requests.list(
        request,
        metadataProjection,
        () => decoding.list(requests.metadataContext(request)),
        true,
      ),
    watch: (request) =>
      requests
        .watch(request, streaming, () =>
          decoding.watch(requests.context(request, request.sendInitialEvents === true)),
        )
        .pipe(
          tap((signal) => {
            const [event] = signal.kind === 'events' ? signal.events : [];
            if (event?.type === 'ADDED') remember(event.object);
          }),
        ),
  };
}
