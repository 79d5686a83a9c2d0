/** The configuration of the NATS suite, which runs against a real nats-server. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Many readers load the machine, so nothing else runs beside them. */
const ALONE = ['spec/nats/acceptance/**'];

const shared = {
  root: here('../..'),
  resolve: { conditions: ['rx-informer-source'] },
  ssr: { resolve: { conditions: ['rx-informer-source'] } },
};

const test = {
  setupFiles: [here('../support/setup.ts')],
  expect: { poll: { timeout: 20_000 } },
  testTimeout: 120_000,
  hookTimeout: 120_000,
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
          exclude: ALONE,
          // Most of these tests wait for heartbeats and expiries. Each has servers of its own.
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        ...shared,
        test: {
          ...test,
          name: 'alone',
          include: ALONE.map((folder) => `${folder}/*.nats.ts`),
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
