/** Sends the requests of elections and rings, each with a time limit. */
import type { SchedulerLike } from 'rxjs';
import { longTimer } from '../rx/long-timer.ts';
import type { KubeRequest } from '../transport/call.ts';
import type { KubeClient } from '../transport/kube-client.ts';

/** A lane of their own, so that a burst of other calls on the same client does not cost the lead. */
const LANE = 'leases';

/** Sends one request, and aborts it when the time in milliseconds has passed. */
export async function limitedCall<R>(
  client: Pick<KubeClient, 'request'>,
  request: KubeRequest,
  options: {
    readonly limitMs: number;
    readonly scheduler: SchedulerLike;
    readonly signal: AbortSignal;
  },
): Promise<R> {
  const { limitMs, scheduler, signal } = options;
  const limited = new AbortController();
  const abort = () => limited.abort();
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  const limit = longTimer(limitMs, scheduler).subscribe(abort);
  try {
    return await client.request<R>({ ...request, lane: LANE, signal: limited.signal });
  } finally {
    limit.unsubscribe();
    signal.removeEventListener('abort', abort);
  }
}
