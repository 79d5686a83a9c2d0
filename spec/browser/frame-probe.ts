/** Measures a page's main thread: tasks longer than 50 ms, and the time between animation frames. */
import type { Page } from 'playwright-core';

/** The result of a measurement. Times are in milliseconds. */
export interface FrameReport {
  readonly frames: number;
  /** The 95th percentile of the time between frames. */
  readonly frame95Ms: number;
  readonly frameMaxMs: number;
  readonly longTasks: readonly number[];
  /** The entries of `long-animation-frame`, for the message of a failed test. */
  readonly slowFrames: readonly string[];
}

/** Measures for this time, in milliseconds. */
export function probeFrames(page: Page, forMs: number): Promise<FrameReport> {
  return page.evaluate(async (duration) => {
    interface Script {
      readonly duration: number;
      readonly invoker: string;
      readonly sourceFunctionName: string;
    }
    const longTasks: number[] = [];
    const slowFrames: string[] = [];
    const tasks = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) longTasks.push(entry.duration);
    });
    tasks.observe({ type: 'longtask' });
    const frames = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { scripts = [] } = entry as unknown as { readonly scripts?: readonly Script[] };
        const names = scripts.map(
          (script) => `${script.invoker} ${script.sourceFunctionName} ${script.duration}`,
        );
        slowFrames.push(`${entry.duration}: ${names.join('; ')}`);
      }
    });
    frames.observe({ type: 'long-animation-frame' });
    const gaps: number[] = [];
    await new Promise<void>((resolve) => {
      const start = performance.now();
      let last = start;
      const frame = (now: number) => {
        if (now > last) gaps.push(now - last);
        last = now;
        if (performance.now() - start < duration) requestAnimationFrame(frame);
        else resolve();
      };
      requestAnimationFrame(frame);
    });
    // The browser delivers entries a moment after their task.
    await new Promise((resolve) => setTimeout(resolve, 300));
    tasks.disconnect();
    frames.disconnect();
    gaps.sort((a, b) => a - b);
    return {
      frames: gaps.length,
      frame95Ms: gaps[Math.floor(gaps.length * 0.95)] ?? Number.POSITIVE_INFINITY,
      frameMaxMs: gaps.at(-1) ?? Number.POSITIVE_INFINITY,
      longTasks,
      slowFrames,
    };
  }, forMs);
}
