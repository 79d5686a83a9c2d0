/** The configuration of the end-to-end suite, which runs against a real kube-apiserver. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { TEST_HANG_MS } from '../support/patience.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** They start many processes, so nothing else runs beside them. */
const ALONE = ['spec/e2e/sample-controller.e2e.ts', 'spec/e2e/shard-ring.e2e.ts'];

const shared = {
  root: here('../..'),
  resolve: { conditions: ['rx-informer-source'] },
  ssr: { resolve: { conditions: ['rx-informer-source'] } },
};

const test = {
  globalSetup: [here('./global-setup.ts')],
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
          include: ['spec/e2e/**/*.e2e.ts'],
          exclude: ALONE,
          // Most of these tests wait: for a timeout, an expiry or a period. So more run than there are cores.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        ...shared,
        test: {
          ...test,
          name: 'alone',
          include: ALONE,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        ...shared,
        test: {
          ...test,
          // Files that load the server as much as the machine sustains, or measure it.
          name: 'night',
          include: ['spec/e2e/**/*.night.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
