/** Measures what the process holds, and judges the result of a phase. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
/** Collects the garbage of this process. */
export const collect = runInNewContext('gc') as () => void;

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

export interface Reading {
  /** The time since the beginning of the phase, on its own clock, in milliseconds. */
  readonly atMs: number;
  readonly heapMb: number;
  readonly handles: number;
}

export interface PhaseResult {
  readonly phase: string;
  /** Labels and values to print. */
  readonly figures: readonly (readonly [string, string])[];
  readonly wrong: readonly string[];
}

export async function read(atMs: number): Promise<Reading> {
  // Before the collections, during which a timer may begin a request.
  return { atMs, handles: countOf(handles()), heapMb: await heapMb() };
}

/** The variation of single readings of one run. With 800,000 changes a leak of 8 bytes per change exceeds it. */
const SLACK_MB = 6;

/**
 * Checks that the heap does not grow: the least reading of the last third may exceed that of the first third by noise
 * only. Returns both, to print.
 */
export function flat(readings: readonly Reading[], wrong: string[]): string {
  const third = Math.max(1, Math.floor(readings.length / 3));
  const least = (part: readonly Reading[]) => Math.min(...part.map((reading) => reading.heapMb));
  const early = least(readings.slice(0, third));
  const late = least(readings.slice(-third));
  if (late > early + SLACK_MB) {
    wrong.push(`the heap grew from ${early.toFixed(1)} to ${late.toFixed(1)} MB`);
  }
  return `${mb(early)}, ${mb(late)}`;
}

export const mb = (value: number | undefined): string => `${(value ?? 0).toFixed(1)} MB`;
export const thousands = (value: number): string => Math.round(value).toLocaleString('en-US');

/** Formats the counts by kind. */
export function brief(counts: Record<string, number>): string {
  const told = Object.entries(counts).sort(([a], [b]) => a.localeCompare(b));
  return told.map(([what, count]) => `${what} ${thousands(count)}`).join(', ') || 'none';
}
