/** The results of a night: a file that the next run continues from, and a page for people. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Step } from './steps.ts';

export type Counts = Readonly<Record<string, string>>;

/** The end of one step. */
export interface Result {
  /** The commit of the clone; with uncommitted changes it ends with `+changes`. */
  readonly commit: string;
  readonly counts: Counts;
  readonly ok: boolean;
  readonly seconds: number;
  /** When the step ended, as ISO text. */
  readonly ended: string;
  /** What the step printed about itself, such as `12 passed, 0 failed`. */
  readonly figures: readonly string[];
  /** What is worse than in the last result of the step that the folder had. */
  readonly worse?: readonly string[];
  /** The end of the log, if the step failed. */
  readonly tail: readonly string[];
}

/** A ratio of one run, such as `1.32 ×`. */
const RATIO = /(\d+(?:\.\d+)?) ?×/g;
/** More of these is better; of everything else less. */
const MORE_IS_BETTER = /events|a second/i;
/** Runs of the same commit differ by less. */
const NOISE = 1.1;

/** Says what is worse than before: a failure, and ratios of figures whose texts are equal without their numbers. */
export function worseThan(
  before: Result | undefined,
  { ok, figures }: Pick<Result, 'ok' | 'figures'>,
): string[] {
  if (before === undefined) return [];
  const since = before.commit.slice(0, 8);
  const failed = before.ok && !ok ? [`it failed; at ${since} it ended ok`] : [];
  const named = (line: string) => line.replace(/\d+(?:\.\d+)?/g, '#');
  const ratiosOf = (line: string) => [...line.matchAll(RATIO)].map(([, ratio]) => Number(ratio));
  const former = new Map(before.figures.map((line) => [named(line), ratiosOf(line)]));
  const lost = figures.filter((line) => {
    const then = former.get(named(line)) ?? [];
    return ratiosOf(line).some((now, at) => {
      const factor = now / (then[at] ?? now);
      return (MORE_IS_BETTER.test(line) ? 1 / factor : factor) > NOISE;
    });
  });
  return [
    ...failed,
    ...lost.map((line) => `${line}; at ${since} ${former.get(named(line))?.join(' and ')} ×`),
  ];
}

/** The results by the names of their steps. */
export type Results = Readonly<Record<string, Result>>;

const UNCOMMITTED = '+changes';

/** Reads the results of earlier runs; none if there are none. */
export function readResults(folder: string): Results {
  const file = join(folder, 'results.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : {};
}

/** Writes the results and their page. */
export function writeResults(folder: string, steps: readonly Step[], results: Results): void {
  writeFileSync(join(folder, 'results.json'), `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(join(folder, 'results.md'), page(steps, results));
}

/** Whether a step need not run again: it ended ok with the same counts, and nothing has changed since. */
export function isDone(result: Result | undefined, commit: string, counts: Counts): boolean {
  return (
    result?.ok === true &&
    !commit.endsWith(UNCOMMITTED) &&
    result.commit === commit &&
    isDeepStrictEqual(result.counts, counts)
  );
}

/** The name of a commit; `status` is the output of `git status --porcelain`. */
export function commitName(hash: string, status: string): string {
  return hash.trim() + (status.trim() === '' ? '' : UNCOMMITTED);
}

/** The lines of a log that belong on the page: the step's own figures, and the last count of tests. */
export function figuresOf({ figures }: Step, log: string): string[] {
  const lines = log.split('\n').map((line) => line.trim());
  const own = figures === undefined ? [] : lines.filter((line) => figures.test(line));
  const count = lines.findLast((line) => /^\d+ passed, \d+ failed/.test(line));
  return count === undefined ? own : [...own, count];
}

/** The lines of a failed log that name the failures, and its end. */
export function tailOf(log: string): string[] {
  const lines = log.trimEnd().split('\n');
  const named = lines.filter((line) => /FAIL|✗|Error:|replay:|WRONG|wrong:/.test(line));
  return [...named.slice(0, 30), '…', ...lines.slice(-15)];
}

function countsText({ counts: whole }: Step, counts: Counts): string {
  const texts = Object.entries(counts).map(([name, value]) =>
    value === whole[name] ? `${name}=${value}` : `**${name}=${value}** (of ${whole[name]})`,
  );
  return texts.join(', ') || 'always the same';
}

/** The page of the results. Steps that were not run say so. */
export function page(steps: readonly Step[], results: Results): string {
  const found = steps.flatMap(({ name }) => results[name] ?? []);
  const failed = steps.filter(({ name }) => results[name]?.ok === false);
  const shortened = steps.filter(({ name, counts }) => {
    const result = results[name];
    return result !== undefined && !isDeepStrictEqual(result.counts, counts);
  });
  const missing = steps.filter(({ name }) => results[name] === undefined);
  const named = (some: readonly Step[]) => some.map(({ name }) => name).join(', ') || 'none';
  const rows = steps.map((step) => {
    const result = results[step.name];
    if (result === undefined) return `| ${step.name} | – | not run | | | |`;
    const { commit, counts, ok, seconds, ended, figures } = result;
    const cells = [
      step.name,
      countsText(step, counts),
      `${ok ? 'ok' : '**FAIL**'}${figures.map((line) => `<br>${line.replaceAll('|', '\\|')}`).join('')}`,
      String(seconds),
      `${commit.slice(0, 8)}${commit.endsWith(UNCOMMITTED) ? UNCOMMITTED : ''}, ${ended.slice(0, 16)}Z`,
      step.repeat,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const logs = failed.map(
    ({ name }) =>
      `\n## ${name} failed\n\nThe complete log is \`${name}.log\`.\n\n\`\`\`text\n${results[name]?.tail.join('\n')}\n\`\`\`\n`,
  );
  const worse = steps.flatMap(({ name }) =>
    (results[name]?.worse ?? []).map((line) => `\n- **${name} is worse**: ${line}`),
  );
  const total = found.reduce((sum, { seconds }) => sum + seconds, 0);
  return `# Results of the nightly run

\`.ci/nightly\` wrote this page on ${availableParallelism()} cores with Node ${process.version.slice(1)}. ${found.length} of ${steps.length} steps ran, in ${total} s.

- failed: ${named(failed)}
- with other counts than a complete night (in bold below): ${named(shortened)}
- not run: ${named(missing)}${worse.join('')}

| step | counts | result | seconds | commit, end | how to repeat a failure |
|---|---|---|---|---|---|
${rows.join('\n')}
${logs.join('')}`;
}
