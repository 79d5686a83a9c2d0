/**
 * `ListerWatcher`, the interface to one collection: each call is one LIST or one WATCH. The reflector decides which
 * request to send and when to retry. client-go: tools/cache/listwatch.go.
 */
import type { Observable } from 'rxjs';
import type { Decoding, Refusal } from '../decode/decoding.ts';
import type { PartialObjectMetadata } from '../decode/projection.ts';
import type { ListPart, Refused, WatchEvent } from '../decode/watch-event.ts';
import type { ApiError } from '../meta/api-error.ts';
import type { KnownObjects } from '../meta/known-objects.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Resource } from '../meta/resource.ts';
import type { ResourceVersion } from '../meta/resource-version.ts';
import type { Demand } from '../rx/demand.ts';
import type { HeldBack } from '../transport/guards/buffering-proxy.ts';
import type { KubeClient } from '../transport/kube-client.ts';

/** The state of a request before its response: it waits on the client's side, or it was sent. */
export type RequestTurn = 'queued' | 'sending';

/** The parameters of a LIST. */
export interface ListRequest<T> {
  /**
   * '' requests the newest version, '0' any version that the server has in its cache, and another value a version
   * that is not older.
   */
  readonly resourceVersion: string;
  readonly resourceVersionMatch?: 'NotOlderThan' | 'Exact' | undefined;
  /** The number of objects per page; absent for one complete list. */
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  /** Selects objects by ranges of hashes. A server that does not know it ignores it. */
  readonly shardSelector?: string | undefined;
  readonly known?: KnownObjects<T> | undefined;
  /**
   * Whether equal UIDs and versions mean equal content, so that an object of `known` may be delivered instead of
   * parsing the object of the response. It is then marked as `unparsed`. @defaultValue false
   */
  readonly reuse?: boolean | undefined;
  readonly demand?: Demand | undefined;
  /**
   * By how much longer than usual the head of the response may take, because it did not come in time before: 1, 2 or 4
   * times. @defaultValue 1
   */
  readonly patience?: number | undefined;
  /** Called for every refused object or item, with the reason. */
  readonly onRefused?: ((refusal: Refusal) => void) | undefined;
  /**
   * Called when the request has to wait before it is sent, and when it is sent. This wait does not count as a silence
   * of the server. `reason` says why it has to wait, if the user should know.
   */
  readonly onTurn?: ((turn: RequestTurn, reason?: string) => void) | undefined;
}

/** The parameters of a WATCH. */
export interface WatchRequest<T> {
  readonly resourceVersion: string;
  readonly resourceVersionMatch?: 'NotOlderThan' | undefined;
  /** How long the server keeps the watch open, in seconds. */
  readonly timeoutSeconds: number;
  /** Requests a streaming LIST: the complete collection, a bookmark that marks its end, then changes. */
  readonly sendInitialEvents?: boolean | undefined;
  /** As for a LIST. */
  readonly shardSelector?: string | undefined;
  readonly known?: KnownObjects<T> | undefined;
  /**
   * Whether equal UIDs and versions mean equal content, so that an object of `known` may be delivered instead of
   * parsing the object of the response. It is then marked as `unparsed`. @defaultValue false
   */
  readonly reuse?: boolean | undefined;
  readonly demand?: Demand | undefined;
  /**
   * By how much longer than usual the head of the response may take, because it did not come in time before: 1, 2 or 4
   * times. @defaultValue 1
   */
  readonly patience?: number | undefined;
  /** Called for every refused object or item, with the reason. */
  readonly onRefused?: ((refusal: Refusal) => void) | undefined;
}

/**
 * A signal of a watch. `queued`: the request waits on the client's side; `reason` says why, if the user should know.
 * `sending`: it is sent now. `alive`: bytes arrived, also if they did not complete an event. `doubted`: the connection may be
 * lost, although the watch is open, and the server was last heard `silentMs` ago; the next `opened` or `events` shows that it is
 * not. Its `error`, if it has one, is shown by the status until then.
 */
export type WatchSignal<T> =
  | {
      readonly kind: RequestTurn | 'opened' | 'alive' | 'doubted';
      readonly reason?: string | undefined;
      readonly silentMs?: number | undefined;
      readonly error?: ApiError | undefined;
    }
  | { readonly kind: 'events'; readonly events: readonly WatchEvent<T>[] }
  /** The complete collection, from a watch that polls. Objects that it does not contain are deleted. */
  | {
      readonly kind: 'listed';
      readonly items: readonly T[];
      readonly refused?: readonly Refused[] | undefined;
      readonly resourceVersion: ResourceVersion | '';
    };

/** What a ListerWatcher reads, as far as its objects depend on it. */
export interface ReadCollection {
  readonly client: KubeClient;
  /** To which paths objects are reduced. */
  readonly decoding?: Pick<Decoding, 'keeps'> | undefined;
  /** Returns the path, and the parameters of every LIST and WATCH, with those of `tweak`: selectors, for example. */
  get(own: Readonly<Record<string, never>>): {
    readonly path: string;
    readonly query?: Readonly<Record<string, string>> | undefined;
  };
  /** Returns how a response is decoded. */
  context(
    request: { readonly resourceVersion: string },
    isList: boolean,
  ): {
    readonly resource: Resource<KubernetesObject>;
    readonly projection?: { readonly eventKind: string } | undefined;
    readonly transform?: unknown;
  };
}

/**
 * Lists and watches one collection.
 *
 * Each call is one request and is not retried. Nothing happens before the subscription, and unsubscribing aborts the
 * request. A watch emits `opened` when it is answered. The reflector ends a watch that emits nothing for 30 s, and
 * later one that emits neither events nor `alive` for 85 s (both limits are options of the reflector). Time between
 * `queued` and the next signal does not count, nor does time between the two calls of a LIST's `onTurn`. The last
 * part of a LIST has metadata, then the LIST completes. A WATCH completes when the server closes it cleanly. Both
 * error with an `ApiError`; any other error is treated as a network failure. The reason `Yielded` is no failure: the
 * client has ended the request, and the reflector requests the same again.
 */
export interface ListerWatcher<T> {
  /** The namespace that this ListerWatcher covers, if several fill one store; '' means all namespaces. */
  readonly scope?: string | undefined;
  /**
   * Whether streaming LISTs may be requested. `'when-told'`: only with `initialList: 'stream'`. @defaultValue true
   */
  readonly watchList?: boolean | 'when-told';
  /**
   * Whether a second watch may be open beside the first for a while, so that the next watch is answered before this
   * one ends. Read before each watch. @defaultValue false
   */
  readonly mayOverlap?: boolean;
  /** Set while a proxy holds events back until a watch ends, always to the same object. Shown in the status. */
  readonly heldBack?: HeldBack | undefined;
  /** Emits when a request that waits before a retry is worth sending now, as after a sleep of the machine. */
  readonly awake$?: Observable<unknown> | undefined;
  /** What is read, so that a store on disk (`persist`) can name it. Without this member nothing can be stored. */
  readonly collection?: ReadCollection;
  list(request: ListRequest<T>): Observable<ListPart<T>>;
  watch(request: WatchRequest<T>): Observable<WatchSignal<T>>;
  /**
   * Lists the metadata of the same objects as `list`. Each call is one request, under the same rules as `list`. An
   * informer with the `audit` option compares its store with these pages; without this method its status says `audit:
   * 'unsupported'`.
   */
  listMetadata?(
    request: ListRequest<PartialObjectMetadata>,
  ): Observable<ListPart<PartialObjectMetadata>>;
  /** Called when the server has proved not to support streaming lists, so that they are not requested again. */
  onWatchListUnsupported?(): void;
}
