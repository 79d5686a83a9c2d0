/** Runs specs in a copy of the sources, in a process of its own that has a limit. */
import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './cache.ts';

/** A spec that a run asks for. */
export interface Asked {
  readonly spec: string;
  /** A spec whose tests take longer is ended, in milliseconds. */
  readonly limitMs: number;
}

/** What the reporter of a run writes: `run-reporter.ts`. */
export interface RunReport {
  readonly specs: readonly { readonly spec: string; readonly ms: number; readonly ok: boolean }[];
  /** The first failure, in words. */
  readonly noticed?: string;
  /** The spec of the first failure, if it was a limit of time, which a busy machine may exceed, too. */
  readonly late?: string;
}

/** What the configuration of a run reads: `vitest.config.ts`. */
export interface RunRequest {
  readonly asked: readonly Asked[];
  readonly output: string;
  /** A folder for the ids of the mutants that each spec runs; the sources have counters then. */
  readonly covered?: string;
}

/** Runs vitest, and ends it with its workers after the limit. Resolves with whether it ended by itself. */
export async function runVitest(
  copy: string,
  args: readonly string[],
  limitMs: number,
  env: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', ...args], {
    ...{ cwd: copy, env: { ...process.env, ...env }, stdio: 'ignore' },
    // A group of its own, so that its workers can be ended, too.
    detached: true,
  });
  const end = (): void => {
    try {
      process.kill(-(child.pid as number), 'SIGKILL');
    } catch {
      // No process of the group is left.
    }
  };
  let isEndless = false;
  const limit = setTimeout(() => {
    isEndless = true;
    end();
  }, limitMs);
  await new Promise((resolve) => child.on('close', resolve));
  clearTimeout(limit);
  end();
  return !isEndless;
}

/** Runs specs in the given order, with one worker. Without `covered` the run ends at the first failure. */
export async function runSpecs(
  copy: string,
  asked: readonly Asked[],
  covered?: string,
): Promise<RunReport> {
  const output = join(copy, '.run-report.json');
  const request: RunRequest = { asked, output, ...(covered === undefined ? {} : { covered }) };
  const file = join(copy, '.run-request.json');
  writeFileSync(file, JSON.stringify(request));
  rmSync(output, { force: true });
  // The reporter has a limit for each spec; this one is for vitest itself.
  const limitMs = asked.reduce((sum, each) => sum + each.limitMs, 120_000);
  const args = ['--config', 'spec/mutation/vitest.config.ts'];
  const env = { MUTATION_REQUEST: file, MUTATION_COVERED: covered ?? '' };
  const hasEnded = await runVitest(copy, args, limitMs, env);
  const [last] = asked.slice(-1);
  if (!hasEnded) return { specs: [], noticed: 'the run did not end', late: last?.spec ?? '' };
  return JSON.parse(readFileSync(output, 'utf8')) as RunReport;
}
