/** The configuration for some specs of the offline suite, in a given order and with one worker: `run-specs.ts`. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import suite from '../vitest.config.ts';
import { RunReporter } from './run-reporter.ts';
import type { RunRequest } from './run-specs.ts';

interface Project {
  readonly test: { readonly include: readonly string[]; readonly setupFiles: readonly string[] };
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const request: RunRequest = JSON.parse(
  readFileSync(process.env['MUTATION_REQUEST'] as string, 'utf8'),
);
const order = new Map(request.asked.map(({ spec }, at) => [`${root}${spec}`, at]));

class GivenOrder extends BaseSequencer {
  override async sort(specs: TestSpecification[]): Promise<TestSpecification[]> {
    const at = ({ moduleId }: TestSpecification) => order.get(moduleId) ?? order.size;
    return [...specs].sort((one, other) => at(one) - at(other));
  }
}

const recorder = fileURLToPath(new URL('record-covered.setup.ts', import.meta.url));
const projects = ((suite.test?.projects ?? []) as unknown as readonly Project[])
  .map(({ test, ...project }) => ({
    ...project,
    test: {
      ...test,
      include: test.include.filter((file) => order.has(`${root}${file}`)),
      setupFiles: [...test.setupFiles, ...(request.covered === undefined ? [] : [recorder])],
      fsModuleCache: true,
      fsModuleCachePath: `${root}.cache/modules`,
    },
  }))
  .filter(({ test }) => test.include.length > 0);

export default defineConfig({
  root,
  test: {
    projects,
    reporters: [new RunReporter(request, root)],
    maxWorkers: 1,
    bail: request.covered === undefined ? 1 : 0,
    sequence: { sequencer: GivenOrder },
  },
});
