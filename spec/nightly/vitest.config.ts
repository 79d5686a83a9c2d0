/** The configuration of the offline tests that measure: clocks, heaps and processors decide them, so that no gate runs them. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { TEST_HANG_MS } from '../support/patience.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here('../..'),
  resolve: { conditions: ['rx-informer-source'] },
  ssr: { resolve: { conditions: ['rx-informer-source'] } },
  test: {
    include: ['spec/**/*.night.{ts,tsx}'],
    // These have servers or pages, and projects of their own.
    exclude: ['spec/{e2e,nats,browser}/**'],
    setupFiles: [here('../support/setup.ts'), here('../support/load-guards.ts')],
    globalSetup: [here('../support/temporary-folder.ts')],
    reporters: ['default', here('../support/closing-line.ts')],
    maxWorkers: 1,
    testTimeout: TEST_HANG_MS,
    hookTimeout: TEST_HANG_MS,
  },
});
