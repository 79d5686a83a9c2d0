/**
 * Runs the specs that ask only by public names on the packed library, installed in an empty folder: without NODE_ENV, as a
 * development program and as a production program.
 *
 *   npm run test:conformance -- [--mode production] [--mode development] [--keep] [FILTER...]
 *
 * As a development program it runs only the specs of what development adds: all others have run on the sources in development. The gate
 * leaves out the run without NODE_ENV, which is a development program, too: spec/packed/node-env.packed.ts tests that.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { leftToNight } from '../../support/gate.ts';
import { SLOW } from '../../support/slow-specs.ts';
import { packInto, root } from '../consumer.ts';
import { outsideSpecs, reachedFrom } from './outside-specs.ts';

const MODES = ['unset', 'development', 'production'] as const;
type Mode = (typeof MODES)[number];

/** The least numbers of tests in each mode, of all and by folder of `spec`, so that none is lost without notice. */
const LEAST: Readonly<Record<Mode, Readonly<Record<string, number>>>> = {
  unset: { '': 1500, node: 20, persist: 20, react: 15, worker: 20, nats: 20 },
  development: { '': 200, store: 50, query: 80 },
  production: { '': 3000, node: 20, persist: 20, react: 15, worker: 20, nats: 20 },
};

/** Random campaigns, the fake server, examples and the slow specs, which take long and do not depend on NODE_ENV. */
const LONG = [
  ...SLOW.map((file) => file.replace(/^spec\/|\.spec\.ts$/g, '')),
  ...['models', 'conformance', '*/*lives', '*/*life', '*/random-*', 'node/canaries'],
  ...['examples', 'generated-examples'],
];
/** What a spec says that is about a guard of development. */
const ABOUT_DEVELOPMENT = /mutationGuard|isFrozen|support\/production/;

/** What specs load at run time, without an import. */
const ALSO_LOADED = ['json-schema-to-typescript', 'node', 'react-dom', 'vitest', 'yaml'];

/** The version of an installed package. */
function versionOf(name: string): string {
  const path = join(root, 'node_modules', name, 'package.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).version : '';
}

/** Copies the specs, what they import, and the documentation with its examples as specs. No file of the library stays. */
function copySpecs(folder: string, specs: readonly string[]): void {
  const chosen = new Set(specs);
  const isSpec = /\.(?:spec|nats)\.tsx?$/;
  for (const name of ['tsconfig.json', 'README.md', 'docs', 'examples', 'lib', 'spec']) {
    cpSync(join(root, name), join(folder, name), {
      recursive: true,
      filter: (path) => {
        const file = relative(root, path);
        return (
          !/node_modules|generated-examples/.test(file) && (!isSpec.test(file) || chosen.has(file))
        );
      },
    });
  }
  execFileSync(process.execPath, [join(folder, 'spec/support/extract-examples.ts')]);
  rmSync(join(folder, 'lib'), { recursive: true });
  const conformance = join(root, 'spec/packed/conformance');
  cpSync(join(conformance, 'load-guards.ts'), join(folder, 'spec/support/load-guards.ts'));
  // The condition that selects the sources gets another name, so that nothing selects them.
  for (const file of globSync('spec/**/*.ts', { cwd: folder })) {
    const path = join(folder, file);
    const text = readFileSync(path, 'utf8');
    if (!text.includes('rx-informer-source')) continue;
    writeFileSync(path, text.replaceAll('rx-informer-source', 'not-the-source'));
  }
}

/** Installs the packed library with the packages that the specs import. */
async function install(specs: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'rx-informer-conformance-'));
  const { filename } = await packInto(folder);
  copySpecs(folder, specs);
  const imported = specs.flatMap((spec) => reachedFrom(folder, spec).packages);
  const versions = [...new Set([...imported, ...ALSO_LOADED])].map((name) => [
    name,
    versionOf(name),
  ]);
  const { overrides } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const dependencies = {
    ...Object.fromEntries(versions.filter(([, version]) => version !== '')),
    'rx-informer': `file:${filename}`,
    'react-18': 'file:spec/react/react-18',
  };
  const manifest = { private: true, type: 'module', dependencies, overrides };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--prefer-offline'];
  execFileSync('npm', ['install', ...quiet, '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
  });
  return folder;
}

interface Report {
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

interface Suite {
  readonly isOk: boolean;
  readonly failed: number;
  /** The number of tests that passed, by folder of `spec`. */
  readonly passed: ReadonlyMap<string, number>;
}

/** What a mode runs of the specs of a folder: filters, and what is left out. */
function chosen(
  folder: string,
  mode: Mode,
): { only: readonly string[]; without: readonly string[] } {
  if (mode === 'production') return { only: [], without: leftToNight };
  const without = LONG.map((name) => `spec/${name}{/**,.spec.ts}`);
  if (mode === 'unset') return { only: [], without };
  const isAbout = (file: string) =>
    ABOUT_DEVELOPMENT.test(readFileSync(join(folder, file), 'utf8'));
  return { only: globSync('spec/**/*.spec.{ts,tsx}', { cwd: folder }).filter(isAbout), without };
}

/** Runs a suite in one mode, and prints its output when it has ended. */
async function runSuite(folder: string, mode: Mode, config: string, filters: readonly string[]) {
  const report = join(folder, `${config.replaceAll('/', '-')}.json`);
  rmSync(report, { force: true });
  const env: NodeJS.ProcessEnv = { ...process.env, PACKED_NODE_ENV: mode, NO_COLOR: '1' };
  for (const name of ['NODE_ENV', 'NODE_OPTIONS', 'VITEST']) delete env[name];
  if (mode !== 'unset') env['NODE_ENV'] = mode;
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs');
  const { only, without } = chosen(folder, mode);
  const args = [
    ...[vitest, 'run', '--config', config, '--passWithNoTests'],
    ...(filters.length > 0 ? filters : only),
    '--project=!night',
    ...['--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
    ...without.map((pattern) => `--exclude=${pattern}`),
  ];
  const log = join(folder, `${config.replaceAll('/', '-')}.log`);
  const out = openSync(log, 'w');
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', out, out] });
  const [code] = await once(child, 'exit');
  closeSync(out);
  console.log(readFileSync(log, 'utf8'));
  const passed = new Map<string, number>();
  // Without a report the suite could not be started.
  if (!existsSync(report)) return { isOk: false, failed: 1, passed };
  const { testResults, numFailedTests } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  for (const { name, assertionResults } of testResults) {
    const area = relative(folder, name).split('/')[1] ?? '';
    const count = assertionResults.filter(({ status }) => status === 'passed').length;
    passed.set(area, (passed.get(area) ?? 0) + count);
  }
  const isOk = code === 0;
  return { isOk, failed: isOk ? 0 : Math.max(1, numFailedTests), passed } satisfies Suite;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { mode: { type: 'string', multiple: true }, keep: { type: 'boolean' } },
});
const modes = MODES.filter((mode) => values.mode?.includes(mode) ?? true);
if (modes.length < (values.mode ?? modes).length) {
  throw new Error(`--mode must be one of ${MODES.join(', ')}, each once`);
}
const folder = await install(outsideSpecs(root));
let [passed, failed] = [0, 0];
for (const mode of modes) {
  console.log(`\n== NODE_ENV: ${mode}`);
  // The tests of NATS mostly wait.
  const suites = await Promise.all(
    ['spec/vitest.config.ts', 'spec/nats/vitest.config.ts'].map((config) =>
      runSuite(folder, mode, config, positionals),
    ),
  );
  failed += suites.reduce((sum, suite) => sum + suite.failed, 0);
  for (const [area, least] of Object.entries(LEAST[mode])) {
    const counts = suites.flatMap((suite) =>
      [...suite.passed].map(([name, count]) => (area === '' || area === name ? count : 0)),
    );
    const count = counts.reduce((sum, each) => sum + each, 0);
    console.log(`${mode}: ${count} tests of ${area || 'all folders'} passed`);
    if (area === '') passed += count;
    if (positionals.length > 0 || count >= least) continue;
    failed++;
    console.log(`FAIL: at least ${least} must pass`);
  }
}
if (values.keep) console.log(folder);
else rmSync(folder, { recursive: true, force: true });
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
