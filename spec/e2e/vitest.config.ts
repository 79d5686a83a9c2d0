/** The configuration of the end-to-end suite, which runs against a real kube-apiserver. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here('../..'),
  resolve: { conditions: ['rx-informer-source'] },
  ssr: { resolve: { conditions: ['rx-informer-source'] } },
  test: {
    include: ['spec/e2e/**/*.e2e.ts'],
    globalSetup: [here('./global-setup.ts')],
    reporters: ['default', here('../support/closing-line.ts')],
    // One server at a time, because each takes up to a gigabyte of memory.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
