/** The configuration of the suite for the documentation site. It needs the packages of `.suites`, and the built site. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here('../..'),
  resolve: { conditions: ['rx-informer-source'] },
  ssr: { resolve: { conditions: ['rx-informer-source'] } },
  test: {
    reporters: ['default', here('../support/closing-line.ts')],
    setupFiles: [here('../support/setup.ts')],
    include: ['spec/site/**/*.browser.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
