/**
 * The types of the reflector's state machine: its state, inputs and effects. The transitions are in `transitions.ts`.
 * client-go: tools/cache/reflector.go, ListAndWatch.
 *
 * ```
 *            ┌────────── initial-events-end ───────────┐
 *            │                                         ▼
 * start ─▶ streaming ──unsupported──▶ listing ──listed─▶ watching ──closed──▶ watching
 *            ▲  │                      ▲  │              │  ▲   │
 *            │  └───────failed─────────┼──┴──▶ backoff ◀─┘  │   └──demand closes─▶ paused
 *            └─────────elapsed─────────┴─────────┴──────────┘◀───demand opens────────┘
 * ```
 */
import type { Refused, WatchEvent } from '../decode/watch-event.ts';
import type { ApiError } from '../meta/api-error.ts';
import type { Backoff } from '../rx/backoff.ts';
import type { Delta } from './delta.ts';

/** The phase of a reflector. */
export type ReflectorPhase =
  | 'listing'
  | 'streaming'
  | 'watching'
  | 'paused'
  | 'backoff'
  | 'stopped';

/** The request that is sent after a wait. */
export type Resume = 'relist' | 'list' | 'watch';

/**
 * Why a retry alone will not help. `wrong-kind`: the server's objects have another kind than the resource says, so the
 * definition of the resource is wrong.
 */
export type Blocked = 'unauthorized' | 'forbidden' | 'no-such-resource' | 'wrong-kind';

/** The state of the next watch. */
export type Renewal =
  /** It will be requested. */
  | 'due'
  /** It has failed or cannot be requested. The current watch lasts to its end, and the next one is requested then. */
  | 'given-up'
  | { readonly resourceVersion: string; readonly requestedMs: number; readonly timeoutMs: number };

/** The range of events that a watch repeats, because the watch before it has delivered them already. */
export interface Repeats {
  /** The last version that the new watch has delivered. */
  readonly resourceVersion: string;
  /** The last version that the watch before it had delivered. */
  readonly until: string;
}

/** The state of the reflector. Times are times of the scheduler's clock, in milliseconds. */
export interface ReflectorState {
  readonly phase: ReflectorPhase;
  readonly sinceMs: number;
  /** Whether the request is not sent yet: it waits for the rate limiter, for credentials or for a connection. */
  readonly queued: boolean;
  /** Why it waits, in words, if the user should know. */
  readonly waitingFor: string | undefined;
  /** Whether the request was answered. */
  readonly opened: boolean;
  /** When the request was sent. */
  readonly requestedMs: number;
  /** The server ends the watch after this long, in milliseconds. */
  readonly timeoutMs: number;
  /** The next watch; `undefined` while no answered watch is open. */
  readonly renewal: Renewal | undefined;
  /** The events that the watch repeats after it replaced another one; `undefined` if it repeats none. */
  readonly repeats: Repeats | undefined;
  /** The last version seen; '' before the first list. */
  readonly resourceVersion: string;
  /** Whether ADDED events move the version; the first ADDED events of a watch are not in the order of versions. */
  readonly adopting: boolean;
  readonly synced: boolean;
  /** The last version has expired, or the server has not reached it yet. The newest version is requested instead. */
  readonly versionUnavailable: boolean;
  /** Whether the list in progress contains stored objects that were not parsed, because their versions are equal. */
  readonly reused: boolean;
  /** Whether the next list must be parsed completely, because the last one was older than a version already seen. */
  readonly rereading: boolean;
  /** The newest version was already requested without a wait. */
  readonly retriedNewest: boolean;
  /** The first list was sent in pages, so the server lists from etcd, and requests for pages are useful. */
  readonly paginated: boolean;
  /** The number of streaming LISTs that have failed in a row. */
  readonly streamFailures: number;
  /** After an expired version a list was sent without the backoff, and no long healthy time has followed yet. */
  readonly listedPromptly: boolean;
  /** The number of watches in a row that failed and delivered nothing. */
  readonly fruitless: number;
  readonly resume: Resume;
  /** Set if a refresh was requested from outside: whether the next list trusts equal versions (`replaced` deltas). */
  readonly refreshing: 'trusting' | 'doubting' | undefined;
  readonly attempt: number;
  readonly healthySinceMs: number | undefined;
  readonly staleSinceMs: number | undefined;
  readonly nextRetryAtMs: number | undefined;
  /** The server's last Retry-After: when it was received, and for how long it applies. */
  readonly retryAfter: { readonly sinceMs: number; readonly forMs: number } | undefined;
  readonly error: ApiError | undefined;
  readonly blocked: Blocked | undefined;
  readonly reconnects: number;
  readonly relists: number;
  readonly loaded: number;
  readonly remaining: number | undefined;
}

/** The inputs of the machine. */
export type ReflectorInput<T> =
  /** The request is not sent yet; it waits on the client's side. */
  | { readonly type: 'queued'; readonly reason?: string | undefined }
  /** The wait is over, and the request is being sent. */
  | { readonly type: 'sending'; readonly reason?: string | undefined }
  /** The response has begun. */
  | { readonly type: 'opened'; readonly reason?: string | undefined }
  /** The connection of the watch may be lost. */
  | { readonly type: 'doubted'; readonly reason?: string | undefined }
  | {
      readonly type: 'part';
      readonly items: readonly T[];
      readonly rejected: readonly Refused[];
      readonly unparsed?: true;
      readonly remaining?: number;
    }
  /** A page token has expired, so the list starts again. */
  | { readonly type: 'restart' }
  | { readonly type: 'listed'; readonly resourceVersion: string; readonly paginated: boolean }
  | { readonly type: 'events'; readonly events: readonly WatchEvent<T>[] }
  /** A ListerWatcher that polls instead of watching has read the complete collection again. */
  | {
      readonly type: 'relisted';
      readonly items: readonly T[];
      readonly rejected?: readonly Refused[];
      readonly resourceVersion: string;
    }
  /** The server closed the watch cleanly. */
  | { readonly type: 'closed' }
  | { readonly type: 'failed'; readonly error: ApiError }
  /** The client ended the request, which is no failure. The same request is sent again, when it is its turn. */
  | { readonly type: 'yielded' }
  /** The network may have changed, so a request that waits, or a watch, is worth another try now. */
  | { readonly type: 'awake' }
  /** The next watch is due. */
  | { readonly type: 'renew' }
  /** The next watch was answered. */
  | { readonly type: 'renewed' }
  | { readonly type: 'renewal-failed'; readonly error: ApiError }
  | { readonly type: 'elapsed' }
  /** The demand was closed for too long. */
  | { readonly type: 'paused' }
  | { readonly type: 'resumed' }
  /** A list was requested from outside. It is sent as soon as the server permits. */
  | { readonly type: 'refresh'; readonly trustVersions: boolean };

/** The time of an input and a random number for it. They are passed in so that the transitions stay pure. */
export interface Moment {
  readonly nowMs: number;
  /** In [0, 1). */
  readonly random: number;
}

/** The effects of the machine. */
export type ReflectorEffect<T> =
  | { readonly type: 'emit'; readonly deltas: readonly Delta<T>[] }
  | {
      readonly type: 'list';
      readonly resourceVersion: string;
      readonly limit?: number;
      /** Stored objects may stand for the objects of the list that have their UIDs and versions. */
      readonly reuse: boolean;
    }
  | {
      readonly type: 'watch';
      readonly resourceVersion: string;
      readonly timeoutSeconds: number;
      /** A streaming LIST. */
      readonly initialEvents: boolean;
      /** As for a list. */
      readonly reuse: boolean;
    }
  | { readonly type: 'wait'; readonly delayMs: number }
  /** Signal after this delay that the next watch is due. */
  | { readonly type: 'renew-after'; readonly delayMs: number }
  /** Request the next watch while the current one is open. */
  | { readonly type: 'renew'; readonly resourceVersion: string; readonly timeoutSeconds: number }
  /** Replace the current watch with the next one. */
  | { readonly type: 'take-over' }
  | { readonly type: 'drop-renewal' }
  /** Abort the request and wait until the demand opens. */
  | { readonly type: 'await-demand' }
  /** Remember that the server does not support streaming lists. */
  | { readonly type: 'remember-no-watch-list' }
  /** Report that the list of a refresh was emitted completely, or that it failed. */
  | { readonly type: 'refreshed'; readonly error?: ApiError }
  | { readonly type: 'complete' };

/**
 * How a collection is listed. `stream` always uses a streaming list, and `pages` never does. `auto` uses a streaming
 * list if the server supports it, and in a browser only if the transport can see that the response is not compressed.
 * A compressed stream is never used.
 */
export type InitialList = 'auto' | 'stream' | 'pages';

/** The configuration of a reflector, which does not change while the reflector runs. */
export interface ReflectorConfig {
  readonly scope: string | undefined;
  readonly initialList: InitialList;
  /** Whether the ListerWatcher accepts a request for a streaming LIST now. */
  mayStream(): boolean;
  /** Whether the next watch is requested before the current one ends. */
  readonly renewsEarly: boolean;
  /** Whether two watches may be open at the moment. */
  mayOverlap(): boolean;
  readonly pageSize: number | undefined;
  readonly minWatchTimeoutMs: number;
  readonly backoff: Backoff;
  /** The backoff starts over after this long without a failure, in milliseconds. */
  readonly healthyMs: number;
}

/** The state before the first request. */
export function initialState(nowMs: number, resumeFrom = ''): ReflectorState {
  return {
    phase: 'backoff',
    sinceMs: nowMs,
    queued: false,
    waitingFor: undefined,
    opened: false,
    requestedMs: nowMs,
    timeoutMs: 0,
    renewal: undefined,
    repeats: undefined,
    resourceVersion: resumeFrom,
    adopting: false,
    synced: resumeFrom !== '',
    versionUnavailable: false,
    reused: false,
    rereading: false,
    retriedNewest: false,
    paginated: false,
    streamFailures: 0,
    listedPromptly: false,
    fruitless: 0,
    resume: 'relist',
    refreshing: undefined,
    attempt: 0,
    healthySinceMs: undefined,
    staleSinceMs: nowMs,
    nextRetryAtMs: undefined,
    retryAfter: undefined,
    error: undefined,
    blocked: undefined,
    reconnects: 0,
    relists: 0,
    loaded: 0,
    remaining: undefined,
  };
}
