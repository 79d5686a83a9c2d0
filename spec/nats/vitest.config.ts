/** The configuration of the NATS suite, which runs against a real nats-server. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { TEST_HANG_MS } from '../support/patience.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const shared = {
  root: here('../..'),
  resolve: { conditions: ['rx-informer-source'] },
  ssr: { resolve: { conditions: ['rx-informer-source'] } },
};

const test = {
  setupFiles: [here('../support/setup.ts')],
  testTimeout: TEST_HANG_MS,
  hookTimeout: TEST_HANG_MS,
};

export default defineConfig({
  ...shared,
  test: {
    reporters: ['default', here('../support/closing-line.ts')],
    projects: [
      {
        ...shared,
        test: {
          ...test,
          name: 'beside each other',
          include: ['spec/nats/**/*.nats.ts'],
          // Most of these tests wait for heartbeats and expiries. Each has servers of its own.
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        ...shared,
        test: {
          ...test,
          // Many readers, which load the machine, and limits in seconds.
          name: 'night',
          include: ['spec/nats/**/*.night.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
