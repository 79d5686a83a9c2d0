/** How the page is built. The library is taken from its sources, as the page's users would take the package. */
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defaultClientConditions, defineConfig } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here('page'),
  base: './',
  plugins: [react()],
  resolve: { conditions: ['rx-informer-source', ...defaultClientConditions] },
  build: {
    outDir: here('../../node_modules/.cache/rx-informer/dashboard'),
    emptyOutDir: true,
    target: 'es2023',
    // They know `light-dark()`: rewritten for older ones it would lose the page's own variables.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // A data: URL would need a hole in the policy for scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1500,
  },
});
