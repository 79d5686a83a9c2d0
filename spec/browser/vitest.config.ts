/** The configuration of the browser suite: the dashboard, and informers in pages, in Chromium. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { TEST_HANG_MS } from '../support/patience.ts';

const shared = {
  root: fileURLToPath(new URL('../..', import.meta.url)),
  resolve: { conditions: ['rx-informer-source'] },
  ssr: { resolve: { conditions: ['rx-informer-source'] } },
};

/** They measure the page, so nothing else runs beside them, and no gate runs them. */
const NIGHT = 'spec/browser/**/*.night.ts';

const test = {
  setupFiles: [fileURLToPath(new URL('../support/setup.ts', import.meta.url))],
  testTimeout: TEST_HANG_MS,
  hookTimeout: TEST_HANG_MS,
  // The Vite configurations of the documentation import the library.
  execArgv: ['--conditions=rx-informer-source'],
};

export default defineConfig({
  ...shared,
  test: {
    reporters: ['default', fileURLToPath(new URL('../support/closing-line.ts', import.meta.url))],
    projects: [
      {
        ...shared,
        test: {
          ...test,
          name: 'beside each other',
          include: ['spec/browser/**/*.browser.ts'],
          // Many tests wait for turns and timers, so more run than there are cores.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        ...shared,
        test: {
          ...test,
          name: 'night',
          include: [NIGHT],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
