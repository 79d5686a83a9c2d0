/** Runs before each spec over sources with counters: writes the ids of the mutants whose places the tests run. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';

/** What the counters of StrykerJS share. */
interface Counters {
  currentTestId?: string | undefined;
  mutantCoverage?: { static: Ids; perTest: Record<string, Ids> };
}
type Ids = Record<string, number>;

const scope = globalThis as { __stryker__?: Counters };
scope.__stryker__ ??= {};
const counters = scope.__stryker__;
const folder = process.env['MUTATION_COVERED'] as string;

beforeAll(() => {
  counters.currentTestId = expect.getState().testPath;
});

afterAll(() => {
  const path = counters.currentTestId ?? '';
  counters.currentTestId = undefined;
  const { static: loaded = {}, perTest = {} } = counters.mutantCoverage ?? {};
  const covered = { path, tests: Object.keys(perTest[path] ?? {}), loaded: Object.keys(loaded) };
  const name = path.replaceAll('/', '+');
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(covered));
});
