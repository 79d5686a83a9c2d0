/**
 * Sends the requests of one collection of an API server (LIST, WATCH and the probe for buffering proxies) and decodes
 * their responses. client-go: tools/cache/listwatch.go, NewFilteredListWatchFromClient.
 */
import { asyncScheduler, Observable, type SchedulerLike } from 'rxjs';
import { finalize, mergeMap, tap } from 'rxjs/operators';
import { checkedLimit } from '../checks/checked-option.ts';
import type { DecodeContext, Decoder, Decoding, Refusal, Transform } from '../decode/decoding.ts';
import {
  metadataProjection,
  type PartialObjectMetadata,
  type Projection,
} from '../decode/projection.ts';
import type { ListPart, WatchEvent } from '../decode/watch-event.ts';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { type Resource, resourcePath } from '../meta/resource.ts';
import { reportingErrors } from '../rx/report-unhandled.ts';
import { stoppedWith } from '../rx/stopped-with.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import { guardsOf, type WatchGuards } from '../transport/guards/watch-guards.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import type { TransportEvent, TransportRequest } from '../transport/transport.ts';
import { signals } from './batch-signals.ts';
import { decodeResponse } from './decode-response.ts';
import type { ListRequest, RequestTurn, WatchRequest, WatchSignal } from './lister-watcher.ts';
import { sendAccepting } from './managed-fields.ts';
import { given, listQuery, type Parameters, probeQuery, watchQuery } from './request-queries.ts';
import { findingsOf, type ServerFindings } from './server-findings.ts';
import type { StreamingSupport } from './streaming-support.ts';

/** Query parameters of a request, by name. */
export type ListOptions = Record<string, string>;

/** The options of {@link createListWatch}. */
export interface ListWatchOptions<T extends KubernetesObject> {
  /** The namespace to list and watch; '' means all namespaces. @defaultValue all */
  readonly namespace?: string | undefined;
  /** A label selector as for `kubectl -l`: `app=web,tier in (a,b)`. @defaultValue all objects */
  readonly labelSelector?: string;
  /** A field selector as for `kubectl --field-selector`: `spec.nodeName=n1`. @defaultValue all objects */
  readonly fieldSelector?: string;
  /** Changes the query parameters of each LIST and WATCH before they are sent. It modifies its argument. */
  readonly tweak?: ((options: ListOptions) => void) | undefined;
  /** Transforms a received object before it is stored. */
  readonly transform?: Transform<T> | undefined;
  /**
   * Whether to keep `metadata.managedFields`. Otherwise the server is asked to leave them out, and the decoder removes
   * them.
   *
   * @defaultValue false
   */
  readonly keepManagedFields?: boolean | undefined;
  /** The longest event or item, in bytes. Infinity means no limit. @defaultValue 16 MiB */
  readonly maxFrameBytes?: number | undefined;
  /**
   * The longest response to one LIST, in bytes; for a list in pages, the longest page. Infinity means no limit.
   * @defaultValue 1 GiB
   */
  readonly maxPageBytes?: number | undefined;
  /**
   * Makes the decoding of the collection. Called once, when the ListerWatcher is created.
   * @defaultValue that of the client: {@link jsonDecoding}, over undici {@link differentialDecoding}
   */
  readonly decoding?: (() => Decoding) | undefined;
  /** Whether streaming LISTs may be requested. @defaultValue true, until the server proves not to support them */
  readonly watchList?: boolean | undefined;
  /**
   * Emits whether somebody uses the collection now. In a page with few connections a collection that nobody uses is not followed
   * while others wait, and continues where it was when somebody uses it. @defaultValue always
   */
  readonly inUse$?: Observable<boolean> | undefined;
  /** Called for every refused object or item, with the reason. An error that it throws is reported. */
  readonly onRefused?: ((refusal: Refusal) => void) | undefined;
  /** The scheduler of batches and probes. @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
}

/** After this time a watch that was silent has sent a probe, which has its verdict, in milliseconds. */
const JUDGED_MS = 30_000;

/** Whether an event is the bookmark that ends a streaming LIST. */
function endsList(event: WatchEvent<unknown>): boolean {
  return event.type === 'BOOKMARK' && event.initialEventsEnd;
}

/** Sends the requests of one collection and decodes their responses. */
export class CollectionRequests<T extends KubernetesObject> {
  readonly client: KubeClient;
  readonly scheduler: SchedulerLike;
  /** How the responses are decoded. */
  decoding: Decoding | undefined;
  /** The name of an object that was in the collection, for probes. */
  knownName: string | undefined;
  readonly #resource: Resource<KubernetesObject>;
  readonly #options: ListWatchOptions<T>;
  readonly #projection: Projection | undefined;
  readonly #path: string;
  readonly findings: ServerFindings;
  readonly guards: WatchGuards | undefined;
  readonly #bounds: Pick<DecodeContext<T>, 'maxFrameBytes' | 'maxPageBytes'>;
  readonly #onRefused: (refusal: Refusal) => void;

  constructor(
    client: KubeClient,
    resource: Resource<KubernetesObject>,
    options: ListWatchOptions<T>,
    projection: Projection | undefined,
  ) {
    const { namespace, scheduler = asyncScheduler } = options;
    const { maxFrameBytes = 16 * 2 ** 20, maxPageBytes = 2 ** 30 } = options;
    this.#bounds = {
      maxFrameBytes: checkedLimit(maxFrameBytes, 'createListWatch: maxFrameBytes'),
      maxPageBytes: checkedLimit(maxPageBytes, 'createListWatch: maxPageBytes'),
    };
    this.client = client;
    this.scheduler = scheduler;
    this.#resource = resource;
    this.#options = options;
    this.#projection = projection;
    this.#path = resourcePath(resource, { namespace });
    this.#onRefused = reportingErrors(options.onRefused);
    this.findings = findingsOf(client);
    this.guards = guardsOf(client);
  }

  /** Returns the name of the collection for errors. */
  named(of: Projection | undefined = this.#projection): string {
    const { apiVersion, plural } = this.#resource;
    return `${apiVersion}/${plural}${of === undefined ? '' : ` as ${of.eventKind}`}`;
  }

  /** Returns a request. No tweak changes what is `fixed`. */
  get(
    own: Parameters,
    of: Projection | undefined = this.#projection,
    fixed: Parameters = {},
  ): Pick<TransportRequest, 'method' | 'path' | 'query' | 'inUse$'> {
    const { labelSelector, fieldSelector, tweak, inUse$ } = this.#options;
    const includeObject = of?.member === 'rows' ? 'Metadata' : undefined;
    const query = given({ labelSelector, fieldSelector, includeObject, ...own });
    tweak?.(query);
    return { method: 'GET', path: this.#path, query: { ...query, ...given(fixed) }, inUse$ };
  }

  /** The options of a decoder. The events of a watch are changes, so none of them repeats a stored object. */
  context(request: ListRequest<T> | WatchRequest<T>, isList: boolean): DecodeContext<T> {
    const { transform, keepManagedFields = false } = this.#options;
    return {
      resource: this.#resource as Resource<T>,
      projection: this.#projection,
      ...this.#bounds,
      keepManagedFields,
      onRefused: (refusal) => {
        this.#onRefused(refusal);
        request.onRefused?.(refusal);
      },
      known: request.known,
      reuse: isList ? request.reuse === true : undefined,
      transform,
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
      onRefused: request.onRefused ?? (() => undefined),
    };
  }

  /** Sends a LIST, and decodes its response into parts. */
  list<V extends KubernetesObject>(
    request: ListRequest<V>,
    of: Projection | undefined,
    decoder: () => Decoder<ListPart<V>>,
    acceptGzip = false,
  ): Observable<ListPart<V>> {
    const { keepManagedFields = false } = this.#options;
    // An audit reads metadata without `managedFields`, whatever the objects have.
    const keeps = keepManagedFields && of === this.#projection;
    const accepted = { as: of?.listKind, keepManagedFields: keeps };
    return decodeResponse({
      client: { send: (sent) => sendAccepting(this.client, this.findings, sent, accepted) },
      where: `LIST ${this.named(of)}`,
      scheduler: this.scheduler,
      decoder,
      request: {
        ...this.get(listQuery(request), of),
        use: 'list',
        acceptGzip,
        demand: request.demand,
        patience: request.patience,
      },
    }).pipe(
      mergeMap((answer): ListPart<V>[] => {
        const isTurn = answer.kind === 'queued' || answer.kind === 'sending';
        if (!isTurn) this.guards?.found?.heard();
        if (answer.kind === 'decoded') return [answer.value];
        if (isTurn) request.onTurn?.(answer.kind as RequestTurn, answer.reason);
        return [];
      }),
    );
  }

  /** Sends a WATCH, and decodes its response into signals. */
  watch(
    request: WatchRequest<T>,
    streaming: StreamingSupport,
    decoder: () => Decoder<readonly WatchEvent<T>[]>,
  ): Observable<WatchSignal<T>> {
    const where = `WATCH ${this.named()}`;
    const isInitial = request.sendInitialEvents === true;
    const { client, scheduler, findings, guards } = this;
    const { keepManagedFields = false } = this.#options;
    const accepted = { as: this.#projection?.eventKind, keepManagedFields };
    return new Observable<WatchSignal<T>>((subscriber) => {
      let isProbing = false;
      let isListed = !isInitial;
      const passedMs = stopwatch(scheduler);
      // A proxy that holds events back delivers nothing of a watch that is ended early. It would have held back the end of
      // a streaming list, too.
      const mayYield = () =>
        isListed &&
        !isProbing &&
        guards?.found?.heldBack === undefined &&
        (isInitial || guards?.found?.isJudged === true || passedMs() >= JUDGED_MS);
      const notice = guards?.guard(
        {
          scheduler,
          isInList: () => !isListed,
          probe: (seconds) => {
            isProbing = true;
            return this.#probe(seconds).pipe(
              finalize(() => {
                isProbing = false;
              }),
            );
          },
          // A server with a watch cache ignores the limit at version '0', so the field selector makes the answer small.
          ping: () =>
            this.#urgent({
              resourceVersion: '0',
              limit: '1',
              fieldSelector: 'metadata.name=rx-informer',
            }),
          notify: (signal) => subscriber.next(signal),
          fail: (reason, why) => subscriber.error(ApiError.local(reason, `${where}: ${why}`)),
        },
        subscriber,
      );
      const timeoutSeconds =
        guards?.found?.seconds(request.timeoutSeconds) ?? request.timeoutSeconds;
      const answers = decodeResponse({
        client: {
          send: (sent) =>
            sendAccepting(client, findings, sent, accepted).pipe(tap((event) => notice?.(event))),
        },
        where,
        scheduler,
        refusal: isInitial ? streaming.refusal() : undefined,
        decoder,
        request: {
          ...this.get(watchQuery(request, timeoutSeconds)),
          use: 'watch',
          mayYield,
          demand: request.demand,
          patience: request.patience,
        },
      }).pipe(
        tap((answer) => {
          if (!isListed && answer.kind === 'decoded') isListed = answer.value.some(endsList);
        }),
        signals(scheduler),
        stoppedWith(subscriber),
      );
      subscriber.add(answers.subscribe(subscriber));
    });
  }

  /**
   * A probe goes the way of the watches, because a proxy may forward nothing else, but no tweak makes it larger. As a
   * watch, it bypasses the HTTP cache of a browser.
   */
  #urgent(own: Parameters): TransportRequest {
    return { ...this.get(own, undefined, own), use: 'watch', isUrgent: true };
  }

  #probe(seconds: number): Observable<TransportEvent> {
    const { fieldSelector } = this.#options;
    const request = this.#urgent(probeQuery(seconds, this.knownName, fieldSelector));
    // The response must be small, because a proxy holds back as much as its buffer can hold.
    const accepted = { as: 'PartialObjectMetadata', orComplete: true, keepManagedFields: false };
    return sendAccepting(this.client, this.findings, request, accepted).pipe(
      tap(({ kind }) => {
        if (kind === 'head' || kind === 'chunk') this.guards?.found?.heard();
      }),
    );
  }
}
