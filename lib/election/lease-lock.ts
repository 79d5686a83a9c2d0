/** The requests for one Lease, each with a time limit. client-go: resourcelock/leaselock.go. */
import { fromEvent, lastValueFrom, type SchedulerLike } from 'rxjs';
import { takeUntil } from 'rxjs/operators';
import { ApiError } from '../meta/api-error.ts';
import { resourcePath } from '../meta/resource.ts';
import { longTimer } from '../rx/long-timer.ts';
import type { KubeRequest } from '../transport/call.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { LEASES, type LeaseObject, recordText, released } from './lease-record.ts';

/** Options of a lock. */
export interface LeaseLockOptions {
  readonly client: Pick<KubeClient, 'request'>;
  readonly namespace: string;
  readonly name: string;
  /** In milliseconds. */
  readonly renewDeadlineMs: number;
  /** In milliseconds. */
  readonly retryPeriodMs: number;
  readonly scheduler: SchedulerLike;
}

/** One Lease on the server. */
export class LeaseLock {
  readonly #options: LeaseLockOptions;

  constructor(options: LeaseLockOptions) {
    this.#options = options;
  }

  /** Sends one request. It is aborted after half of the deadline, so that there is time for a second one. */
  async request(
    method: string,
    body: LeaseObject | undefined,
    signal: AbortSignal,
  ): Promise<LeaseObject> {
    const { client, namespace, name, scheduler, renewDeadlineMs } = this.#options;
    const path = resourcePath(LEASES, method === 'POST' ? { namespace } : { namespace, name });
    return await limitedCall<LeaseObject>(
      client,
      { method, path, body },
      { limitMs: renewDeadlineMs / 2, scheduler, signal },
    );
  }

  /** Releases the Lease. It is read first, because a renewal may have succeeded although its response was lost. */
  async release(identity: string): Promise<void> {
    const { scheduler, renewDeadlineMs } = this.#options;
    const attempt = new AbortController();
    let conflict: ApiError | undefined;
    const limit = longTimer(renewDeadlineMs, scheduler).subscribe(() => attempt.abort());
    try {
      for (;;) {
        const lease = await this.read(attempt.signal);
        if (lease?.spec?.holderIdentity !== identity) return;
        try {
          await this.request('PUT', released(lease, scheduler.now()), attempt.signal);
          return;
        } catch (error) {
          if (!(error instanceof ApiError) || error.code !== 409) throw error;
          // The first conflict may be with a renewal in progress. One that lasts must not flood the server.
          if (conflict !== undefined) await this.#pause(attempt.signal);
          conflict = error;
        }
      }
    } catch (error) {
      throw attempt.signal.aborted ? (conflict ?? error) : error;
    } finally {
      limit.unsubscribe();
    }
  }

  /** Waits for a retry period, or until the signal aborts. */
  async #pause(signal: AbortSignal): Promise<void> {
    const { retryPeriodMs, scheduler } = this.#options;
    const waiting = longTimer(retryPeriodMs, scheduler).pipe(takeUntil(fromEvent(signal, 'abort')));
    await lastValueFrom(waiting, { defaultValue: 0 });
  }

  /** Returns the Lease, or `undefined` if it was deleted. */
  async read(signal: AbortSignal): Promise<LeaseObject | undefined> {
    try {
      return await this.request('GET', undefined, signal);
    } catch (error) {
      if (error instanceof ApiError && error.isNotFound) return undefined;
      throw error;
    }
  }
}

/** A lane of their own, so that a burst of other calls on the same client does not cost the lead. */
const LANE = 'leases';

/** How many parts the path of all Leases of a namespace has. That of one Lease has its name besides. */
const COLLECTION_PARTS = 7;

/** Whether a response is the Lease or the list that was requested, with what was written. */
function isAnswer(answer: unknown, { method = 'GET', path, body }: KubeRequest): boolean {
  if (method === 'DELETE') return true;
  const { kind, metadata, items, ...lease } = (answer ?? {}) as LeaseObject & { items?: unknown };
  // By the number of its parts, because a Lease may have the name `leases`.
  if (path.split('/').length === COLLECTION_PARTS && method === 'GET') {
    return kind === 'LeaseList' && Array.isArray(items);
  }
  const written = body as LeaseObject | undefined;
  const name = written?.metadata?.name ?? decodeURIComponent(path.slice(path.lastIndexOf('/') + 1));
  if (kind !== LEASES.kind || metadata?.name !== name || !metadata.resourceVersion) return false;
  const { annotations = {} } = written?.metadata ?? {};
  const hasAll = Object.entries(annotations).every(
    ([at, text]) => metadata.annotations?.[at] === text,
  );
  return written === undefined || (hasAll && recordText(lease) === recordText(written));
}

/**
 * Sends one request, and aborts it when the time in milliseconds has passed. Rejects if the response is not that of an API
 * server: if a page of a proxy with status 200 counted as a renewal, two processes would lead.
 */
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
  const { method = 'GET', path } = request;
  const limited = new AbortController();
  const abort = () => limited.abort();
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  const limit = longTimer(limitMs, scheduler).subscribe(abort);
  try {
    const answer = await client.request<R>({ ...request, lane: LANE, signal: limited.signal });
    if (isAnswer(answer, request)) return answer;
    throw ApiError.local(
      'Unexpected',
      `${method} ${path}: the response is not the requested Lease; does a proxy answer in place of the API server?`,
    );
  } catch (error) {
    if (!limited.signal.aborted || signal.aborted) throw error;
    throw ApiError.local('Silent', `${method} ${path}: no response within ${limitMs} ms`);
  } finally {
    limit.unsubscribe();
    signal.removeEventListener('abort', abort);
  }
}
