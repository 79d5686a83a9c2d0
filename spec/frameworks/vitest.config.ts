/** The configuration of the suite for user-interface frameworks. It needs the packages of `.suites`. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { TEST_HANG_MS } from '../support/patience.ts';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  resolve: { conditions: ['rx-informer-source'] },
  ssr: { resolve: { conditions: ['rx-informer-source'] } },
  test: {
    include: ['spec/frameworks/**/*.spec.ts'],
    reporters: ['default', fileURLToPath(new URL('../support/closing-line.ts', import.meta.url))],
    testTimeout: TEST_HANG_MS,
  },
});
