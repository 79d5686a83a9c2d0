/** Runs a function of a test over sources in which one line was changed, to show that the test finds it. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = `${root}.cache/planted/`;

/** A change of one line of a source. */
export interface PlantedFault {
  readonly file: string;
  /** Text that occurs once in the file. */
  readonly from: string;
  readonly to: string;
}

/** Imports a module of the tests, with all sources that it imports, after the change. */
export async function withFault<M>(
  module: string,
  { file, from, to }: PlantedFault,
  at: number,
): Promise<M> {
  const path = `${root}${file}`;
  const text = readFileSync(path, 'utf8');
  if (text.split(from).length !== 2) throw new Error(`${file} does not contain once: ${from}`);
  mkdirSync(folder, { recursive: true });
  const outfile = `${folder}${process.pid}-${at}.mjs`;
  await build({
    entryPoints: [`${root}${module}`],
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    conditions: ['rx-informer-source'],
    outfile,
    logLevel: 'silent',
    alias: {
      'rx-informer': `${root}lib/index.ts`,
      'rx-informer/resources': `${root}lib/resources/index.ts`,
      'rx-informer/testing': `${root}lib/testing/index.ts`,
      'rx-informer/node': `${root}lib/node/index.ts`,
    },
    plugins: [
      {
        name: 'planted fault',
        setup: ({ onLoad }) => {
          onLoad({ filter: /\.ts$/ }, (loaded) =>
            loaded.path === path
              ? { contents: text.replace(from, () => to), loader: 'ts' }
              : undefined,
          );
        },
      },
    ],
  });
  try {
    return (await import(pathToFileURL(outfile).href)) as M;
  } finally {
    rmSync(outfile);
  }
}
