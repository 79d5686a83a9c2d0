/** The configuration of the long form of the query tests: a million events over random pipelines. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../../..', import.meta.url)),
  resolve: { conditions: ['rx-informer-source'] },
  ssr: { resolve: { conditions: ['rx-informer-source'] } },
  test: {
    include: ['spec/query/long/*.long.ts'],
    reporters: [
      'default',
      fileURLToPath(new URL('../../support/closing-line.ts', import.meta.url)),
    ],
    // One for each share.
    maxWorkers: 2,
    testTimeout: 3_600_000,
  },
});
