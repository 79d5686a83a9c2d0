/**
 * The reflector's state, and all that can happen to it. `transitions.ts` says what follows from what; nothing
 * here has an effect. client-go: tools/cache/reflector.go, ListAndWatch.
 *
 * ```
 *            ┌────────── initial-events-end ───────────┐
 *            │                                         ▼
 * start ─▶ streaming ──unsupported──▶ listing ──listed─▶ watching ──closed──▶ watching
 *            ▲  │                      ▲  │              │  ▲   │
 *            │  └───────failed─────────┼──┴──▶ backoff ◀─┘  │   └─no room─▶ paused
 *            └─────────elapsed─────────┴─────────┴──────────┘◀─────room──────┘
 * ```
 */
import type { Refused, WatchEvent } from '../decode/watch-event.ts';
import type { ApiError } from '../meta/api-error.ts';
import type { Backoff } from '../rx/backoff.ts';
import type { Delta } from './delta.ts';

/** What the reflector is busy with. */
export type ReflectorPhase =
  | 'listing'
  | 'streaming'
  | 'watching'
  | 'paused'
  | 'backoff'
  | 'stopped';

/** What comes next after a wait. */
export type Resume = 'relist' | 'list' | 'watch';

/**
 * Why trying again will not help by itself. `wrong-kind`: what the server has there is not what the resource says, so
 * its definition is wrong.
 */
export type Blocked = 'unauthorized' | 'forbidden' | 'no-such-resource' | 'wrong-kind';

/** Where the next watch stands. */
export type Renewal =
  /** It will be asked for. */
  | 'due'
  /** It has failed: the watch lasts to its end, and the next one comes then. */
  | 'given-up'
  | { readonly resourceVersion: string; readonly requestedMs: number; readonly timeoutMs: number };

/** What a watch tells that the one before it has told already. */
export interface Repeats {
  /** How far it has come. */
  readonly resourceVersion: string;
  /** How far the one before had come. */
  readonly until: string;
}

/** Everything the reflector remembers. Times are of the scheduler's clock. */
export interface ReflectorState {
  readonly phase: ReflectorPhase;
  readonly sinceMs: number;
  /** The request waits on this side: for the rate limiter, for credentials or for a connection. */
  readonly queued: boolean;
  /** The request was answered. */
  readonly opened: boolean;
  /** When the request was sent. */
  readonly requestedMs: number;
  /** After so long the server ends the watch. */
  readonly timeoutMs: number;
  /** The next watch; `undefined` while none is open that was answered. */
  readonly renewal: Renewal | undefined;
  /** What of the watch is no news, because it took over from another. */
  readonly repeats: Repeats | undefined;
  /** Where the watch stands; '' before the first list. */
  readonly resourceVersion: string;
  /** Whether an ADDED may move the version: not among the first ones, whose order is no order of versions. */
  readonly adopting: boolean;
  readonly synced: boolean;
  /** The version at hand is gone, or still to come: ask for the newest. */
  readonly versionUnavailable: boolean;
  /** That was tried at once already. */
  readonly retriedNewest: boolean;
  /** The first list came in pages, so the server lists from etcd and pages are worth asking for. */
  readonly paginated: boolean;
  /** Streaming LISTs that came to nothing, in a row. */
  readonly streamFailures: number;
  /** An expired version was answered by a list without the grown wait, and no watch was healthy for long since. */
  readonly listedPromptly: boolean;
  /** Watches in a row that brought nothing and ended badly. */
  readonly fruitless: number;
  readonly resume: Resume;
  /** The next list was asked for from outside; whether it trusts versions (`replaced` deltas). */
  readonly refreshing: 'trusting' | 'doubting' | undefined;
  readonly attempt: number;
  readonly healthySinceMs: number | undefined;
  readonly staleSinceMs: number | undefined;
  readonly nextRetryAtMs: number | undefined;
  /** Until then the server wants no further request: its Retry-After, and when it was said. */
  readonly retryAfter: { readonly sinceMs: number; readonly forMs: number } | undefined;
  readonly error: ApiError | undefined;
  readonly blocked: Blocked | undefined;
  readonly reconnects: number;
  readonly relists: number;
  readonly loaded: number;
  readonly remaining: number | undefined;
}

/** What can happen. */
export type ReflectorInput<T> =
  /** Waits on this side. */
  | { readonly type: 'queued' }
  /** Waits no more: it is on its way. */
  | { readonly type: 'sending' }
  /** The answer has begun. */
  | { readonly type: 'opened' }
  | {
      readonly type: 'part';
      readonly items: readonly T[];
      readonly rejected: readonly Refused[];
      readonly remaining?: number;
    }
  /** A page token expired: the list begins anew. */
  | { readonly type: 'restart' }
  | { readonly type: 'listed'; readonly resourceVersion: string; readonly paginated: boolean }
  | { readonly type: 'events'; readonly events: readonly WatchEvent<T>[] }
  /** A watch that lists instead of watching has the collection anew. */
  | {
      readonly type: 'relisted';
      readonly items: readonly T[];
      readonly rejected?: readonly Refused[];
      readonly resourceVersion: string;
    }
  /** The server closed the watch cleanly. */
  | { readonly type: 'closed' }
  | { readonly type: 'failed'; readonly error: ApiError }
  /** It is time to ask for the next watch. */
  | { readonly type: 'renew' }
  /** The next watch is answered. */
  | { readonly type: 'renewed' }
  | { readonly type: 'renewal-failed'; readonly error: ApiError }
  | { readonly type: 'elapsed' }
  /** The consumer has had no room for too long. */
  | { readonly type: 'paused' }
  | { readonly type: 'resumed' }
  /** Somebody wants a list: as soon as it may be asked for. */
  | { readonly type: 'refresh'; readonly trustVersions: boolean };

/** When an input came, and the chance drawn for it: what keeps `next` pure. */
export interface Moment {
  readonly nowMs: number;
  /** In [0, 1). */
  readonly random: number;
}

/** What is to be done. */
export type ReflectorEffect<T> =
  | { readonly type: 'emit'; readonly deltas: readonly Delta<T>[] }
  | { readonly type: 'list'; readonly resourceVersion: string; readonly limit?: number }
  | {
      readonly type: 'watch';
      readonly resourceVersion: string;
      readonly timeoutSeconds: number;
      /** A streaming LIST. */
      readonly initialEvents: boolean;
    }
  | { readonly type: 'wait'; readonly delayMs: number }
  /** Ask for the next watch in so long. */
  | { readonly type: 'renew-after'; readonly delayMs: number }
  /** The next watch, beside the one that is open. */
  | { readonly type: 'renew'; readonly resourceVersion: string; readonly timeoutSeconds: number }
  /** The next watch takes the place of the one before. */
  | { readonly type: 'take-over' }
  | { readonly type: 'drop-renewal' }
  /** Drop the request and wait until the consumer has room. */
  | { readonly type: 'await-room' }
  /** The server has shown that it cannot stream lists. */
  | { readonly type: 'remember-no-watch-list' }
  /** The list that somebody wanted was emitted whole, or its try has failed. */
  | { readonly type: 'refreshed'; readonly error?: ApiError }
  | { readonly type: 'complete' };

/**
 * How a collection is read first: `stream` and `pages` insist, `auto` streams where the server can, and a page can see
 * that it does not compress. A stream that comes compressed is given up in any case.
 */
export type InitialList = 'auto' | 'stream' | 'pages';

/** What does not change while a reflector runs. */
export interface ReflectorConfig {
  readonly scope: string | undefined;
  readonly initialList: InitialList;
  /** Whether the ListerWatcher may be asked to stream now. */
  mayStream(): boolean;
  /** Whether the next watch is asked for before the one that is open ends. */
  readonly renewsEarly: boolean;
  /** Whether two watches may be open now. */
  mayOverlap(): boolean;
  readonly pageSize: number | undefined;
  readonly minWatchTimeoutMs: number;
  readonly backoff: Backoff;
  /** After this long without a failure the backoff begins anew. */
  readonly healthyMs: number;
}

/** The state before the first request. */
export function initialState(nowMs: number): ReflectorState {
  return {
    phase: 'backoff',
    sinceMs: nowMs,
    queued: false,
    opened: false,
    requestedMs: nowMs,
    timeoutMs: 0,
    renewal: undefined,
    repeats: undefined,
    resourceVersion: '',
    adopting: false,
    synced: false,
    versionUnavailable: false,
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
