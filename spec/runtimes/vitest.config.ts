/**
 * The configuration of the suite that runs the packed library in Bun and Deno. It needs the npm registry and the packages of
 * `.suites/runtimes`. Run it with `npm run test:runtimes`.
 */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  // The servers of the suite are not packed.
  resolve: { conditions: ['rx-informer-source'] },
  ssr: { resolve: { conditions: ['rx-informer-source'] } },
  test: {
    include: ['spec/runtimes/**/*.runtime.ts'],
    reporters: ['default', fileURLToPath(new URL('../support/closing-line.ts', import.meta.url))],
    testTimeout: 120_000,
    hookTimeout: 300_000,
    fileParallelism: false,
  },
});
