/** Bundles `scenarios.ts` for a page, with one of the versions of React. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const VERSIONS = {
  '18.3': here('../../react/react-18/node_modules'),
  '19': here('../../../node_modules'),
} as const;

export type ReactVersion = keyof typeof VERSIONS;

export async function reactScript(version: ReactVersion): Promise<string> {
  const packages = VERSIONS[version];
  const built = await build({
    entryPoints: [here('scenarios.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    jsx: 'automatic',
    conditions: ['rx-informer-source'],
    alias: { react: `${packages}/react`, 'react-dom': `${packages}/react-dom` },
    // StrictMode mounts twice in development only.
    define: { 'process.env.NODE_ENV': '"development"' },
    logLevel: 'warning',
  });
  return built.outputFiles[0]?.text ?? '';
}
