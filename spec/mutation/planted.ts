/**
 * Plants faults by hand that once no test noticed, each in a copy of the sources, and runs the test that must notice it.
 * The list is the regression for these tests.
 *
 *     npm run test:mutation -- planted                  # all
 *     npm run test:mutation -- planted shards decode    # those of these folders of lib
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copySources } from './cache.ts';
import { runVitest } from './run-specs.ts';

/** A fault, and the test that must fail with it. */
export interface PlantedFault {
  /** What goes wrong for a user. */
  readonly what: string;
  readonly file: string;
  /** A text that occurs once in the file, and the text in its place. */
  readonly old: string;
  readonly new: string;
  readonly spec: string;
  /** How the title of the test begins. */
  readonly title: string;
}

interface Result {
  readonly title: string;
  readonly status: string;
}

interface JsonReport {
  readonly testResults: readonly { readonly assertionResults: readonly Result[] }[];
}

/** A fault whose test does not end within this time, in milliseconds, is noticed, too. */
const LIMIT_MS = 180_000;

export const PLANTED: readonly PlantedFault[] = JSON.parse(
  readFileSync(new URL('planted-faults.json', import.meta.url), 'utf8'),
);

/** The source with the fault. Throws if the fault does not apply any more. */
export function withFault(source: string, { what, file, old, new: now }: PlantedFault): string {
  const count = source.split(old).length - 1;
  if (count === 1) return source.replace(old, () => now);
  throw new Error(
    `planted fault "${what}": its text occurs ${count} times in ${file}; it must occur once. Move the fault to the present place of the code`,
  );
}

/** The beginning of a title as a pattern. What a table of cases puts into it is written `%s` or `$name`. */
function patternOf(title: string): string {
  return title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/%[sdifjoO]|\\\$\w+/g, '.+');
}

/** Runs specs in the copy; of one title, if it is given. Returns the tests that ran, or `undefined` if there is no end. */
async function run(
  copy: string,
  specs: readonly string[],
  title = '',
): Promise<readonly Result[] | undefined> {
  const output = join(copy, '.cache-report.json');
  rmSync(output, { force: true });
  const options = ['--config', 'spec/vitest.config.ts', '--reporter=json', '--outputFile', output];
  if (!(await runVitest(copy, [...options, ...specs, '-t', patternOf(title)], LIMIT_MS)))
    return undefined;
  const { testResults } = JSON.parse(readFileSync(output, 'utf8')) as JsonReport;
  return testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status !== 'skipped');
}

/** Whether tests of this title have run, and one has failed. */
function outcomeOf({ title }: PlantedFault, results: readonly Result[]): string {
  const own = results.filter((each) => new RegExp(`^${patternOf(title)}`).test(each.title));
  if (own.length === 0) return 'no such test';
  return own.some(({ status }) => status === 'failed') ? 'failed' : 'passed';
}

/** Plants the faults of these folders of lib, or all. Resolves with whether each was noticed. */
export async function runPlanted(folders: readonly string[]): Promise<boolean> {
  const isAsked = ({ file }: PlantedFault) =>
    folders.length === 0 || folders.some((folder) => file.startsWith(`lib/${folder}/`));
  const faults = PLANTED.filter(isAsked);
  if (faults.length === 0) throw new TypeError(`no fault is planted in ${folders.join(', ')}`);
  const copy = copySources();
  let missed = 0;
  try {
    // Without a fault each test must pass, or it would notice nothing.
    const before = (await run(copy, [...new Set(faults.map(({ spec }) => spec))])) ?? [];
    for (const fault of faults) {
      const { file, spec, title, what } = fault;
      const sound = outcomeOf(fault, before);
      const path = join(copy, file);
      const source = readFileSync(path, 'utf8');
      writeFileSync(path, withFault(source, fault));
      const results = await run(copy, [spec], title);
      writeFileSync(path, source);
      const outcome = results === undefined ? 'failed' : outcomeOf(fault, results);
      const isNoticed = sound === 'passed' && outcome === 'failed';
      console.log(`${isNoticed ? 'noticed' : 'NOT NOTICED'}: ${what} (${file})`);
      if (isNoticed) continue;
      missed++;
      console.log(`  ${spec} "${title}": ${sound} without the fault, ${outcome} with it`);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  console.log(`${faults.length - missed} of ${faults.length} planted faults noticed`);
  return missed === 0;
}
