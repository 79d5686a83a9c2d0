/**
 * Which request comes next, and with which version: the resourceVersion ladder and the rule of pages.
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

/** Enters a phase with a fresh request. */
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

/** The server counts nanoseconds in 64 bits; 68 years are enough. */
const MOST_SECONDS = 2_147_483_647;

/** Between the minimum and twice that, so that watches that began together do not end together. */
function timeoutSeconds(config: ReflectorConfig, moment: Moment): number {
  const seconds = Math.round((config.minWatchTimeoutMs * (1 + moment.random)) / 1000);
  return Math.min(Math.max(1, seconds), MOST_SECONDS);
}

/** How long the server wants no request any more; no longer than it said, whatever the clock says. */
export function retryAfterLeftMs({ retryAfter }: ReflectorState, { nowMs }: Moment): number {
  if (retryAfter === undefined) return 0;
  const { sinceMs, forMs } = retryAfter;
  return Math.min(Math.max(0, sinceMs + forMs - nowMs), forMs);
}

/** What is asked of a watch from this version on. */
export function watchRequest(
  resourceVersion: string,
  moment: Moment,
  config: ReflectorConfig,
): { readonly resourceVersion: string; readonly timeoutSeconds: number } {
  return { resourceVersion, timeoutSeconds: timeoutSeconds(config, moment) };
}

/** '0' first (what the server has at hand), then the last version, '' when that is no good. */
function listVersion(state: ReflectorState): string {
  if (state.versionUnavailable) return '';
  return state.resourceVersion === '' ? '0' : state.resourceVersion;
}

/**
 * A version makes the server's watch cache answer, which knows no pages; so pages are asked for only where
 * etcd would answer, or where the user says so.
 */
function pageLimit(state: ReflectorState, config: ReflectorConfig, version: string) {
  if (config.pageSize !== undefined) return config.pageSize;
  if (state.paginated) return DEFAULT_PAGE_SIZE;
  return version === '' || version === '0' ? DEFAULT_PAGE_SIZE : undefined;
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
    { ...requesting(state, 'listing', moment), loaded: 0, remaining: undefined },
    [{ type: 'list', resourceVersion, ...(limit === undefined ? {} : { limit }) }],
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
    },
    [{ ...request, type: 'watch', initialEvents: true }],
  ];
}

/** The whole collection again, streamed where that works. */
export function relist<T>(
  state: ReflectorState,
  moment: Moment,
  config: ReflectorConfig,
): Step<ReflectorState, ReflectorEffect<T>> {
  const streams = config.initialList !== 'pages' && config.mayStream();
  return streams ? stream(state, moment, config) : list(state, moment, config);
}

/** Changes since the last version. */
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
      // Until it is answered nothing is heard of what changes.
      staleSinceMs: state.staleSinceMs ?? moment.nowMs,
      adopting: resourceVersion !== '' && resourceVersion !== '0',
      loaded: 0,
      remaining: undefined,
    },
    [{ ...request, type: 'watch', initialEvents: false }],
  ];
}
