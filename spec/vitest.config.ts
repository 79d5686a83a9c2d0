/** The configuration of the offline suite: all specs that need neither a real API server nor a browser. */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  resolve: { conditions: ['rx-informer-source'] },
  ssr: { resolve: { conditions: ['rx-informer-source'] } },
  test: {
    include: ['spec/**/*.spec.ts', 'spec/**/*.spec.tsx'],
    exclude: ['spec/e2e/**', 'spec/browser/**', 'node_modules/**'],
    reporters: ['default', fileURLToPath(new URL('./support/closing-line.ts', import.meta.url))],
    testTimeout: 20_000,
    // Many specs wait for sockets and processes, so one worker per core would leave cores idle.
    maxWorkers: Math.max(2, availableParallelism() + 1),
  },
});
