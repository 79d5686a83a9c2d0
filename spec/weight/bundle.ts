/** Bundles sources of the library as an application would, and measures the result. */
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { type BuildOptions, type BuildResult, build, type Plugin } from 'esbuild';

export const root: string = fileURLToPath(new URL('../..', import.meta.url));

const settings = {
  bundle: true,
  minify: true,
  splitting: true,
  outdir: 'out',
  format: 'esm',
  target: 'es2023',
  write: false,
  metafile: true,
} satisfies BuildOptions;

type Built = BuildResult<typeof settings>;

/** The files that are loaded before anything runs: the entry and its imports, without those of `import()`. */
function initialFiles({ metafile: { outputs } }: Built): string[] {
  const files = Object.keys(outputs).filter((file) => outputs[file]?.entryPoint === '<stdin>');
  for (const file of files) {
    for (const { path, kind, external } of outputs[file]?.imports ?? []) {
      if (kind === 'import-statement' && !external && !files.includes(path)) files.push(path);
    }
  }
  return files;
}

/** The text of a bundle of these names. */
export async function bundleText(names: string, entry = 'lib/index.ts'): Promise<string> {
  const { outputFiles } = await build({
    ...settings,
    stdin: { contents: `export { ${names} } from './${entry}';`, resolveDir: root },
    external: ['react', 'rxjs', 'rxjs/*', '@nats-io/*'],
  });
  return outputFiles.map(({ text }) => text).join('');
}

/** The download size: minified, then compressed with brotli, without react, rxjs and the NATS client. */
export async function bundleSize(names: string, entry = 'lib/index.ts'): Promise<number> {
  const built: Built = await build({
    ...settings,
    stdin: { contents: `export { ${names} } from './${entry}';`, resolveDir: root },
    external: ['react', 'rxjs', 'rxjs/*', '@nats-io/*'],
  });
  const initial = initialFiles(built);
  const counted = built.outputFiles.filter(({ path }) =>
    initial.some((file) => path.endsWith(file)),
  );
  return counted.reduce((sum, { contents }) => sum + brotliCompressSync(contents).length, 0);
}

/**
 * The statements that these modules leave in a bundle although nothing is imported from them. The package's
 * `sideEffects: false` is ignored, because it does not help a user whose bundler reads a bundled file.
 */
export async function effectsOf(modules: readonly string[]): Promise<string> {
  const effectful: Plugin = {
    name: 'modules may have side effects, packages have none',
    setup: ({ onResolve }) => {
      onResolve({ filter: /^/ }, ({ path, kind, resolveDir }) => {
        const isPackage = !path.startsWith('.');
        if (isPackage || kind === 'dynamic-import') return { external: true, sideEffects: false };
        return { path: fileURLToPath(new URL(path, `file://${resolveDir}/`)), sideEffects: true };
      });
    },
  };
  const { outputFiles } = await build({
    ...settings,
    minify: false,
    stdin: {
      contents: modules.map((module) => `import './${module}';`).join('\n'),
      resolveDir: root,
    },
    plugins: [effectful],
  });
  return outputFiles.map(({ text }) => text).join('');
}
