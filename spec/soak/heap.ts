/** What is held: bytes after a collection, and handles of the event loop. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const turned = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Megabytes of heap and buffers that survive; the least of several collections, as each frees more. */
export async function heapMb(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round++) {
    // Weak references and finalizers want turns of their own.
    await turned();
    collect();
    const { heapUsed, external } = process.memoryUsage();
    least = Math.min(least, heapUsed + external);
  }
  return least / 2 ** 20;
}

/** `Timeout 3, TCPSocketWrap 2`: what keeps the process alive, in one order. */
export function handles(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo().sort()) {
    // A turn that somebody waits for is no handle.
    if (name !== 'Immediate') counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

export const countOf = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

/** Warnings of the process: one of too many listeners is a leak. */
export function warnings(): readonly string[] {
  const heard: string[] = [];
  process.on('warning', ({ name, message }) => heard.push(`${name}: ${message}`));
  return heard;
}
