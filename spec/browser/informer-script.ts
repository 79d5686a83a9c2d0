/** Bundles the script of a test page, with its imports, into one file. */
import { fileURLToPath } from 'node:url';
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
