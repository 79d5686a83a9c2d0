/** Observes one short watch: when its head, its bookmarks and its end arrive. */
import { interval, Observable } from 'rxjs';
import { ApiError, type Status } from '../meta/api-error.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import { sendSuccessful } from '../transport/response.ts';
import type { TransportRequest } from '../transport/transport.ts';
import { seenError, type Tools } from './exchange.ts';
import type { SeenWatch } from './observations.ts';

/** How long after the asked time a watch may end, in milliseconds. */
const GRACE_MS = 3_000;

/** How often is looked whether the process runs, in milliseconds. */
const BEAT_MS = 100;

/** The watch to send. */
export interface WatchToObserve {
  readonly resource: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly seconds: number;
  /** Whether the head is all that is to be seen. */
  readonly headOnly?: boolean;
}

type Seen = { -readonly [Field in keyof SeenWatch]: SeenWatch[Field] };

interface WatchLine {
  readonly type?: unknown;
  readonly object?: unknown;
}

function parsed(line: string): WatchLine {
  try {
    return (JSON.parse(line) as WatchLine | null) ?? {};
  } catch {
    return {};
  }
}

/**
 * Sends a watch, and emits what was seen of it once it has ended. Never errors. Unsubscribing aborts the request.
 */
export function observedWatch(
  { client, scheduler, timeoutMs }: Tools,
  { resource, path, query, seconds, headOnly = false }: WatchToObserve,
): Observable<SeenWatch> {
  return new Observable<SeenWatch>((subscriber) => {
    const passedMs = stopwatch(scheduler);
    const askedMs = seconds * 1_000;
    const limitMs = askedMs + Math.max(GRACE_MS, timeoutMs / 5);
    const seen: Seen = { resource, askedMs, endMs: 0, ended: 'cleanly' };
    let sentMs = 0;
    let beatMs = 0;
    let stalledMs = 0;
    let text = '';
    const decoder = new TextDecoder();
    const beat = () => {
      const nowMs = passedMs();
      stalledMs += Math.max(0, nowMs - beatMs - BEAT_MS);
      beatMs = nowMs;
    };
    const end = (ended: SeenWatch['ended']) => {
      beat();
      subscriber.next({ ...seen, ended, endMs: passedMs() - sentMs, stalledMs });
      subscriber.complete();
    };
    const line = ({ type, object }: WatchLine) => {
      if (type === 'BOOKMARK') seen.bookmarkMs ??= passedMs() - sentMs;
      if (type !== 'ERROR') return;
      const status = (object ?? {}) as Status;
      seen.error = seenError(ApiError.fromStatus(status, 500), `WATCH ${resource}`);
    };
    const where = `WATCH ${client.baseUrl}${path}`;
    const request: TransportRequest = {
      ...{ method: 'GET', path, use: 'watch', isUrgent: true },
      query: { ...query, watch: 'true', timeoutSeconds: String(seconds) },
    };
    subscriber.add(
      interval(BEAT_MS, scheduler).subscribe(() => {
        beat();
        // After a pause of this process the timer fires before the data of the pause is read.
        if (beatMs - stalledMs >= limitMs) end('late');
      }),
    );
    subscriber.add(
      sendSuccessful(client, request, where, scheduler).subscribe({
        next: (event) => {
          if (event.kind === 'queued' || event.kind === 'sending') sentMs = passedMs();
          if (event.kind === 'head') {
            seen.headMs = passedMs() - sentMs;
            seen.encoding = event.header('content-encoding') ?? undefined;
            if (headOnly) end('left');
          }
          if (event.kind !== 'chunk') return;
          const lines = (text + decoder.decode(event.bytes, { stream: true })).split('\n');
          text = lines.pop() ?? '';
          for (const each of lines) line(parsed(each));
        },
        error: (thrown) => {
          seen.error = seenError(thrown, where);
          // An error response has a head, too.
          if (seen.error.status > 0) seen.headMs ??= passedMs() - sentMs;
          end('broken');
        },
        complete: () => end('cleanly'),
      }),
    );
  });
}
