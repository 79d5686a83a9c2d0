/** What users install: the packed library in projects of its consumers. Needs the registry. `npm run test:packed` */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['spec/packed/**/*.packed.ts'],
    reporters: ['default', fileURLToPath(new URL('../support/closing-line.ts', import.meta.url))],
    testTimeout: 120_000,
    hookTimeout: 300_000,
    // Each test is a process or two.
    maxConcurrency: 2,
  },
});
