/**
 * The requests of the reflector: their resourceVersion, their page size and their timeout.
 * client-go: tools/cache/reflector.go, relistResourceVersion, rewatchResourceVersion and list.
 */
import type { Memory, Moment, Next, ReflectorConfig } from './state.ts';

const DEFAULT_PAGE_SIZE = 500;

/** The fields of a phase whose request is sent now. */
function requested(memory: Memory, { nowMs }: Moment) {
  return {
    memory: { ...memory, retryAfter: undefined },
    queued: undefined,
    opened: false,
    requestedMs: nowMs,
  };
}

/** The longest timeout of a watch, in seconds: 68 years. The server counts nanoseconds in 64 bits. */
const MOST_SECONDS = 2_147_483_647;

/** A random timeout between the minimum and twice the minimum, so that watches that began together end apart. */
function timeoutSeconds({ config, random }: Moment): number {
  const seconds = Math.round((config.minWatchTimeoutMs * (1 + random)) / 1000);
  return Math.min(Math.max(1, seconds), MOST_SECONDS);
}

/** The time left of the server's Retry-After; never longer than the Retry-After, also if the clock was set back. */
export function retryAfterLeftMs({ retryAfter }: Memory, { nowMs }: Moment): number {
  if (retryAfter === undefined) return 0;
  const { sinceMs, forMs } = retryAfter;
  return Math.min(Math.max(0, sinceMs + forMs - nowMs), forMs);
}

/** The parameters of a watch that starts at this version. */
export function watchRequest(
  resourceVersion: string,
  moment: Moment,
): { readonly resourceVersion: string; readonly timeoutSeconds: number } {
  return { resourceVersion, timeoutSeconds: timeoutSeconds(moment) };
}

/** '0' for the first list (any version that the server has), then the last version; '' if that is unavailable. */
function listVersion({ versionUnavailable, resourceVersion }: Memory): string {
  return versionUnavailable ? '' : resourceVersion || '0';
}

/**
 * The page size of a LIST, if any. A limit costs nothing at '', which etcd serves, and at '0': the server's watch cache
 * ignores the limit, and a server without that cache obeys it. At any other version, a limit would make the server read
 * etcd instead of its watch cache. There it is sent only if the first list has arrived in pages, which shows that etcd
 * serves the lists, or if the user sets it.
 */
function pageLimit({ paginated }: Memory, config: ReflectorConfig, version: string) {
  const isPaged = paginated || version === '' || version === '0';
  return config.pageSize ?? (isPaged ? DEFAULT_PAGE_SIZE : undefined);
}

/**
 * Whether equal versions mean equal content, so that stored objects need not be parsed again. They do not if an earlier
 * run filled the store, or if the server may have been restored from a backup.
 */
function mayReuse({ synced, refreshing, rereading }: Memory): true | undefined {
  return (synced && refreshing !== 'doubting' && !rereading) || undefined;
}

/** A LIST in pages. */
export function list(memory: Memory, moment: Moment): Next {
  const resourceVersion = listVersion(memory);
  const limit = pageLimit(memory, moment.config, resourceVersion);
  const sent = requested(memory, moment);
  return [
    { ...sent, phase: 'listing', loaded: 0, remaining: undefined, reused: false },
    [{ type: 'list', resourceVersion, limit, reuse: mayReuse(memory) }],
  ];
}

/** A streaming LIST. */
export function stream(memory: Memory, moment: Moment): Next {
  const request = watchRequest(memory.versionUnavailable ? '' : memory.resourceVersion, moment);
  const timeoutMs = request.timeoutSeconds * 1000;
  return [
    {
      ...{ ...requested(memory, moment), phase: 'streaming', timeoutMs },
      ...{ loaded: 0, added: 0, beganMs: undefined, reused: false },
    },
    [{ ...request, type: 'watch', initialEvents: true, reuse: mayReuse(memory) }],
  ];
}

/** Lists the complete collection again, as a streaming LIST if possible. */
export function relist(memory: Memory, moment: Moment): Next {
  const { config } = moment;
  const streams = config.initialList !== 'pages' && config.mayStream();
  return (streams ? stream : list)(memory, moment);
}

/** Watches for changes since the last version. */
export function watch(memory: Memory, moment: Moment): Next {
  const { resourceVersion } = memory;
  const request = watchRequest(resourceVersion, moment);
  return [
    {
      ...requested(memory, moment),
      phase: 'watching',
      timeoutMs: request.timeoutSeconds * 1000,
      adopting: resourceVersion !== '' && resourceVersion !== '0',
      renewal: undefined,
      repeats: undefined,
      tickMs: 0,
      delivered: false,
      quiet: 0,
    },
    [{ ...request, type: 'watch', initialEvents: false, reuse: mayReuse(memory) }],
  ];
}

/** Continues after a watch. If no version says where it stood, a watch would not have the changes since then, so lists. */
export function resume(memory: Memory, moment: Moment): Next {
  const { resourceVersion } = memory;
  const hasVersion = resourceVersion !== '' && resourceVersion !== '0';
  return (hasVersion ? watch : relist)(memory, moment);
}

/** Continues after a watch that ended or is given up. */
export function watchAgain(memory: Memory, moment: Moment): Next {
  return resume({ ...memory, reconnects: memory.reconnects + 1 }, moment);
}
