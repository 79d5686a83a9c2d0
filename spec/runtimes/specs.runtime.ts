/**
 * Runs the specs of this repository that use nothing but the package with Vitest in Bun and Deno, and in Node for comparison. Each
 * test must pass everywhere, except for those of the list.
 */
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { root, run } from '../packed/consumer.ts';
import { createProject, NAMES, type Project, RUNTIMES, type RuntimeName } from './runtimes.ts';

/** The specs that may run: those of the stages, and those of `spec/packed`. */
const FOLDERS =
  '{client,consumers,controller,decode,delta,informer,list-watch,meta,models,packed,query,reflector,rx,store,testing,transport,work-queue}';

/** Tests that fail in a runtime, with the reason. A test that passes is out of date here. */
const KNOWN: readonly {
  readonly runtime: RuntimeName;
  readonly file: string;
  readonly test: RegExp;
  readonly reason: string;
}[] = [
  {
    runtime: 'Bun',
    file: 'spec/consumers/mutating.spec.ts',
    test: /the change throws at its own line/,
    reason: 'JavaScriptCore does not name the property that cannot be changed',
  },
  {
    runtime: 'Bun',
    file: 'spec/client/request-body.spec.ts',
    test: /(a form|search parameters) rejects the call/,
    reason: 'in Bun a form and search parameters have a form in JSON',
  },
];

const IMPORTS = /^(?:import|export)\b[^;'"]*?from ['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm;

/** What a file imports, directly or not: files of the repository, and packages. */
function importsOf(file: string, all = new Set<string>()): Set<string> {
  if (all.has(file)) return all;
  all.add(file);
  for (const [, from = '', lazy = ''] of readFileSync(join(root, file), 'utf8').matchAll(IMPORTS)) {
    const target = from || lazy;
    if (!target.startsWith('.')) all.add(target);
    else if (/\.tsx?$/.test(target)) importsOf(normalize(join(dirname(file), target)), all);
    else all.add(normalize(join(dirname(file), target)));
  }
  return all;
}

const PACKAGES = /^(?:node:|rx-informer(?:\/|$)|rxjs(?:\/|$)|vitest$|fast-check$|spec\/)/;

/** Whether a spec needs nothing but the package, and files beside it. */
function isPublic(file: string): boolean {
  // The documentation and the sources of the repository are not there.
  if (/docs\/|['"]lib\b|typescript\b|README/.test(readFileSync(join(root, file), 'utf8')))
    return false;
  return [...importsOf(file)].every((target) => PACKAGES.test(target));
}

const SPECS = globSync(`spec/${FOLDERS}/**/*.spec.ts`, { cwd: root }).filter(isPublic).sort();

const CONFIG = `
export default {
  root: import.meta.dirname,
  test: {
    include: ['spec/**/*.spec.ts'],
    setupFiles: ['spec/support/setup.ts'],
    testTimeout: 120_000,
    maxWorkers: 2,
  },
};
`;

let project: Project;
beforeAll(async () => {
  project = await createProject();
  const isText = (path: string) =>
    !/node_modules|generated-examples|tsconfig\.json$|\/bin\//.test(path);
  cpSync(join(root, 'spec'), join(project.folder, 'spec'), { recursive: true, filter: isText });
  mkdirSync(join(project.folder, 'results'));
  writeFileSync(join(project.folder, 'vitest.config.mjs'), CONFIG);
});
afterAll(() => project?.[Symbol.dispose]());

const VITEST = {
  Node: [],
  // Without it, Bun would start Node, which the first line of the file names.
  Bun: ['--bun'],
  Deno: ['run', '--allow-all'],
} as const satisfies Record<RuntimeName, readonly string[]>;

interface Results {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

async function resultsIn(runtime: RuntimeName): Promise<Results> {
  const file = join('results', `${runtime}.json`);
  const command = [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--reporter=json',
    '--outputFile',
    file,
  ];
  const args = [...VITEST[runtime], ...command, ...SPECS];
  const { stdout, stderr } = await run(RUNTIMES[runtime].command, args, project.folder);
  const path = join(project.folder, file);
  if (!existsSync(path)) throw new Error(`${runtime}: ${stdout}${stderr}`);
  return JSON.parse(readFileSync(path, 'utf8'));
}

it.each(NAMES)(
  'T41: the specs of the stages pass in %s',
  { timeout: 1_200_000 },
  async (runtime) => {
    const { testResults } = await resultsIn(runtime);
    const known = KNOWN.filter((each) => each.runtime === runtime);
    const excused = new Set<string>();
    let passed = 0;
    const failures: string[] = [];
    for (const { name, message, assertionResults } of testResults) {
      if (assertionResults.length === 0) failures.push(`${name}: ${message}`);
      for (const { status, fullName } of assertionResults) {
        if (status === 'passed') passed++;
        if (status !== 'failed') continue;
        const reason = known.find((each) => name.endsWith(each.file) && each.test.test(fullName));
        if (reason === undefined) failures.push(`${name}: ${fullName}`);
        else excused.add(reason.file);
      }
    }
    process.stderr.write(`${runtime}: ${passed} tests of ${testResults.length} specs passed\n`);
    expect(failures).toEqual([]);
    expect(testResults).toHaveLength(SPECS.length);
    expect(passed).toBeGreaterThan(800);
    expect([...excused].sort()).toEqual(known.map(({ file }) => file).sort());
  },
);
