/** Judges a probe: a watch of a few seconds that shows whether a proxy holds events back until a watch ends. */
import { interval, Observable, type SchedulerLike, type Subscription } from 'rxjs';
import type { TransportEvent } from '../transport.ts';
import { REST_MS, steadiness, type Verdict } from './buffering-state.ts';

/**
 * How long the server keeps a probe open, in seconds. Its last bookmark arrives one or two seconds before the end.
 */
export const PROBE_SECONDS = 5;
/** A probe without a response within this time, in milliseconds, proves nothing. */
const LIMIT_MS = 10_000;
const BEAT_MS = 500;

/** Whether a chunk of a watch ends at the end of a line. */
export function endsLine(bytes: Uint8Array): boolean {
  return bytes[bytes.length - 1] === 10;
}

/**
 * Sends a probe and emits its verdict. The probe is aborted as soon as its verdict is `prompt`. A probe proves
 * nothing if it failed, received no event, ended early, or received its last events before its end. It also proves
 * nothing if the process was suspended during it, because then everything arrives together.
 */
export function judgedProbe(
  events: Observable<TransportEvent>,
  scheduler: SchedulerLike,
  passedMs: () => number,
): Observable<Verdict> {
  return new Observable<Verdict>((subscriber) => {
    let resting: Subscription | undefined;
    let sentMs = passedMs();
    let beatMs = sentMs;
    let queued = false;
    let suspended = false;
    let ok = false;
    const isSteady = steadiness();
    let chunkMs = Number.NEGATIVE_INFINITY;
    /** When the first chunk of the latest burst arrived. A burst is a series of chunks without a pause. */
    let burstMs = Number.NEGATIVE_INFINITY;
    const conclude = (verdict: Verdict) => {
      subscriber.next(verdict);
      subscriber.complete();
    };
    const beat = () => {
      const nowMs = passedMs();
      suspended ||= nowMs - beatMs > 3 * BEAT_MS;
      beatMs = nowMs;
    };
    subscriber.add(
      interval(BEAT_MS, scheduler).subscribe(() => {
        beat();
        if (!queued && beatMs - sentMs > LIMIT_MS) conclude('none');
      }),
    );
    const chunk = (bytes: Uint8Array) => {
      if (bytes.length === 0) return;
      const nowMs = passedMs();
      if (nowMs - chunkMs >= REST_MS) burstMs = nowMs;
      chunkMs = nowMs;
      resting?.unsubscribe();
      if (isSteady(endsLine(bytes), nowMs)) return conclude('prompt');
      if (!endsLine(bytes)) return;
      resting = scheduler.schedule(() => conclude('prompt'), REST_MS);
      subscriber.add(resting);
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
        error: () => conclude('none'),
        complete: () => {
          beat();
          const isLate = burstMs - sentMs >= (PROBE_SECONDS - 1) * 1000;
          conclude(ok && isLate && !suspended ? 'held' : 'none');
        },
      }),
    );
  });
}
