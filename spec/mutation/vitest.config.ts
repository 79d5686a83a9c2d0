/**
 * The configuration for the specs that test the mutants of one stage. `MUTATION_SPECS` holds their folders, separated
 * by commas.
 */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const folders = (process.env['MUTATION_SPECS'] ?? '').split(',');

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  resolve: { conditions: ['rx-informer-source'] },
  ssr: { resolve: { conditions: ['rx-informer-source'] } },
  test: {
    include: folders.map((folder) => `spec/${folder}/**/*.spec.ts`),
    exclude: ['node_modules/**'],
    setupFiles: ['setup', 'load-guards'].map((name) =>
      fileURLToPath(new URL(`../support/${name}.ts`, import.meta.url)),
    ),
    testTimeout: 60_000,
  },
});
