/** Bundles the script of a test page, with its imports, into one file. */
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as esbuild } from 'esbuild';
import { build } from 'vite';

export async function informerScript(entry = 'informer-page.ts'): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'warn',
    resolve: { conditions: ['rx-informer-source', 'browser', 'module', 'import', 'default'] },
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      write: false,
      lib: {
        entry: fileURLToPath(new URL(entry, import.meta.url)),
        formats: ['iife'],
        name: 'bundle',
      },
    },
  });
  const [bundle] = [built].flat();
  if (bundle === undefined || !('output' in bundle)) throw new Error('Vite built nothing');
  return bundle.output[0].code;
}

/** Bundles the same script with code splitting: the files by name, of which `main.js` is the first one. */
export async function informerFiles(): Promise<ReadonlyMap<string, string>> {
  const { outputFiles } = await esbuild({
    entryPoints: { main: fileURLToPath(new URL('informer-page.ts', import.meta.url)) },
    ...{ bundle: true, splitting: true, format: 'esm', write: false, outdir: 'out' },
    chunkNames: '[name]-[hash]',
    conditions: ['rx-informer-source'],
  });
  return new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
}
