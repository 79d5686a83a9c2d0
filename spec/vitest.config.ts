/**
 * The configuration of the offline suite: all specs that need neither a real API server nor a browser. `npm test` runs the
 * projects whose names begin with `fast`, and `npm run test:slow` those of `slow.txt`. Most files share the modules of
 * their worker, which halves the CPU time. A file whose text touches a global has modules of its own.
 */
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { leftToPacked } from './packed/conformance/outside-specs.ts';
import { IsolatedFirst } from './support/file-orders.ts';
import { leftToNight } from './support/gate.ts';
import { TEST_HANG_MS } from './support/patience.ts';
import { SLOW } from './support/slow-specs.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** What only a file with modules of its own may contain; a file that measures the heap needs one without others' garbage. */
const TOUCHES_GLOBALS =
  /stubGlobal|resetModules|stubEnv|useFakeTimers|vi\.mock|vi\.spyOn\((?:console|process|globalThis|performance|Math|Date)|globalThis\.|process\.on|process\.env|@vitest-environment|from 'react'|mini-dom|leaves-nothing|memoryUsage|heapMb|heapUsed|setFlagsFromString|getActiveResourcesInfo|CLOCKS/;

/** The examples of the documentation leave informers and timers behind, as programs do that end afterwards. */
const LEAVES_RUNNING = /^spec\/generated-examples\//;

const specs = globSync('spec/**/*.spec.{ts,tsx}', { cwd: root }).filter(
  (file) => !/^spec\/(?:e2e|browser|frameworks|weight)\//.test(file),
);
const isolated = specs.filter(
  (file) =>
    LEAVES_RUNNING.test(file) || TOUCHES_GLOBALS.test(readFileSync(`${root}${file}`, 'utf8')),
);

const shared = {
  root,
  resolve: { conditions: ['rx-informer-source'] },
  ssr: { resolve: { conditions: ['rx-informer-source'] } },
};

const test = {
  // The processes that tests start load the same sources again and again.
  env: { NODE_COMPILE_CACHE: here('../node_modules/.cache/compiled') },
  setupFiles: [here('./support/setup.ts'), here('./support/load-guards.ts')],
  testTimeout: TEST_HANG_MS,
  hookTimeout: TEST_HANG_MS,
};

const isPacked = leftToPacked(root);
const isElsewhere = (file: string) => isPacked(file) || leftToNight.includes(file);

/** Two projects for some of the specs. */
function projects(name: string, isIncluded: (file: string) => boolean) {
  const included = specs.filter(isIncluded);
  const own = included.filter((file) => isolated.includes(file));
  const others = included.filter((file) => !isolated.includes(file));
  return [
    {
      ...shared,
      test: { ...test, name: `${name}, shared modules`, include: others, isolate: false },
    },
    { ...shared, test: { ...test, name: `${name}, own modules`, include: own } },
  ];
}

export default defineConfig({
  ...shared,
  test: {
    globalSetup: [here('./support/temporary-folder.ts')],
    reporters: ['default', here('./support/closing-line.ts')],
    // Many specs wait for sockets and processes, so one worker per core would leave cores idle.
    maxWorkers: Math.max(2, availableParallelism() + 1),
    // A file must not depend on the files before it, so their order is random, and another one every night.
    sequence: {
      shuffle: { files: true },
      seed: Number(process.env['RANDOM_SEED'] ?? 1),
      sequencer: IsolatedFirst,
    },
    projects: [
      ...projects('fast', (file) => !SLOW.includes(file)),
      ...projects('slow', (file) => SLOW.includes(file) && !isElsewhere(file)),
    ],
  },
});
