/** `animationFrames`, a demand that serves its consumer once a frame. */
import { asyncScheduler, Observable, type SchedulerLike } from 'rxjs';
import type { Demand } from '../demand.ts';

/** The length of a frame where nothing is painted, in milliseconds. */
const FRAME_MS = 16;

/** How long to wait for a frame, in milliseconds. The browser paints no frames for a hidden tab. */
const LONGEST_FRAME_MS = 250;

interface Frames {
  requestAnimationFrame?(callback: () => void): number;
  cancelAnimationFrame?(handle: number): void;
}

/**
 * Creates a demand that is open once in each animation frame, so that a page changes at most once per frame. In a
 * hidden tab, for which the browser paints no frames, it opens every 250 ms, or as often as the browser lets timers
 * fire. Where there are no frames, as in Node, it opens every 16 ms. With a `scheduler` it does the same in that
 * scheduler's time.
 *
 * @example
 * ```ts
 * import { NEVER } from 'rxjs';
 * import { animationFrames, conflateByKey, toView } from 'rx-informer';
 *
 * const frames$ = NEVER.pipe(conflateByKey({ ready: animationFrames() })); // informer.changes$ in place of NEVER
 * const view = toView(frames$);
 * view.getSnapshot().rows.length; // => 0
 * ```
 */
export function animationFrames(
  options: { readonly scheduler?: SchedulerLike | undefined } = {},
): Demand {
  const { scheduler = asyncScheduler } = options;
  return () =>
    new Observable<void>((subscriber) => {
      // Looked up now, because importing this module must not need a browser.
      const frames: Frames = scheduler === asyncScheduler ? (globalThis as unknown as Frames) : {};
      const isPainted = frames.requestAnimationFrame !== undefined;
      const open = () => {
        subscriber.next();
        subscriber.complete();
      };
      subscriber.add(scheduler.schedule(open, isPainted ? LONGEST_FRAME_MS : FRAME_MS));
      const frame = frames.requestAnimationFrame?.(open);
      if (frame !== undefined) subscriber.add(() => frames.cancelAnimationFrame?.(frame));
    });
}
