/** The configuration of the fault suite: random faults by seed, and a judge that allows no loss. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  resolve: { conditions: ['rx-informer-source'] },
  ssr: { resolve: { conditions: ['rx-informer-source'] } },
  test: {
    setupFiles: [fileURLToPath(new URL('../support/load-guards.ts', import.meta.url))],
    include: ['spec/faults/**/*.faults.ts'],
    reporters: ['default', fileURLToPath(new URL('../support/closing-line.ts', import.meta.url))],
    // The nightly run takes ten times as long.
    testTimeout: 3_600_000,
  },
});
