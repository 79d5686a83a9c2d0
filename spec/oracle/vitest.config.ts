/** The oracle: client-go beside ours, on the same servers and scripts. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here('../..'),
  resolve: { conditions: ['rx-informer-source'] },
  ssr: { resolve: { conditions: ['rx-informer-source'] } },
  test: {
    include: ['spec/oracle/**/*.oracle.ts'],
    globalSetup: [here('./global-setup.ts')],
    reporters: ['default', here('../support/closing-line.ts')],
    // client-go waits 800 ms and longer before it lists anew: many seeds wait at once.
    maxConcurrency: 80,
    testTimeout: 120_000,
  },
});
