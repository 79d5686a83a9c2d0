/** Runs one process of the benchmark, and once more if others used the machine meanwhile. */
import type { Command } from './contestants/contestants.ts';
import type { Result } from './contestants/result.ts';
import { coresOfOthers, noisyCores, readCpu } from './machine-noise.ts';
import { runProcess } from './processes.ts';

/** A result, and the share of a core that others took. */
export interface Measured extends Result {
  readonly noise?: number;
}

/** Whether other processes took so much CPU that the result says little. */
export function isNoisy({ noise = 0 }: Measured): boolean {
  return noise > noisyCores;
}

async function once(
  command: Command,
  args: readonly string[],
  serverPid: number,
): Promise<Measured | undefined> {
  const before = readCpu(serverPid);
  const result = await runProcess<Result>(command, args, 300_000);
  const noise = coresOfOthers(before, readCpu(serverPid));
  return result && { ...result, ...(noise !== undefined && { noise }) };
}

/** Measures, repeats a noisy run once unless `keepNoisy`, and returns the quieter of both. `undefined` if it failed. */
export async function measure(
  command: Command,
  args: readonly string[],
  serverPid: number,
  keepNoisy: boolean,
): Promise<Measured | undefined> {
  const first = await once(command, args, serverPid);
  if (first === undefined || keepNoisy || !isNoisy(first)) return first;
  const second = await once(command, args, serverPid);
  return second === undefined || (second.noise ?? 0) < (first.noise ?? 0) ? second : first;
}
