/**
 * How much CPU others took while a process of the benchmark ran. A measurement beside other work says little, because
 * caches, memory bandwidth and cores are shared. Only Linux has the figures.
 */
import { readFileSync } from 'node:fs';

/** CPU times in clock ticks since the machine and the processes started. */
export interface CpuReading {
  /** Of the whole machine: in processes, and taken by other virtual machines. */
  readonly busy: number;
  /** Of the benchmark: this process, its children that ended, and the server. */
  readonly own: number;
  /** The time of the reading, in milliseconds. */
  readonly atMs: number;
}

/** Linux reports 100 ticks a second on all common architectures. */
const ticksPerSecond = 100;

/** More than this share of a core makes a run noisy. */
export const noisyCores = 0.1;

/** The busy ticks in the first line of `/proc/stat`. */
export function busyTicks(stat: string): number {
  const [user = 0, nice = 0, system = 0, , , , , steal = 0] = (stat.split('\n')[0] ?? '')
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return user + nice + system + steal;
}

/** The ticks of a process in the text of `/proc/<pid>/stat`, with those of its children that ended. */
export function processTicks(stat: string): number {
  // The name of the program is in parentheses and may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
}

/** Reads the CPU times, or returns `undefined` where there is no `/proc/stat`. */
export function readCpu(serverPid: number): CpuReading | undefined {
  try {
    const own = ['self', serverPid].map((id) =>
      processTicks(readFileSync(`/proc/${id}/stat`, 'utf8')),
    );
    return {
      busy: busyTicks(readFileSync('/proc/stat', 'utf8')),
      own: own.reduce((sum, ticks) => sum + ticks),
      atMs: performance.now(),
    };
  } catch {
    return undefined;
  }
}

/** The share of a core that others took between two readings, or `undefined` if it is not known. */
export function coresOfOthers(
  before: CpuReading | undefined,
  after: CpuReading | undefined,
): number | undefined {
  if (before === undefined || after === undefined) return undefined;
  const others = after.busy - before.busy - (after.own - before.own);
  return Math.max(0, others / ticksPerSecond / ((after.atMs - before.atMs) / 1000));
}
