/** The configuration of the budgets of bundles, which `npm run check` runs. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { TEST_HANG_MS } from '../support/patience.ts';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  resolve: { conditions: ['rx-informer-source'] },
  ssr: { resolve: { conditions: ['rx-informer-source'] } },
  test: {
    include: ['spec/weight/**/*.spec.ts'],
    reporters: ['default', fileURLToPath(new URL('../support/closing-line.ts', import.meta.url))],
    testTimeout: TEST_HANG_MS,
  },
});
