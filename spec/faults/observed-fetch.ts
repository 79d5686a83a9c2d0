/**
 * A fetch that records requests and responses for the judge, at the side of the server and not within the library.
 */
import type { SchedulerLike } from 'rxjs';
import type { Seen } from './budget.ts';

export interface ObservedFetch {
  readonly fetch: typeof globalThis.fetch;
  readonly seen: Seen[];
  /** The number of the informer's current run. */
  generation: number;
}

function notBefore(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  const seconds = Number(header);
  return Number.isNaN(seconds) ? Date.parse(header) : nowMs + seconds * 1000;
}

export function observedFetch(
  fetch: typeof globalThis.fetch,
  scheduler: SchedulerLike,
): ObservedFetch {
  const seen: Seen[] = [];
  const observed: ObservedFetch = {
    seen,
    generation: 0,
    fetch: async (input, init) => {
      const { pathname, searchParams } = new URL(String(input), 'http://fake');
      const watch = searchParams.get('watch') === 'true';
      const accept = new Headers(init?.headers).get('accept') ?? '';
      const kind = !watch
        ? searchParams.get('fieldSelector') === 'metadata.name=rx-informer'
          ? 'life'
          : accept.includes('PartialObjectMetadataList')
            ? 'audit'
            : searchParams.has('continue')
              ? 'page'
              : 'list'
        : searchParams.get('sendInitialEvents') === 'true'
          ? 'stream'
          : // Only a probe watches from version 0.
            searchParams.get('resourceVersion') === '0'
            ? 'probe'
            : 'watch';
      const { generation } = observed;
      // An audit is a group of its own, because its Retry-After does not delay the watch.
      // So are the requests for other shards: other watches and lists, which begin and fail on their own.
      const shards = searchParams.get('shardSelector') ?? '';
      const who = kind === 'audit' ? `${pathname} (audit)` : `${pathname} ${shards}`.trim();
      const request: Seen = { atMs: scheduler.now(), who, generation, kind };
      seen.push(request);
      const answer = await fetch(input, init);
      request.status = answer.status;
      request.answeredMs = scheduler.now();
      if (answer.status === 429 || answer.status === 503) {
        const notBeforeMs = notBefore(answer.headers.get('retry-after'), scheduler.now());
        if (notBeforeMs !== undefined) request.notBeforeMs = notBeforeMs;
      }
      return answer;
    },
  };
  return observed;
}
