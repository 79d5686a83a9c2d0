/** The resident memory of this process. */
import { readFileSync, writeFileSync } from 'node:fs';

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
