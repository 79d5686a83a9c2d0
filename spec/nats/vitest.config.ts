/** The configuration of the NATS suite, which runs against a real nats-server. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  resolve: { conditions: ['rx-informer-source'] },
  ssr: { resolve: { conditions: ['rx-informer-source'] } },
  test: {
    include: ['spec/nats/**/*.nats.ts'],
    reporters: ['default', fileURLToPath(new URL('../support/closing-line.ts', import.meta.url))],
    setupFiles: [fileURLToPath(new URL('../support/setup.ts', import.meta.url))],
    expect: { poll: { timeout: 20_000 } },
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
