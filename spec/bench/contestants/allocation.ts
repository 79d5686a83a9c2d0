/**
 * Counts the bytes that JavaScript allocates on the heap. V8 has no such counter in Node 24, so the heap's size is
 * taken before and after each garbage collection: what it grew between two collections was allocated. Memory outside
 * the heap (buffers) does not count. Pages that are swept after a collection count as free before they are reused, so
 * the figure is a lower bound, by a few percent.
 */
import { GCProfiler } from 'node:v8';

/** What was allocated, and how long garbage collections stopped the main thread, in milliseconds. */
export interface Allocation {
  readonly bytes: number;
  readonly gcMs: number;
}

/** Starts to count, and returns a function that ends the count and returns the figures. */
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
