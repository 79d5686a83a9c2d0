/** Measures what the process holds: bytes after garbage collections, and handles of the event loop. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const turned = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * The megabytes of heap and buffers after garbage collections. Returns the least of five readings, because each
 * collection may free more.
 */
export async function heapMb(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round++) {
    // Weak references and finalizers are processed between turns of the event loop.
    await turned();
    collect();
    const { heapUsed, external } = process.memoryUsage();
    least = Math.min(least, heapUsed + external);
  }
  return least / 2 ** 20;
}

/** The handles that keep the process alive, sorted by name, for example `Timeout 3, TCPSocketWrap 2`. */
export function handles(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo().sort()) {
    // A pending `setImmediate` is not a handle.
    if (name !== 'Immediate') counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

export const countOf = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

/** Collects the warnings of the process. A warning of too many listeners shows a leak. */
export function warnings(): readonly string[] {
  const heard: string[] = [];
  process.on('warning', ({ name, message }) => heard.push(`${name}: ${message}`));
  return heard;
}
