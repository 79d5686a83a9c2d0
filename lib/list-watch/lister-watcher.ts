/**
 * The port to one collection: one LIST or one WATCH a call. The reflector decides what to ask and when to
 * ask again. client-go: tools/cache/listwatch.go.
 */
import type { Observable } from 'rxjs';
import type { Skipped } from '../decode/decoding.ts';
import type { PartialObjectMetadata } from '../decode/projection.ts';
import type { ListPart, Refused, WatchEvent } from '../decode/watch-event.ts';
import type { KnownObjects } from '../meta/known-objects.ts';
import type { ResourceVersion } from '../meta/resource-version.ts';
import type { Demand } from '../rx/demand.ts';
import type { HeldBack } from './buffering-proxy.ts';

/** Where a request stands before its answer: it waits on this side, or it is on its way. */
export type RequestTurn = 'queued' | 'sending';

/** What a LIST asks for. */
export interface ListRequest<T> {
  /** '' the newest, '0' whatever the server has at hand, else not older than this. */
  readonly resourceVersion: string;
  readonly resourceVersionMatch?: 'NotOlderThan' | 'Exact';
  /** Objects a page; absent: all at once. */
  readonly limit?: number;
  readonly continue?: string;
  readonly known?: KnownObjects<T>;
  readonly demand?: Demand;
  /** Told of every object that did not get through. */
  readonly onSkipped?: (skipped: Skipped) => void;
  /** Told when the request has to wait before it is sent, and when that is over: none of it is the server's silence. */
  readonly onTurn?: (turn: RequestTurn) => void;
}

/** What a WATCH asks for. */
export interface WatchRequest<T> {
  readonly resourceVersion: string;
  readonly resourceVersionMatch?: 'NotOlderThan';
  /** After this many seconds the server ends the watch. */
  readonly timeoutSeconds: number;
  /** A streaming LIST: the collection first, then a bookmark that says so, then changes. */
  readonly sendInitialEvents?: boolean;
  readonly known?: KnownObjects<T>;
  readonly demand?: Demand;
  /** Told of every object that did not get through. */
  readonly onSkipped?: (skipped: Skipped) => void;
}

/**
 * What a watch tells. `queued` says that it waits on this side, `sending` that this is over; `alive` says that bytes
 * came, also when they were no whole event.
 */
export type WatchSignal<T> =
  | { readonly kind: RequestTurn | 'opened' | 'alive' }
  | { readonly kind: 'events'; readonly events: readonly WatchEvent<T>[] }
  /** The collection as a whole, from a watch that lists instead: all that it lacks is gone. */
  | {
      readonly kind: 'listed';
      readonly items: readonly T[];
      readonly rejected?: readonly Refused[];
      readonly resourceVersion: ResourceVersion | '';
    };

/**
 * Lists and watches one collection.
 *
 * Laws: each call is one request and retries nothing; nothing happens before the subscription, and
 * unsubscribing aborts. A watch says `opened` once it is answered: one that says nothing for 30 s is ended, and
 * later one from which neither events nor `alive` came for 85 s (both are options of the reflector); between `queued`
 * and the next signal no time counts, nor between the two calls of a LIST's `onTurn`. A LIST's last
 * part has metadata, then it completes. A WATCH completes when the server closes it cleanly. Both error with an
 * `ApiError`; anything else is taken as a failure of the network.
 */
export interface ListerWatcher<T> {
  /** The namespace that this one covers, where several cover one store; '' is all. */
  readonly scope?: string;
  /** Whether streaming LISTs may be asked for; `'when-told'`: by `initialList: 'stream'` only. @defaultValue true */
  readonly watchList?: boolean | 'when-told';
  /**
   * Whether a second watch may be open beside the first for a while, so that the next one can be answered before this one
   * ends. Asked anew each time. @defaultValue false
   */
  readonly mayOverlap?: boolean;
  /** While a proxy holds events back until a watch ends; the same object for as long as that lasts. Shown in the status. */
  readonly heldBack?: HeldBack | undefined;
  list(request: ListRequest<T>): Observable<ListPart<T>>;
  watch(request: WatchRequest<T>): Observable<WatchSignal<T>>;
  /**
   * Lists the metadata of the same objects as `list`, one request each, under the laws of `list`. An informer with the
   * `audit` option compares its store with these pages; without this method its status says `audit: 'unsupported'`.
   */
  listMetadata?(
    request: ListRequest<PartialObjectMetadata>,
  ): Observable<ListPart<PartialObjectMetadata>>;
  /** Told once the server has shown that it cannot stream lists, so that nobody asks it again. */
  onWatchListUnsupported?(): void;
}
