/** The suite of faults: seeds, a judge, and nothing that is allowed to be lost. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  resolve: { conditions: ['rx-informer-source'] },
  ssr: { resolve: { conditions: ['rx-informer-source'] } },
  test: {
    include: ['spec/faults/**/*.faults.ts'],
    reporters: ['default', fileURLToPath(new URL('../support/closing-line.ts', import.meta.url))],
    // The nightly form is ten times as long.
    testTimeout: 3_600_000,
  },
});
