/** Sends one request of a diagnosis, with a limit of time, and returns everything that was seen of it. */
import { lastValueFrom, type SchedulerLike } from 'rxjs';
import { map, takeUntil, tap } from 'rxjs/operators';
import { ApiError } from '../meta/api-error.ts';
import { longTimer } from '../rx/long-timer.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { collect, parseResponse, sendSuccessful } from '../transport/response.ts';
import type { TransportEvent, TransportRequest } from '../transport/transport.ts';
import type { SeenError } from './observations.ts';

/** How a diagnosis sends its requests. */
export interface Tools {
  readonly client: KubeClient;
  readonly scheduler: SchedulerLike;
  /** How long a request may take, in milliseconds. */
  readonly timeoutMs: number;
}

export type Head = Extract<TransportEvent, { kind: 'head' }>;

/** What was seen of one request. */
export interface Exchange {
  readonly head: Head | undefined;
  readonly tookMs: number;
  /** The parsed body of a successful response. */
  readonly body?: unknown;
  readonly error?: SeenError | undefined;
}

const MOST_BYTES = 1_048_576;

/** A failure as plain data. The messages of undici and fetch have the code of the system in parentheses. */
export function seenError(thrown: unknown, where: string): SeenError {
  const { reason, code, message } = ApiError.from(thrown, where);
  const systemCode = /\(([A-Z][A-Z0-9_]{3,})\)/.exec(message)?.[1];
  return { reason, status: code, message, systemCode };
}

/** Sends a request and reads its response. Resolves always, also after a failure and after the time limit. */
export async function exchange(
  { client, scheduler, timeoutMs }: Tools,
  request: Omit<TransportRequest, 'use'>,
): Promise<Exchange> {
  const where = `${request.method} ${client.baseUrl}${request.path}`;
  const passedMs = stopwatch(scheduler);
  let sentMs = 0;
  let head: Head | undefined;
  let tookMs = 0;
  const watched = {
    send: (each: TransportRequest) =>
      client.send(each).pipe(
        tap((event) => {
          if (event.kind === 'queued' || event.kind === 'sending') sentMs = passedMs();
          if (event.kind !== 'head') return;
          head = event;
          tookMs = passedMs() - sentMs;
        }),
      ),
  };
  const late = longTimer(timeoutMs, scheduler).pipe(
    tap(() => {
      throw ApiError.local('Silent', `${where}: no response within ${timeoutMs / 1000} s`);
    }),
  );
  try {
    const sent = { ...request, use: 'call' } as const;
    const answer = sendSuccessful(watched, sent, where, scheduler).pipe(
      collect(where, MOST_BYTES),
      map((each) => parseResponse(each, where)),
      takeUntil(late),
    );
    return { body: await lastValueFrom(answer), head, tookMs };
  } catch (thrown) {
    return { error: seenError(thrown, where), head, tookMs };
  }
}
