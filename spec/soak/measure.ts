/** What a phase answers, and how it is judged. */
import { countOf, handles, heapMb } from './heap.ts';

export interface Reading {
  /** Since the phase began, on its own clock. */
  readonly atMs: number;
  readonly heapMb: number;
  readonly handles: number;
}

export interface PhaseResult {
  readonly phase: string;
  /** `[what, how much]`, to print. */
  readonly figures: readonly (readonly [string, string])[];
  readonly wrong: readonly string[];
}

export async function read(atMs: number): Promise<Reading> {
  return { atMs, heapMb: await heapMb(), handles: countOf(handles()) };
}

/** By so much single readings of one life differ, up and down; at 800,000 changes a leak of 8 bytes each is more. */
const SLACK_MB = 6;

/**
 * Flat: the least of the last third is not above the least of the first by more than noise. Answers both, to print.
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

/** How many are shown of each kind. */
export function brief(counts: Record<string, number>): string {
  const told = Object.entries(counts).sort(([a], [b]) => a.localeCompare(b));
  return told.map(([what, count]) => `${what} ${thousands(count)}`).join(', ') || 'none';
}
