/**
 * Runs a mutation campaign: deliberate faults in each stage, selected by a seed, and the specs that should detect
 * them.
 *
 *     npm run test:mutation -- --seed 1 --per-stage 40 --stages delta,store
 *     npm run test:mutation -- planted
 *
 * The second form plants the faults of `planted-faults.json` instead, which fails if one is not noticed.
 *
 * StrykerJS places and runs the mutants. It is installed for the campaign only and not listed in package.json,
 * because nothing else needs it. Mutants that no spec detects are printed with file, line and replacement, and
 * written to `.cache/mutation/<stage>.json`. `docs/internals/reliability.md` has the scores and the mutants that are equivalent
 * to the code.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { runPlanted } from './planted.ts';
import { draw, EXCLUDED, mutantsOf } from './sample.ts';

const STRYKER = '10.1.1';
const CACHE = '.cache/mutation';

/**
 * The folders of `spec/` that test a stage. The second list is slower and tests only the mutants that the first list
 * did not detect.
 */
const JUDGES: Readonly<Record<string, readonly [readonly string[], readonly string[]]>> = {
  transport: [['transport'], ['client', 'list-watch']],
  reflector: [['reflector'], ['list-watch', 'informer']],
  delta: [['delta'], ['store', 'informer', 'models']],
  store: [['store'], ['delta', 'lister', 'informer', 'models']],
  informer: [['informer'], ['models', 'factory', 'audit']],
  'work-queue': [['work-queue'], ['models', 'controller']],
  client: [['client'], ['models', 'factory', 'controller']],
  controller: [['controller'], ['models']],
};

interface Result {
  readonly status: string;
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly location: Record<'start' | 'end', { readonly line: number; readonly column: number }>;
}

interface Judged extends Result {
  readonly file: string;
}

interface Report {
  readonly files: Readonly<Record<string, { readonly mutants: readonly Result[] }>>;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    'per-stage': { type: 'string', default: '40' },
    stages: { type: 'string', default: Object.keys(JUDGES).join(',') },
    concurrency: { type: 'string', default: '2' },
  },
});

function installStryker(): void {
  if (existsSync('node_modules/@stryker-mutator/vitest-runner')) return;
  const packages = ['core', 'instrumenter', 'vitest-runner'];
  const named = packages.map((name) => `@stryker-mutator/${name}@${STRYKER}`);
  execFileSync('npm', ['install', '--no-save', '--no-package-lock', ...named], {
    stdio: 'inherit',
  });
}

/** Runs StrykerJS on the given places, with the tests in the given folders of `spec/`. */
function run(name: string, mutate: readonly string[], folders: readonly string[]): Judged[] {
  const report = `${CACHE}/${name}.json`;
  const config = `${CACHE}/stryker-${name}.json`;
  const options = {
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'spec/mutation/vitest.config.ts', related: false },
    mutate,
    mutator: { excludedMutations: EXCLUDED },
    coverageAnalysis: 'perTest',
    concurrency: Number(values.concurrency),
    reporters: ['json'],
    jsonReporter: { fileName: report },
    tempDirName: `${tmpdir()}/rx-informer-mutation`,
    // TypeScript 7 has no API with which StrykerJS could read a tsconfig, and vitest needs no tsconfig.
    tsconfigFile: 'no-tsconfig.json',
    disableTypeChecks: false,
    timeoutMS: 15_000,
    logLevel: 'error',
    allowEmpty: true,
  };
  writeFileSync(config, JSON.stringify(options));
  const env = { ...process.env, MUTATION_SPECS: folders.join(',') };
  const { status } = spawnSync('npx', ['stryker', 'run', config], { stdio: 'inherit', env });
  if (status !== 0) throw new Error(`StrykerJS failed on ${name} with exit code ${status}.`);
  const { files } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  return Object.entries(files)
    .flatMap(([file, { mutants }]) => mutants.map((mutant) => ({ file, ...mutant })))
    .filter(({ status: each }) => each !== 'Ignored');
}

const isMissed = ({ status }: Result) => status === 'Survived' || status === 'NoCoverage';
const textOf = ({ file, location, mutatorName, replacement }: Judged) =>
  `${file}:${location.start.line}:${location.start.column} ${mutatorName}: ${replacement ?? ''}`;

/** The pattern of a mutant's place. Reports count columns from one, patterns from zero. */
function placeOf({ file, location: { start, end } }: Judged): string {
  return `${file}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`;
}

async function judge(stage: string): Promise<void> {
  const judges = JUDGES[stage];
  if (judges === undefined) {
    throw new TypeError(`No stage "${stage}". There are: ${Object.keys(JUDGES).join(', ')}.`);
  }
  const began = Date.now();
  const all = await mutantsOf(stage);
  const places = draw(all, Number(values['per-stage']), Number(values.seed));
  const judged = run(stage, places, judges[0]);
  let missed = judged.filter(isMissed);
  if (missed.length > 0) {
    const again = run(`${stage}-second`, missed.map(placeOf), judges[1]);
    const noticed = new Set(again.filter((each) => !isMissed(each)).map(textOf));
    missed = missed.filter((each) => !noticed.has(textOf(each)));
  }
  const seconds = Math.round((Date.now() - began) / 1000);
  const count = `${judged.length - missed.length} of ${judged.length} detected`;
  console.log(`${stage}: ${count}, ${all.length} mutants in all, ${seconds} s`);
  for (const each of missed) console.log(`  ${textOf(each)}`);
}

const [form, ...folders] = positionals;
if (form === 'planted') {
  if (!(await runPlanted(folders))) process.exitCode = 1;
} else {
  installStryker();
  mkdirSync(CACHE, { recursive: true });
  for (const stage of values.stages.split(',')) await judge(stage);
}
