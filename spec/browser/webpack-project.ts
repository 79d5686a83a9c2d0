/** Builds a project with webpack 5, as its users do: an entry, and a loader for TypeScript. */
import { rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { preview } from 'vite';
import webpack from 'webpack';
import type { RunningProject } from './vite-project.ts';

const loader = fileURLToPath(new URL('typescript-loader.cjs', import.meta.url));

/** Builds `src/ENTRY` of a project with webpack, and serves it with the proxy of its Vite configuration. */
export async function publishByWebpack(root: string, entry: string): Promise<RunningProject> {
  const outDir = `${root}dist-webpack`;
  await rm(outDir, { recursive: true, force: true });
  const compiler = webpack({
    mode: 'production',
    context: root,
    entry: `./src/${entry}`,
    output: { path: outDir, publicPath: '/' },
    resolve: { conditionNames: ['rx-informer-source', '...'] },
    module: { rules: [{ test: /\.tsx?$/, use: loader }] },
  });
  await new Promise<void>((resolve, reject) => {
    compiler.run((error, stats) => {
      if (error === null && stats?.hasErrors() === false) resolve();
      else reject(error ?? new Error(stats?.toString('errors-only')));
    });
  });
  await new Promise((resolve) => compiler.close(resolve));
  const page = '<!doctype html><link rel="icon" href="data:," /><div id="root"></div>';
  await writeFile(`${outDir}/index.html`, `${page}<script src="/main.js"></script>`);
  const vite = await preview({
    root,
    configLoader: 'native',
    logLevel: 'error',
    build: { outDir },
    preview: { port: 0, host: '127.0.0.1' },
  });
  const url = vite.resolvedUrls?.local[0] ?? '';
  return { url, [Symbol.asyncDispose]: () => vite.close() };
}
