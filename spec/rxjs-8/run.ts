/**
 * Runs the stages and the live queries with RxJS 8, a pre-release that the package does not accept as its peer.
 *
 *   npm run test:rxjs-8
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly name: string;
    readonly assertionResults: readonly { readonly status: string; readonly title: string }[];
  }[];
}

const FOLDERS = [
  ...['rx', 'work-queue', 'list-watch', 'reflector', 'delta', 'store', 'audit', 'informer'],
  ...['query', 'election', 'factory', 'controller'],
].map((folder) => `spec/${folder}/`);

const root = fileURLToPath(new URL('../..', import.meta.url));
const cache = join(root, '.cache');
mkdirSync(cache, { recursive: true });
const file = join(cache, 'rxjs-8.json');
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const config = join(root, 'spec/rxjs-8/vitest.config.ts');
// A busy machine may need longer than the offline suite allows.
const limit = '--testTimeout=600000';
const options = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`, limit];
spawnSync(process.execPath, [vitest, 'run', '--config', config, ...options, ...FOLDERS], {
  cwd: root,
  stdio: 'inherit',
});

const { numPassedTests, testResults } = JSON.parse(readFileSync(file, 'utf8')) as Report;
const failed = testResults.flatMap(({ status, name, assertionResults }) => {
  const tests = assertionResults.filter((test) => test.status === 'failed');
  // A file that does not load has no tests.
  return tests.length === 0 && status === 'failed' ? [name] : tests.map(({ title }) => title);
});
for (const title of failed) console.log(`FAIL ${title}`);
console.log(`RxJS 8: ${numPassedTests} passed, ${failed.length} failed`);
process.exitCode = failed.length > 0 || numPassedTests === 0 ? 1 : 0;
