/**
 * The configuration of the suite for the packed library, which installs it in projects of consumers. It needs the npm
 * registry. Run it with `npm run test:packed`.
 */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { TEST_HANG_MS } from '../support/patience.ts';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  // The fake server and the expectations of the suite are not packed.
  resolve: { conditions: ['rx-informer-source'] },
  ssr: { resolve: { conditions: ['rx-informer-source'] } },
  test: {
    include: ['spec/packed/**/*.packed.ts'],
    // The library is packed and installed once.
    globalSetup: [fileURLToPath(new URL('./consumer.ts', import.meta.url))],
    reporters: ['default', fileURLToPath(new URL('../support/closing-line.ts', import.meta.url))],
    testTimeout: TEST_HANG_MS,
    hookTimeout: TEST_HANG_MS,
    // Each test starts one or two processes.
    maxConcurrency: 2,
  },
});
