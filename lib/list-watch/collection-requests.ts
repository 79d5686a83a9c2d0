/**
 * The requests of one collection of an API server, LIST, WATCH and the probe for proxies, and how their responses are
 * decoded. client-go: tools/cache/listwatch.go, NewFilteredListWatchFromClient.
 */
import { asyncScheduler, type Observable, type SchedulerLike } from 'rxjs';
import { mergeMap } from 'rxjs/operators';
import type { DecodeContext, Decoder, Decoding, Skipped, Transform } from '../decode/decoding.ts';
import {
  metadataProjection,
  type PartialObjectMetadata,
  type Projection,
} from '../decode/projection.ts';
import type { ListPart, WatchEvent } from '../decode/watch-event.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { type Resource, resourcePath } from '../meta/resource.ts';
import { checkedLimit } from '../rx/checked-option.ts';
import { told } from '../rx/report-unhandled.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import type { TransportEvent, TransportRequest } from '../transport/transport.ts';
import { signals } from './batch-signals.ts';
import { PROBE_SECONDS } from './buffering-probe.ts';
import type { Passage } from './buffering-proxy.ts';
import { decodeAnswer } from './decode-answer.ts';
import type { ListRequest, WatchRequest, WatchSignal } from './lister-watcher.ts';
import type { StreamingSupport } from './streaming-support.ts';

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

function accepted(kind: string, or = ''): { readonly headers: Readonly<Record<string, string>> } {
  return { headers: { accept: `application/json;as=${kind};g=meta.k8s.io;v=v1${or}` } };
}

/** The requests of one collection and how their responses are decoded. */
export class CollectionRequests<T extends KubernetesObject> {
  readonly client: KubeClient;
  readonly scheduler: SchedulerLike;
  /** The name of an object that was in the collection, for probes. */
  knownName: string | undefined;
  readonly #resource: Resource<KubernetesObject>;
  readonly #options: ListWatchOptions<T>;
  readonly #projection: Projection | undefined;
  readonly #path: string;
  readonly #bounds: Pick<DecodeContext<T>, 'maxFrameBytes' | 'maxPageBytes'>;
  readonly #onSkipped: (skipped: Skipped) => void;

  constructor(
    client: KubeClient,
    resource: Resource<KubernetesObject>,
    options: ListWatchOptions<T>,
    projection: Projection | undefined,
  ) {
    const { namespace, scheduler = asyncScheduler } = options;
    const { maxFrameBytes = 16 * 2 ** 20, maxPageBytes = 2 ** 30 } = options;
    this.#bounds = {
      maxFrameBytes: checkedLimit(maxFrameBytes, 'maxFrameBytes'),
      maxPageBytes: checkedLimit(maxPageBytes, 'maxPageBytes'),
    };
    this.client = client;
    this.scheduler = scheduler;
    this.#resource = resource;
    this.#options = options;
    this.#projection = projection;
    this.#path = resourcePath(resource, namespace === undefined ? {} : { namespace });
    this.#onSkipped = told(options.onSkipped);
  }

  /** The collection in words, for errors. */
  named(of: Projection | undefined = this.#projection): string {
    const { apiVersion, plural } = this.#resource;
    return `${apiVersion}/${plural}${of === undefined ? '' : ` as ${of.eventKind}`}`;
  }

  get(
    own: ListOptions,
    of: Projection | undefined = this.#projection,
  ): Pick<TransportRequest, 'method' | 'path' | 'query'> {
    const { labelSelector, fieldSelector, tweak } = this.#options;
    const query: ListOptions = {
      ...(labelSelector ? { labelSelector } : {}),
      ...(fieldSelector ? { fieldSelector } : {}),
      ...(of?.member === 'rows' ? { includeObject: 'Metadata' } : {}),
      ...own,
    };
    tweak?.(query);
    return { method: 'GET', path: this.#path, query };
  }

  context(request: ListRequest<T> | WatchRequest<T>): DecodeContext<T> {
    const { transform, keepManagedFields = false } = this.#options;
    return {
      resource: this.#resource as Resource<T>,
      ...(this.#projection === undefined ? {} : { projection: this.#projection }),
      ...this.#bounds,
      keepManagedFields,
      onSkipped: (skipped) => {
        this.#onSkipped(skipped);
        request.onSkipped?.(skipped);
      },
      ...(request.known === undefined ? {} : { known: request.known }),
      ...(transform === undefined ? {} : { transform }),
    };
  }

  metadataContext(
    request: ListRequest<PartialObjectMetadata>,
  ): DecodeContext<PartialObjectMetadata> {
    return {
      resource: this.#resource as Resource<PartialObjectMetadata>,
      projection: metadataProjection,
      ...this.#bounds,
      keepManagedFields: false,
      onSkipped: request.onSkipped ?? (() => undefined),
    };
  }

  /** Sends a LIST, and decodes its response into parts. */
  list<V extends KubernetesObject>(
    request: ListRequest<V>,
    of: Projection | undefined,
    decoder: () => Decoder<ListPart<V>>,
    acceptGzip = false,
  ): Observable<ListPart<V>> {
    return decodeAnswer({
      client: this.client,
      where: `LIST ${this.named(of)}`,
      scheduler: this.scheduler,
      decoder,
      request: {
        ...this.get(listQuery(request), of),
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
  }

  /** Sends a WATCH through `passage`, and decodes its response into signals. */
  watch(
    request: WatchRequest<T>,
    { passage, streaming }: { readonly passage: Passage; readonly streaming: StreamingSupport },
    decoder: () => Decoder<readonly WatchEvent<T>[]>,
  ): Observable<WatchSignal<T>> {
    const where = `WATCH ${this.named()}`;
    const isInitial = request.sendInitialEvents === true;
    const { client, scheduler } = this;
    const probe = () => this.#probe();
    const send: KubeClient['send'] = (sent) =>
      passage.watched(client.send(sent), { where, scheduler, isInitial, probe });
    return decodeAnswer({
      client: { send },
      where,
      scheduler,
      ...(isInitial ? { refusal: streaming.refusal() } : {}),
      decoder,
      request: {
        ...this.get(watchQuery(request, passage.seconds(request.timeoutSeconds))),
        use: 'watch',
        ...(this.#projection === undefined ? {} : accepted(this.#projection.eventKind)),
        ...(request.demand === undefined ? {} : { demand: request.demand }),
      },
    }).pipe(signals(scheduler));
  }

  #probe(): Observable<TransportEvent> {
    return this.client.send({
      ...this.get(probeQuery(this.knownName, this.#options.fieldSelector)),
      use: 'watch',
      // The response must be small: a proxy holds back as much as its buffer has capacity for.
      ...accepted('PartialObjectMetadata', ',application/json'),
    });
  }
}
