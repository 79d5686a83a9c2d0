/**
 * The types of the reflector's state machine: its state, inputs and effects. The transitions are in `transitions.ts`.
 * The machine never looks into an object, so only `reflect`, at its two ends, knows their type.
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
import type { ListSignal } from '../list-watch/list-pages.ts';
import type { WatchSignal } from '../list-watch/lister-watcher.ts';
import type { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Backoff } from '../rx/backoff.ts';
import type { Step } from '../rx/machine.ts';
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

/** The part of the state that is kept when the phase changes. Times are of the scheduler's clock, in milliseconds. */
export interface Memory {
  /** When the phase began. */
  readonly sinceMs: number;
  /** The last version seen; '' before the first list. */
  readonly resourceVersion: string;
  readonly synced: boolean;
  /** The last version has expired, or the server has not reached it yet. The newest version is requested instead. */
  readonly versionUnavailable: boolean;
  /** Whether the next list must be parsed completely, because the last one was older than a version already seen. */
  readonly rereading: boolean;
  /** The newest version was already requested without a wait. */
  readonly retriedNewest: boolean;
  /** The first list was sent in pages, so the server lists from etcd, and requests for pages are useful. */
  readonly paginated: boolean;
  /** The number of streaming LISTs that have failed in a row. */
  readonly streamFailures: number;
  /** The last streaming LIST failed with a 5xx. If the LIST that follows succeeds, the server refuses streaming LISTs. */
  readonly refusesStreams: boolean;
  /** After an expired version a list was sent without the backoff, and no long healthy time has followed yet. */
  readonly listedPromptly: boolean;
  /** The number of watches in a row that failed and delivered nothing. */
  readonly fruitless: number;
  /** The number of lists, without an event since, that were sent because watches were silent. */
  readonly silentLists: number;
  /** Set if a refresh was requested from outside: whether the next list trusts equal versions (`replaced` deltas). */
  readonly refreshing: 'trusting' | 'doubting' | undefined;
  readonly attempt: number;
  readonly healthySinceMs: number | undefined;
  readonly staleSinceMs: number | undefined;
  /** How long watches have caught up since the outage, in milliseconds. More than 0 if they must. */
  readonly catchUpMs: number;
  /** The server's last Retry-After: when it was received, and for how long it applies. */
  readonly retryAfter: { readonly sinceMs: number; readonly forMs: number } | undefined;
  readonly error: ApiError | undefined;
  readonly blocked: Blocked | undefined;
  readonly reconnects: number;
  readonly relists: number;
}

/** A phase with a request. */
interface Requested {
  readonly memory: Memory;
  /** Set while the request is not sent yet: it waits for the rate limiter, for credentials or for a connection. */
  readonly queued: { readonly reason?: string | undefined } | undefined;
  /** Whether the request was answered. */
  readonly opened: boolean;
  /** When the request was sent. */
  readonly requestedMs: number;
}

/** A LIST in pages is in progress. */
export interface Listing extends Requested {
  readonly phase: 'listing';
  readonly loaded: number;
  readonly remaining: number | undefined;
  /** Whether the list contains stored objects that were not parsed, because their versions are equal. */
  readonly reused: boolean;
}

/** A streaming LIST is in progress. */
export interface Streaming extends Requested {
  readonly phase: 'streaming';
  /** The server ends the watch after this long, in milliseconds. */
  readonly timeoutMs: number;
  readonly loaded: number;
  /** The number of ADDED events. */
  readonly added: number;
  /** When the first event arrived. */
  readonly beganMs: number | undefined;
  /** As for a LIST in pages. */
  readonly reused: boolean;
}

export interface Watching extends Requested {
  readonly phase: 'watching';
  /** The server ends the watch after this long, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether ADDED events move the version; the first ADDED events of a watch are not in the order of versions. */
  readonly adopting: boolean;
  /** The next watch; `undefined` while no answered watch is open. */
  readonly renewal: Renewal | undefined;
  /** The events that the watch repeats after it replaced another one; `undefined` if it repeats none. */
  readonly repeats: Repeats | undefined;
  /** The time between two ticks while the changes of an outage may still arrive, in milliseconds; otherwise 0. */
  readonly tickMs: number;
  /** Whether an event has arrived. */
  readonly delivered: boolean;
  /** The number of ticks in a row without an arrival. */
  readonly quiet: number;
}

/** Waits until the demand opens. */
export interface Paused {
  readonly phase: 'paused';
  readonly memory: Memory;
  readonly resume: Resume;
}

/** Waits after a failure. */
export interface BackingOff {
  readonly phase: 'backoff';
  readonly memory: Memory;
  readonly resume: Resume;
  readonly nextRetryAtMs: number;
}

export interface Stopped {
  readonly phase: 'stopped';
  readonly memory: Memory;
}

/** The state of the reflector: its phase with what belongs to it, and what outlives the phases. */
export type ReflectorState = Listing | Streaming | Watching | Paused | BackingOff | Stopped;

/** A state with changes to what outlives the phases. */
export function remember<State extends ReflectorState>(
  state: State,
  changes: Partial<Memory>,
): State {
  return { ...state, memory: { ...state.memory, ...changes } };
}

/** Whether an answered watch is open. */
export function isLive(state: ReflectorState): state is Watching {
  return state.phase === 'watching' && state.opened;
}

/** The inputs of the machine: the signals of lists and watches, and what happens beside them. */
export type ReflectorInput =
  | ListSignal<KubernetesObject>
  | Exclude<WatchSignal<KubernetesObject>, { kind: 'alive' }>
  /** The server closed the watch cleanly. */
  | { readonly kind: 'closed' }
  | { readonly kind: 'failed'; readonly error: ApiError }
  /** The client ended the request, which is no failure. The same request is sent again, when it is its turn. */
  | { readonly kind: 'yielded' }
  /** The network may have changed, so a request that waits, or a watch, is worth another try now. */
  | { readonly kind: 'awake' }
  /** The next watch is due. */
  | { readonly kind: 'renew' }
  /** The next watch was answered. */
  | { readonly kind: 'renewed' }
  | { readonly kind: 'renewal-failed'; readonly error: ApiError }
  /** Whether a watch that catches up is quiet must be checked. */
  | { readonly kind: 'tick' }
  | { readonly kind: 'elapsed' }
  /** The demand was closed for too long. */
  | { readonly kind: 'paused' }
  | { readonly kind: 'resumed' }
  /** A list was requested from outside. It is sent as soon as the server permits. */
  | { readonly kind: 'refresh'; readonly trustVersions: boolean };

/**
 * The time of an input, a random number for it, what is known of the request, and the configuration. They are passed in so that the transitions stay
 * pure.
 */
export interface Moment {
  readonly nowMs: number;
  /** In [0, 1). */
  readonly random: number;
  /** How long the server has been silent, in milliseconds. */
  readonly silentMs: number;
  /** Whether the consumer reads the response, so that nothing waits to be read. */
  readonly isReading: boolean;
  readonly config: ReflectorConfig;
}

/** The effects of the machine. */
export type ReflectorEffect =
  | { readonly type: 'emit'; readonly deltas: readonly Delta<KubernetesObject>[] }
  | {
      readonly type: 'list';
      readonly resourceVersion: string;
      readonly limit: number | undefined;
      /** Stored objects may stand for the objects of the list that have their UIDs and versions. */
      readonly reuse: true | undefined;
    }
  | {
      readonly type: 'watch';
      readonly resourceVersion: string;
      readonly timeoutSeconds: number;
      /** A streaming LIST. */
      readonly initialEvents: boolean;
      /** As for a list. */
      readonly reuse: true | undefined;
    }
  | { readonly type: 'wait'; readonly delayMs: number }
  /** Signal after this delay that the next watch is due. */
  | { readonly type: 'renew-after'; readonly delayMs: number }
  /** Signal `tick` after this delay. */
  | { readonly type: 'tick-after'; readonly delayMs: number }
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
  | { readonly type: 'refreshed'; readonly error: ApiError | undefined }
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
  readonly initialList: InitialList | undefined;
  /** Whether the ListerWatcher accepts a request for a streaming LIST now. */
  mayStream(): boolean;
  /** Whether the next watch is requested before the current one ends. */
  readonly renewsEarly: boolean;
  /** Whether a proxy is known to hold events back. */
  isHeldBack(): boolean;
  /** Whether two watches may be open at the moment. */
  mayOverlap(): boolean;
  readonly pageSize: number | undefined;
  readonly minWatchTimeoutMs: number;
  readonly backoff: Backoff;
  /** The backoff starts over after this long without a failure, in milliseconds. */
  readonly healthyMs: number;
}

/** The state and the effects of one step. */
export type Next = Step<ReflectorState, ReflectorEffect>;

/** Returns the memory before the first request. */
export function initialMemory(nowMs: number, resumeFrom = ''): Memory {
  return {
    sinceMs: nowMs,
    resourceVersion: resumeFrom,
    synced: resumeFrom !== '',
    versionUnavailable: false,
    rereading: false,
    retriedNewest: false,
    paginated: false,
    streamFailures: 0,
    refusesStreams: false,
    listedPromptly: false,
    fruitless: 0,
    silentLists: 0,
    refreshing: undefined,
    attempt: 0,
    healthySinceMs: undefined,
    staleSinceMs: nowMs,
    // The age of a version that was passed in is unknown, so the first watch may have to catch up.
    catchUpMs: resumeFrom === '' ? 0 : 1,
    retryAfter: undefined,
    error: undefined,
    blocked: undefined,
    reconnects: 0,
    relists: 0,
  };
}
