/** The memory that this process holds and allocates. */
import { readFileSync, writeFileSync } from 'node:fs';
import { GCProfiler } from 'node:v8';

/** The resident memory after garbage collections, in MB. */
export async function settledRssMb(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('run with --expose-gc');
  for (let pass = 0; pass < 3; pass++) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return process.memoryUsage.rss() / 2 ** 20;
}

/** Lets the peak start at the current size, where Linux allows it. Otherwise the peak is that of the process. */
export function resetPeakRss(): void {
  try {
    writeFileSync('/proc/self/clear_refs', '5');
  } catch {
    // Another operating system, or a container without the right to it.
  }
}

/** The peak of the resident memory, in MB. */
export function peakRssMb(): number {
  try {
    const status = readFileSync('/proc/self/status', 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  } catch {
    return process.resourceUsage().maxRSS / 1024;
  }
}

/** What was allocated, and how long garbage collections stopped the main thread, in milliseconds. */
export interface Allocation {
  readonly bytes: number;
  readonly gcMs: number;
}

/**
 * Counts the bytes that JavaScript allocates on the heap. V8 has no such counter in Node 24, so the heap's size is
 * taken before and after each garbage collection: what it grew between two collections was allocated. Memory outside
 * the heap (buffers) does not count. Pages that are swept after a collection count as free before they are reused, so
 * the figure is a lower bound, by a few percent.
 * Returns a function that ends the count and returns the figures.
 */
export function countAllocation(): () => Allocation {
  const profiler = new GCProfiler();
  let used = process.memoryUsage().heapUsed;
  profiler.start();
  return () => {
    const now = process.memoryUsage().heapUsed;
    let [bytes, gcUs] = [0, 0];
    for (const { beforeGC, afterGC, cost } of profiler.stop().statistics) {
      gcUs += cost;
      bytes += Math.max(0, beforeGC.heapStatistics.usedHeapSize - used);
      used = afterGC.heapStatistics.usedHeapSize;
    }
    return { bytes: bytes + Math.max(0, now - used), gcMs: gcUs / 1000 };
  };
}
