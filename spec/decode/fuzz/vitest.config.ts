/** The configuration of the fuzz test of the decoders. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../../..', import.meta.url)),
  resolve: { conditions: ['rx-informer-source'] },
  ssr: { resolve: { conditions: ['rx-informer-source'] } },
  test: {
    include: ['spec/decode/fuzz/*.fuzz.ts'],
    reporters: [
      'default',
      fileURLToPath(new URL('../../support/closing-line.ts', import.meta.url)),
    ],
    testTimeout: 3_600_000,
  },
});
