/**
 * How Vite builds the page. The library is imported by its package name, as an application would, and resolved to its
 * sources.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defaultClientConditions, defineConfig, type Plugin } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const users = here('page/users.html');

/** The page where users sign in, which differs by its script. */
const usersPage: Plugin = {
  name: 'users.html',
  resolveId: (id) => (id === users ? id : null),
  load: (id) =>
    id === users
      ? readFileSync(here('page/index.html'), 'utf8').replace('main.tsx', 'users/main.ts')
      : null,
};

export default defineConfig({
  root: here('page'),
  base: './',
  plugins: [usersPage, react()],
  // The library loads some of its code later.
  worker: { format: 'es' },
  resolve: { conditions: ['rx-informer-source', ...defaultClientConditions] },
  build: {
    outDir: here('../../node_modules/.cache/rx-informer/dashboard'),
    emptyOutDir: true,
    target: 'es2023',
    // These browsers support `light-dark()`. Rewriting it for older ones would lose the page's own variables.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // A data: URL would need an exception in the page's policy for scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1500,
    // One file of what most parts share compresses better than a file for each set of parts that share it.
    rolldownOptions: {
      input: [here('page/index.html'), users],
      output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 6 }] } },
    },
  },
});
