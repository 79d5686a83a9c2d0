/** The result of a phase, and how it is judged. */
import { countOf, handles, heapMb } from './heap.ts';

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
