/**
 * Runs the long forms of the checks one after the other, and writes a page of results after each step.
 *
 *   .ci/nightly [FOLDER] [--only fuzz,faults] [--fresh]
 *
 * The folder (default: `.cache/nightly`) receives `results.md`, `results.json` and a log per step. A run that was stopped
 * continues: a step that ended ok for the same commit with the same counts is not repeated. `--fresh` repeats it. Exits
 * with 1 if a step of this run failed.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import {
  commitName,
  figuresOf,
  isDone,
  type Result,
  readResults,
  tailOf,
  worseThan,
  writeResults,
} from './results.ts';
import { NIGHT, type Step } from './steps.ts';

/** The arguments of {@link runNight}. */
export interface Night {
  readonly folder: string;
  readonly steps: readonly Step[];
  readonly only?: readonly string[] | undefined;
  readonly fresh?: boolean | undefined;
  readonly commit: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  say(line: string): void;
}

const STOPS = ['SIGINT', 'SIGTERM'] as const;

/** Runs a step with its output in `logFile`. Resolves to its exit code. */
async function execute(
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  logFile: string,
): Promise<number | null> {
  // Opened at once, because the folder may be gone when the stream would open it.
  const log = createWriteStream(logFile, { fd: openSync(logFile, 'w') });
  const [program = '', ...args] = command;
  // A group of processes of its own, so that stopping the night stops everything that the step has started.
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  const child = spawn(program, args, { env: { ...env }, stdio: [...stdio], detached: true });
  const stop = () => {
    if (child.pid !== undefined) process.kill(-child.pid);
    process.exit(1);
  };
  for (const signal of STOPS) process.once(signal, stop);
  for (const stream of [child.stdout, child.stderr]) stream?.pipe(log, { end: false });
  const [code] = (await once(child, 'close')) as [number | null];
  for (const signal of STOPS) process.removeListener(signal, stop);
  log.end();
  await finished(log);
  return code;
}

async function runStep(
  step: Step,
  { folder, commit, env }: Night,
  before: Result | undefined,
): Promise<Result> {
  const counts = countsOf(step, env);
  const logFile = join(folder, `${step.name}.log`);
  const began = performance.now();
  const command = [...step.command, ...extraArgs(step, counts)];
  const code = await execute(command, { ...env, ...counts }, logFile);
  const log = readFileSync(logFile, 'utf8');
  const ok = code === 0;
  const figures = figuresOf(step, log);
  return {
    commit,
    counts,
    ok,
    seconds: Math.round((performance.now() - began) / 1000),
    ended: new Date().toISOString(),
    figures,
    worse: worseThan(before, { ok, figures }),
    tail: ok ? [] : tailOf(log),
  };
}

/** The counts of a step, with those of the caller's environment. */
function countsOf({ counts }: Step, env: Night['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(counts).map(([name, value]) => [name, env[name] || value]),
  );
}

/** The arguments that a step adds; npm passes only those after `--` to the script. */
function extraArgs(step: Step, counts: Record<string, string>): readonly string[] {
  const args = step.args?.(counts) ?? [];
  return args.length === 0 || step.command.includes('--') ? args : ['--', ...args];
}

/** Runs the steps. Resolves to whether all of them ended ok. Throws if `only` names an unknown step. */
export async function runNight(night: Night): Promise<boolean> {
  const { folder, steps, only, fresh = false, commit, env, say } = night;
  const unknown = only?.filter((name) => !steps.some((step) => step.name === name)) ?? [];
  if (unknown.length > 0) {
    const known = steps.map(({ name }) => name).join(', ');
    throw new TypeError(`There is no step ${unknown.join(', ')}. The steps are: ${known}.`);
  }
  mkdirSync(folder, { recursive: true });
  const chosen = steps.filter(({ name }) => only?.includes(name) ?? true);
  let results = readResults(folder);
  let ok = true;
  for (const step of chosen) {
    const { name } = step;
    if (!fresh && isDone(results[name], commit, countsOf(step, env))) {
      say(`${name}: ended ok before`);
      continue;
    }
    say(`${name} begins`);
    const result = await runStep(step, night, results[name]);
    results = { ...results, [name]: result };
    writeResults(folder, steps, results);
    ok &&= result.ok;
    for (const line of result.worse ?? []) say(`${name} is worse: ${line}`);
    say(`${name}: ${result.ok ? 'ok' : 'FAIL'} after ${result.seconds} s`);
  }
  writeResults(folder, steps, results);
  return ok;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { only: { type: 'string' }, fresh: { type: 'boolean', default: false } },
  });
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' });
  const folder = resolve(positionals[0] ?? '.cache/nightly');
  const ok = await runNight({
    folder,
    steps: NIGHT,
    only: values.only?.split(','),
    fresh: values.fresh,
    commit: commitName(git('rev-parse', 'HEAD'), git('status', '--porcelain')),
    env: process.env,
    say: (line) => process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`),
  });
  process.stdout.write(`The results are in ${join(folder, 'results.md')}.\n`);
  process.exitCode = ok ? 0 : 1;
}
