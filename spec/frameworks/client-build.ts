/**
 * Builds a module as for a browser. Svelte and Solid have another build for servers, without reactivity, and Node would import that one.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin, transform } from 'esbuild';
import { compileModule } from 'svelte/compiler';

const runes: Plugin = {
  name: 'svelte-modules',
  setup({ onLoad }) {
    onLoad({ filter: /\.svelte\.ts$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, 'utf8'), {
        loader: 'ts',
        target: 'esnext',
      });
      return { contents: compileModule(code, { filename: path, generate: 'client' }).js.code };
    });
  },
};

export async function importForBrowser<M>(file: string): Promise<M> {
  const folder = await mkdtemp(join(tmpdir(), 'client-build-'));
  const outfile = join(folder, 'page.mjs');
  try {
    await build({
      entryPoints: [fileURLToPath(new URL(file, import.meta.url))],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'neutral',
      conditions: ['browser', 'production'],
      mainFields: ['module', 'main'],
      plugins: [runes],
    });
    return (await import(/* @vite-ignore */ pathToFileURL(outfile).href)) as M;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
