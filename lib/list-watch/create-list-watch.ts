/**
 * A collection of an API server as a {@link ListerWatcher}: requests and answers of one LIST and one WATCH.
 * client-go: tools/cache/listwatch.go, NewFilteredListWatchFromClient.
 */
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { mergeMap, tap } from 'rxjs/operators';
import type { DecodeContext, Decoder, Decoding, Skipped, Transform } from '../decode/decoding.ts';
import { jsonDecoding } from '../decode/json-decoding.ts';
import {
  metadataProjection,
  type PartialObjectMetadata,
  type Projection,
} from '../decode/projection.ts';
import type { ListPart } from '../decode/watch-event.ts';
import { checkSelectorTexts } from '../meta/given-selectors.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { type Resource, resourcePath } from '../meta/resource.ts';
import { checkedLimit } from '../rx/checked-option.ts';
import { told } from '../rx/report-unhandled.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { signals } from './batch-signals.ts';
import { PROBE_SECONDS } from './buffering-probe.ts';
import { passageOf } from './buffering-proxy.ts';
import { decodeAnswer } from './decode-answer.ts';
import type { ListerWatcher, ListRequest, WatchRequest } from './lister-watcher.ts';
import { streamingSupport } from './streaming-support.ts';

/** Query parameters of a request, by name. */
export type ListOptions = Record<string, string>;

/** What {@link createListWatch} takes beside client and resource. */
export interface ListWatchOptions<T extends KubernetesObject> {
  /** Only this namespace; '' is all. @defaultValue all */
  readonly namespace?: string | undefined;
  /** As `kubectl -l`: `app=web,tier in (a,b)`. */
  readonly labelSelector?: string;
  /** As `kubectl --field-selector`: `spec.nodeName=n1`. */
  readonly fieldSelector?: string;
  /** Last word on the query of each LIST and WATCH; changes the object it is given. */
  readonly tweak?: ((options: ListOptions) => void) | undefined;
  /** Makes what is stored of what was received. */
  readonly transform?: Transform<T> | undefined;
  /** @defaultValue false */
  readonly keepManagedFields?: boolean | undefined;
  /** The longest event or item, in bytes; Infinity: no bound. @defaultValue 16 MiB */
  readonly maxFrameBytes?: number | undefined;
  /** The longest answer to one LIST, in bytes; a page, where pages are asked for; Infinity: no bound. @defaultValue 1 GiB */
  readonly maxPageBytes?: number | undefined;
  /** Another decoder. @defaultValue `JSON.parse` */
  readonly decoding?: Decoding | undefined;
  /** Whether streaming LISTs may be asked for. @defaultValue true, until the server shows that it cannot */
  readonly watchList?: boolean | undefined;
  /** Told of every object that did not get through. What it throws is reported. */
  readonly onSkipped?: ((skipped: Skipped) => void) | undefined;
  /** @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
}

function listQuery<T>(request: ListRequest<T>): ListOptions {
  const { resourceVersion, limit } = request;
  // Beside a limit a version alone would mean exactly that one, from which a watch may be refused for ever.
  const bare = limit === undefined || resourceVersion === '' || resourceVersion === '0';
  const resourceVersionMatch = request.resourceVersionMatch ?? (bare ? undefined : 'NotOlderThan');
  return {
    ...(limit === undefined ? {} : { limit: String(limit) }),
    ...(request.continue === undefined ? {} : { continue: request.continue }),
    ...(resourceVersion === '' ? {} : { resourceVersion }),
    ...(resourceVersionMatch === undefined ? {} : { resourceVersionMatch }),
  };
}

/** Of a probe: one object that is there, if any is known, at once, and a bookmark before the end. */
function probeQuery(name: string | undefined, fieldSelector: string | undefined): ListOptions {
  const named = name === undefined ? [] : [`metadata.name=${name}`];
  const fields = [...(fieldSelector ? [fieldSelector] : []), ...named].join(',');
  return {
    watch: 'true',
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(PROBE_SECONDS),
    resourceVersion: '0',
    ...(fields === '' ? {} : { fieldSelector: fields }),
  };
}

function watchQuery<T>(request: WatchRequest<T>, timeoutSeconds: number): ListOptions {
  const { resourceVersion, resourceVersionMatch, sendInitialEvents } = request;
  return {
    watch: 'true',
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(timeoutSeconds),
    ...(sendInitialEvents === true ? { sendInitialEvents: 'true' } : {}),
    ...(resourceVersion === '' ? {} : { resourceVersion }),
    ...(resourceVersionMatch === undefined ? {} : { resourceVersionMatch }),
  };
}

/**
 * Lists and watches a resource through a client.
 *
 * Nothing is sent before `list` or `watch` is subscribed. Where no watch of the client has shown yet that events come when
 * they are sent, a watch that stays silent sends a probe, one a minute at most; behind a proxy that holds events back,
 * watches are ended after 15 to 20 s. Throws a `TypeError` if a selector cannot be parsed or is `undefined`, if the
 * namespace cannot be one, or if one is given for a cluster-scoped resource.
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

/** Where no more connections than this are left, none is spent on comfort: it is all that a browser has over HTTP/1.1. */
const SCARCE = 6;

function accepted(kind: string, or = ''): { readonly headers: Readonly<Record<string, string>> } {
  return { headers: { accept: `application/json;as=${kind};g=meta.k8s.io;v=v1${or}` } };
}

/** Lists and watches the collection of `resource`, whole or as a projection of it. */
export function listWatchOf<T extends KubernetesObject>(
  client: KubeClient,
  resource: Resource<KubernetesObject>,
  options: ListWatchOptions<T>,
  projection?: Projection,
): ListerWatcher<T> {
  checkSelectorTexts('list and watch', options);
  const { namespace, labelSelector, fieldSelector, tweak, transform } = options;
  const { scheduler = asyncScheduler, decoding = jsonDecoding } = options;
  const maxFrameBytes = checkedLimit(options.maxFrameBytes ?? 16 * 2 ** 20, 'maxFrameBytes');
  const maxPageBytes = checkedLimit(options.maxPageBytes ?? 2 ** 30, 'maxPageBytes');
  const path = resourcePath(resource, namespace === undefined ? {} : { namespace });
  const common: ListOptions = {
    ...(labelSelector ? { labelSelector } : {}),
    ...(fieldSelector ? { fieldSelector } : {}),
  };
  const named = (of?: Projection) =>
    `${resource.apiVersion}/${resource.plural}${of === undefined ? '' : ` as ${of.eventKind}`}`;
  const what = named(projection);
  const streaming = streamingSupport(client, what);
  const passage = passageOf(client, scheduler);
  /** Of some object that was there. */
  let name: string | undefined;

  const query = (own: ListOptions, of = projection): ListOptions => {
    const included: ListOptions = of?.member === 'rows' ? { includeObject: 'Metadata' } : {};
    const all = { ...common, ...included, ...own };
    tweak?.(all);
    return all;
  };
  const own = told(options.onSkipped);
  const bounds = { maxFrameBytes, maxPageBytes };
  const context = (request: ListRequest<T> | WatchRequest<T>): DecodeContext<T> => ({
    resource: resource as Resource<T>,
    ...(projection === undefined ? {} : { projection }),
    ...bounds,
    keepManagedFields: options.keepManagedFields ?? false,
    onSkipped: (skipped) => {
      own(skipped);
      request.onSkipped?.(skipped);
    },
    ...(request.known === undefined ? {} : { known: request.known }),
    ...(transform === undefined ? {} : { transform }),
  });

  const listed = <V extends KubernetesObject>(
    request: ListRequest<V>,
    of: Projection | undefined,
    decoder: () => Decoder<ListPart<V>>,
    acceptGzip = false,
  ) =>
    decodeAnswer({
      client,
      where: `LIST ${named(of)}`,
      scheduler,
      decoder,
      request: {
        method: 'GET',
        path,
        query: query(listQuery(request), of),
        use: 'list',
        ...(of === undefined ? {} : accepted(of.listKind)),
        ...(acceptGzip ? { acceptGzip } : {}),
        ...(request.demand === undefined ? {} : { demand: request.demand }),
      },
    }).pipe(
      mergeMap((answer): ListPart<V>[] => {
        if (answer.kind === 'queued' || answer.kind === 'sending') request.onTurn?.(answer.kind);
        return answer.kind === 'decoded' ? [answer.value] : [];
      }),
    );
  const probe = () =>
    client.send({
      method: 'GET',
      path,
      query: query(probeQuery(name, fieldSelector)),
      use: 'watch',
      // As little as can be: what is held back is what a buffer has room for.
      ...accepted('PartialObjectMetadata', ',application/json'),
    });
  const looked = (request: WatchRequest<T>): Pick<KubeClient, 'send'> => ({
    send: (sent) =>
      passage.watched(client.send(sent), {
        where: `WATCH ${what}`,
        scheduler,
        isInitial: request.sendInitialEvents === true,
        probe,
      }),
  });

  return {
    ...(namespace ? { scope: namespace } : {}),
    get watchList() {
      // A streaming list would wait for its end mark.
      if (options.watchList === false || passage.heldBack !== undefined) return false;
      return streaming.known;
    },
    get heldBack() {
      return passage.heldBack;
    },
    get mayOverlap() {
      const { connectionsLeft = Number.POSITIVE_INFINITY } = client;
      // While watches are short, the next one is never far.
      return connectionsLeft > SCARCE && passage.heldBack === undefined;
    },
    onWatchListUnsupported: streaming.rememberNone,
    list: (request) =>
      listed(request, projection, () => decoding.list(context(request))).pipe(
        tap(({ items }) => {
          name = items[0]?.metadata?.name ?? name;
        }),
      ),
    listMetadata: (request) =>
      listed(
        request,
        metadataProjection,
        () =>
          decoding.list<PartialObjectMetadata>({
            resource: resource as Resource<PartialObjectMetadata>,
            projection: metadataProjection,
            ...bounds,
            keepManagedFields: false,
            onSkipped: request.onSkipped ?? (() => undefined),
          }),
        true,
      ),
    watch: (request) =>
      decodeAnswer({
        client: looked(request),
        where: `WATCH ${what}`,
        scheduler,
        ...(request.sendInitialEvents === true ? { refusal: streaming.refusal() } : {}),
        decoder: () => decoding.watch(context(request)),
        request: {
          method: 'GET',
          path,
          query: query(watchQuery(request, passage.seconds(request.timeoutSeconds))),
          use: 'watch',
          ...(projection === undefined ? {} : accepted(projection.eventKind)),
          ...(request.demand === undefined ? {} : { demand: request.demand }),
        },
      }).pipe(
        signals(scheduler),
        tap((signal) => {
          const [event] = signal.kind === 'events' ? signal.events : [];
          if (event?.type === 'ADDED') name = event.object.metadata?.name ?? name;
        }),
      ),
  };
}
