/** A watch of a few seconds that shows whether a proxy holds back what a server sends: its events then come with its end. */
import { interval, Observable, type SchedulerLike, Subscription } from 'rxjs';
import { stopwatch } from '../rx/stopwatch.ts';
import type { TransportEvent } from '../transport/transport.ts';
import { REST_MS, steadiness, type Verdict } from './buffering-state.ts';

/** So long the server is to keep a probe open. A last bookmark comes one or two seconds before its end. */
export const PROBE_SECONDS = 5;
/** Whoever does not answer within this shows nothing. */
const LIMIT_MS = 10_000;
const BEAT_MS = 500;

/** Whether a chunk of a watch ends with a whole event. */
export function endsLine(bytes: Uint8Array): boolean {
  return bytes[bytes.length - 1] === 10;
}

/**
 * Sends a probe and judges it; a prompt one is left as soon as that is clear. One that failed, that had no event, that
 * ended before its time or whose last events did not wait for its end shows nothing, nor does one during which this
 * process stood still: all of it came at once then.
 */
export function judgedProbe(
  events: Observable<TransportEvent>,
  scheduler: SchedulerLike,
): Observable<Verdict> {
  return new Observable<Verdict>((subscriber) => {
    const passedMs = stopwatch(scheduler);
    const rest = new Subscription();
    subscriber.add(rest);
    let resting: Subscription | undefined;
    let sentMs = 0;
    let beatMs = 0;
    let queued = false;
    let stood = false;
    let ok = false;
    const isSteady = steadiness();
    let chunkMs = Number.NEGATIVE_INFINITY;
    /** When the first of those chunks came that had no rest between them. */
    let burstMs = Number.NEGATIVE_INFINITY;
    const tell = (verdict: Verdict) => {
      subscriber.next(verdict);
      subscriber.complete();
    };
    const beat = () => {
      const nowMs = passedMs();
      stood ||= nowMs - beatMs > 3 * BEAT_MS;
      beatMs = nowMs;
    };
    subscriber.add(
      interval(BEAT_MS, scheduler).subscribe(() => {
        beat();
        if (!queued && beatMs - sentMs > LIMIT_MS) tell('none');
      }),
    );
    const chunk = (bytes: Uint8Array) => {
      if (bytes.length === 0) return;
      const nowMs = passedMs();
      if (nowMs - chunkMs >= REST_MS) burstMs = nowMs;
      chunkMs = nowMs;
      resting?.unsubscribe();
      if (isSteady(endsLine(bytes), nowMs)) return tell('prompt');
      if (endsLine(bytes)) resting = scheduler.schedule(() => tell('prompt'), REST_MS);
      if (resting !== undefined) rest.add(resting);
    };
    subscriber.add(
      events.subscribe({
        next: (event) => {
          if (event.kind === 'chunk') {
            if (ok) chunk(event.bytes);
            return;
          }
          if (event.kind === 'head') ok = event.status === 200;
          else sentMs = passedMs();
          queued = event.kind === 'queued';
        },
        error: () => tell('none'),
        complete: () => {
          beat();
          const isLate = burstMs - sentMs >= (PROBE_SECONDS - 1) * 1000;
          tell(ok && isLate && !stood ? 'held' : 'none');
        },
      }),
    );
  });
}
