/** Bundles the built modules of the library, which npm packs, as an application would, and measures the result. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { type BuildOptions, type BuildResult, build, type Plugin } from 'esbuild';

export const root: string = fileURLToPath(new URL('../..', import.meta.url));

const EXPORTS: Readonly<Record<string, { readonly default: string }>> = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).exports;

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

/**
 * The files that the entry loads: by static imports, before anything runs, or also by those of `import()`. esbuild writes
 * files for each `import()`, even of a module that the bundle does not contain.
 */
function loadedFiles({ metafile: { outputs } }: Built, kinds: readonly string[]): string[] {
  const files = Object.keys(outputs).filter((file) => outputs[file]?.entryPoint === '<stdin>');
  for (const file of files) {
    for (const { path, kind, external } of outputs[file]?.imports ?? []) {
      if (kinds.includes(kind) && !external && !files.includes(path)) files.push(path);
    }
  }
  return files;
}

const STATIC = ['import-statement'];
const ALL = [...STATIC, 'dynamic-import'];

/** What an application imports: the names by entry of the package, as `{ '.': 'createClient', './react': 'useList' }`. */
export type Imports = Readonly<Record<string, string>>;

/** The file of an entry of the package that bundlers read, as its `exports` say. */
function fileOf(entry: string): string {
  const conditions = EXPORTS[entry];
  if (conditions === undefined) throw new Error(`the package has no entry ${entry}`);
  return conditions.default;
}

/**
 * Modules that a bundler may read first. It names variables in the order of the modules, also of those that are in no file, and
 * the names change the compressed size by up to 110 bytes.
 */
const ORDERS = [
  '',
  'store/commit/committer.js',
  'meta/label-selector.js',
  'transport/kube-client.js',
];

function bundle(imports: Imports, first = ''): Promise<Built> {
  const contents = Object.entries(imports).map(
    ([entry, names]) => `export { ${names} } from '${fileOf(entry)}';`,
  );
  return build({
    ...settings,
    stdin: {
      contents: `${first === '' ? '' : `import './dist/modules/${first}';\n`}${contents.join('\n')}`,
      resolveDir: root,
    },
    // Nothing is imported from the first module.
    logOverride: { 'ignored-bare-import': 'silent' },
    external: ['react', 'rxjs', 'rxjs/*', '@nats-io/*'],
    define: { 'process.env.NODE_ENV': '"production"' },
  });
}

/** The text of all files of a bundle. */
export async function bundleText(imports: Imports): Promise<string> {
  const built = await bundle(imports);
  const files = loadedFiles(built, ALL);
  const loaded = built.outputFiles.filter(({ path }) => files.some((file) => path.endsWith(file)));
  return loaded.map(({ text }) => text).join('');
}

/** Download sizes in bytes: minified, then compressed with brotli, without react, rxjs and the NATS client. */
export interface Size {
  /** The files that are loaded before anything runs. */
  readonly initial: number;
  /** These, and the files that `import()` loads. */
  readonly all: number;
}

/** The smallest size in several orders of the modules; the first order that keeps to the limit ends the search. */
export async function bundleSize(
  imports: Imports,
  limit: Size = { initial: Number.POSITIVE_INFINITY, all: Number.POSITIVE_INFINITY },
): Promise<Size> {
  let least = limit;
  for (const [at, first] of ORDERS.entries()) {
    const size = await sizeIn(imports, first);
    least =
      at === 0
        ? size
        : { initial: Math.min(least.initial, size.initial), all: Math.min(least.all, size.all) };
    if (least.initial <= limit.initial && least.all <= limit.all) break;
  }
  return least;
}

async function sizeIn(imports: Imports, first: string): Promise<Size> {
  const built = await bundle(imports, first);
  const sizeOf = (kinds: readonly string[]) => {
    const files = loadedFiles(built, kinds);
    const loaded = built.outputFiles.filter(({ path }) =>
      files.some((file) => path.endsWith(file)),
    );
    return loaded.reduce((sum, { contents }) => sum + brotliCompressSync(contents).length, 0);
  };
  return { initial: sizeOf(STATIC), all: sizeOf(ALL) };
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
