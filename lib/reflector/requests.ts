/**
 * The requests of the reflector: their resourceVersion, their page size and their timeout.
 * client-go: tools/cache/reflector.go, relistResourceVersion, rewatchResourceVersion and list.
 */
import type { Step } from '../rx/machine.ts';
import type {
  Moment,
  ReflectorConfig,
  ReflectorEffect,
  ReflectorPhase,
  ReflectorState,
} from './state.ts';

const DEFAULT_PAGE_SIZE = 500;

/** Enters a phase with a new request. */
function requesting(state: ReflectorState, phase: ReflectorPhase, moment: Moment): ReflectorState {
  return {
    ...state,
    phase,
    sinceMs: state.phase === phase ? state.sinceMs : moment.nowMs,
    requestedMs: moment.nowMs,
    queued: false,
    opened: false,
    nextRetryAtMs: undefined,
    retryAfter: undefined,
    repeats: undefined,
  };
}

/** The longest timeout of a watch, in seconds: 68 years. The server counts nanoseconds in 64 bits. */
const MOST_SECONDS = 2_147_483_647;

/** A random timeout between the minimum and twice the minimum, so that watches that began together end apart. */
function timeoutSeconds(config: ReflectorConfig, moment: Moment): number {
  const seconds = Math.round((config.minWatchTimeoutMs * (1 + moment.random)) / 1000);
  return Math.min(Math.max(1, seconds), MOST_SECONDS);
}

/** The time left of the server's Retry-After; never longer than the Retry-After, also if the clock was set back. */
export function retryAfterLeftMs({ retryAfter }: ReflectorState, { nowMs }: Moment): number {
  if (retryAfter === undefined) return 0;
  const { sinceMs, forMs } = retryAfter;
  return Math.min(Math.max(0, sinceMs + forMs - nowMs), forMs);
}

/** The parameters of a watch that starts at this version. */
export function watchRequest(
  resourceVersion: string,
  moment: Moment,
  config: ReflectorConfig,
): { readonly resourceVersion: string; readonly timeoutSeconds: number } {
  return { resourceVersion, timeoutSeconds: timeoutSeconds(config, moment) };
}

/** '0' for the first list (any version in the server's cache), then the last version; '' if that is unavailable. */
function listVersion(state: ReflectorState): string {
  if (state.versionUnavailable) return '';
  return state.resourceVersion === '' ? '0' : state.resourceVersion;
}

/**
 * The page size of a LIST, if any. The server's watch cache serves a LIST at a version and ignores pages. Therefore
 * pages are requested only if etcd serves the LIST, or if the user sets a page size.
 */
function pageLimit(state: ReflectorState, config: ReflectorConfig, version: string) {
  if (config.pageSize !== undefined) return config.pageSize;
  if (state.paginated) return DEFAULT_PAGE_SIZE;
  return version === '' || version === '0' ? DEFAULT_PAGE_SIZE : undefined;
}

/**
 * Whether equal versions mean equal content, so that stored objects need not be parsed again. They do not if an earlier
 * run filled the store, or if the server may have been restored from a backup.
 */
function mayReuse({ synced, refreshing, rereading }: ReflectorState): boolean {
  return synced && refreshing !== 'doubting' && !rereading;
}

/** A LIST in pages. */
export function list<T>(
  state: ReflectorState,
  moment: Moment,
  config: ReflectorConfig,
): Step<ReflectorState, ReflectorEffect<T>> {
  const resourceVersion = listVersion(state);
  const limit = pageLimit(state, config, resourceVersion);
  return [
    { ...requesting(state, 'listing', moment), loaded: 0, remaining: undefined, reused: false },
    [
      {
        type: 'list',
        resourceVersion,
        ...(limit === undefined ? {} : { limit }),
        reuse: mayReuse(state),
      },
    ],
  ];
}

/** A streaming LIST. */
export function stream<T>(
  state: ReflectorState,
  moment: Moment,
  config: ReflectorConfig,
): Step<ReflectorState, ReflectorEffect<T>> {
  const resourceVersion = state.versionUnavailable ? '' : state.resourceVersion;
  const request = watchRequest(resourceVersion, moment, config);
  return [
    {
      ...requesting(state, 'streaming', moment),
      timeoutMs: request.timeoutSeconds * 1000,
      loaded: 0,
      remaining: undefined,
      adopting: false,
      reused: false,
    },
    [{ ...request, type: 'watch', initialEvents: true, reuse: mayReuse(state) }],
  ];
}

/** Lists the complete collection again, as a streaming LIST if possible. */
export function relist<T>(
  state: ReflectorState,
  moment: Moment,
  config: ReflectorConfig,
): Step<ReflectorState, ReflectorEffect<T>> {
  const streams = config.initialList !== 'pages' && config.mayStream();
  return streams ? stream(state, moment, config) : list(state, moment, config);
}

/** Watches for changes since the last version. */
export function watch<T>(
  state: ReflectorState,
  moment: Moment,
  config: ReflectorConfig,
): Step<ReflectorState, ReflectorEffect<T>> {
  const { resourceVersion } = state;
  const request = watchRequest(resourceVersion, moment, config);
  return [
    {
      ...requesting(state, 'watching', moment),
      timeoutMs: request.timeoutSeconds * 1000,
      // Until the watch is answered the reflector receives no changes.
      staleSinceMs: state.staleSinceMs ?? moment.nowMs,
      adopting: resourceVersion !== '' && resourceVersion !== '0',
      loaded: 0,
      remaining: undefined,
    },
    [{ ...request, type: 'watch', initialEvents: false, reuse: mayReuse(state) }],
  ];
}
