/** The configuration of the oracle, which runs client-go and this library on the same servers and scripts. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { TEST_HANG_MS } from '../support/patience.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here('../..'),
  resolve: { conditions: ['rx-informer-source'] },
  ssr: { resolve: { conditions: ['rx-informer-source'] } },
  test: {
    setupFiles: [here('../support/load-guards.ts')],
    include: ['spec/oracle/**/*.oracle.ts'],
    globalSetup: [here('./global-setup.ts')],
    reporters: ['default', here('../support/closing-line.ts')],
    // Many seeds run concurrently, because client-go waits 800 ms or longer before it relists.
    maxConcurrency: 80,
    testTimeout: TEST_HANG_MS,
  },
});
