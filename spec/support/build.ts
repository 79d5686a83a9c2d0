/**
 * Builds `dist`: one module and one declaration per file of `lib` for bundlers and compilers, and from these modules a bundle for
 * Node, whose maps point at them.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decode, encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec';
import { build, transformSync } from 'esbuild';
import { build as bundle } from 'tsup';

// Set by a run of several suites at a time, which has built before.
if (process.env['LIBRARY_IS_BUILT'] !== undefined) process.exit();

const root = fileURLToPath(new URL('../..', import.meta.url));
const modules = join(root, 'dist/modules');
const ENTRIES = [
  ...['index', 'resources/index', 'testing/index', 'node/index', 'react/index', 'react/worker'],
  ...['nats/index', 'worker/index', 'wire/index', 'server/index', 'diagnose/index'],
].map((entry) => `${modules}/${entry}`);
const scripts = [...ENTRIES, `${modules}/command/rx-informer`].map((entry) => `${entry}.js`);
const declarations = ENTRIES.map((entry) => `${entry}.d.ts`);

const IMPORTS = /(?:from |import |import\()["'](\.[^"']+)\.[jt]s["']/g;
const REEXPORTS = /^export [^;]*?from ["'](\.[^"']+)\.[jt]s["']/gm;

/** These files, and those that they name, directly or not. */
function withNamed(files: readonly string[], ending: '.js' | '.d.ts', names: RegExp): Set<string> {
  const all = new Set(files);
  for (const file of all) {
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(names)) {
      all.add(resolve(file, '..', `${path}${ending}`));
    }
  }
  return all;
}

rmSync(join(root, 'dist'), { recursive: true, force: true });
const compiler = join(root, 'node_modules/typescript/bin/tsc');
execFileSync(process.execPath, [compiler, '-p', join(root, 'lib')], { stdio: 'inherit' });

const needed = new Set([
  ...withNamed(scripts, '.js', IMPORTS),
  ...withNamed(declarations, '.d.ts', IMPORTS),
]);
for (const file of globSync(`${modules}/**/*.{js,ts}`)) if (!needed.has(file)) rmSync(file);
// Editors show the comments of public declarations: not those of internal files, nor the first of a file, which is about the file.
const shown = withNamed(declarations, '.d.ts', REEXPORTS);
for (const file of globSync(`${modules}/**/*.d.ts`)) {
  const unseen = shown.has(file) ? /^\/\*\*[\s\S]*?\*\/\n/ : /^ *\/\*\*[\s\S]*?\*\/\n/gm;
  // Nobody sees how far a declaration is indented, and it is 4 kB of the package.
  writeFileSync(file, readFileSync(file, 'utf8').replace(unseen, '').replace(/^ +/gm, ''));
}

// The compiler would also remove the comments by which bundlers know that a call has no side effects. They are within lines.
await build({
  format: 'esm',
  // For the platform `browser`, its default, esbuild writes "development" in place of `process.env.NODE_ENV`.
  platform: 'neutral',
  target: 'es2023',
  tsconfigRaw: {},
  logLevel: 'warning',
  entryPoints: globSync(`${modules}/**/*.js`),
  outdir: modules,
  allowOverwrite: true,
});
/**
 * Removes what a pattern matches from a file of code, but for its group, unless that changes what it does: a text may hold what looks
 * like a comment or an indent.
 */
function remove(unseen: RegExp, file: string, kept = ''): void {
  const text = readFileSync(file, 'utf8');
  const code = text.replace(unseen, kept);
  const [before, after] = [text, code].map((it) => transformSync(it, { minifyWhitespace: true }));
  if (before?.code === after?.code) writeFileSync(file, code);
}

for (const file of globSync(`${modules}/**/*.js`)) {
  remove(/^ *(?:\/\*\*[\s\S]*?\*\/|\/\/.*)\n/gm, file);
  // A debugger shows the modules. Half of an indent says the same, and the other half is 4 kB of the package.
  remove(/^( +)\1/gm, file, '$1');
}
await bundle({
  entry: scripts,
  outDir: join(root, 'dist'),
  config: false,
  format: ['esm'],
  target: 'es2023',
  platform: 'node',
  splitting: true,
  treeshake: false,
  skipNodeModulesBundle: true,
  removeNodeProtocol: false,
  sourcemap: true,
  silent: true,
  esbuildOptions: (options) => {
    options.outbase = modules;
    options.sourcesContent = false;
  },
});
const HASHED = /-[A-Z0-9]{8}(?=\.js)/g;

/**
 * esbuild names chunks by hashes, and lists what they import in an order, that differ between builds of the same modules. So they are
 * numbered by the lines that they contain.
 */
function numberChunks(): void {
  const at = join(root, 'dist');
  const read = (file: string) => readFileSync(join(at, file), 'utf8');
  const chunks = globSync('*-*.js', { cwd: at }).map((file) => ({
    file,
    code: read(file).replace(HASHED, '').split('\n').sort().join(),
  }));
  chunks.sort((one, other) => (one.code < other.code ? -1 : 1));
  const names = new Map(
    chunks.map(({ file }, place) => [file, file.replace(HASHED, `-${place + 1}`)]),
  );
  for (const file of globSync(['*.js{,.map}', '!(modules)/**/*.js{,.map}'], { cwd: at })) {
    const renamed = read(file).replace(
      /[\w-]+-[A-Z0-9]{8}\.js/g,
      (name) => names.get(name) ?? name,
    );
    rmSync(join(at, file));
    const [script = '', map = ''] = file.split(/(?<=\.js)/);
    writeFileSync(join(at, `${names.get(script) ?? script}${map}`), renamed);
  }
}
numberChunks();
// The maps name the module of each line. The lines stay, so that the maps stay right.
for (const file of globSync([join(root, 'dist/*.js'), join(root, 'dist/!(modules)/**/*.js')])) {
  remove(/^\/\/ dist\/modules\/.*$/gm, file);
  // Whoever reads is shown the modules by the maps: nobody sees the indents of a bundle, and they are 14 kB of the package.
  remove(/^ +/gm, file);
}
// Nobody can import the modules that the command alone needs: it runs from its bundle, without the maps of these modules.
const imported = withNamed(
  ENTRIES.map((entry) => `${entry}.js`),
  '.js',
  IMPORTS,
);
for (const file of globSync(`${modules}/**/*.js`)) if (!imported.has(file)) rmSync(file);
for (const file of globSync(join(root, 'dist/**/*.js.map'))) {
  const { sources } = JSON.parse(readFileSync(file, 'utf8')) as { sources: string[] };
  if (sources.every((source) => existsSync(resolve(file, '..', source)))) continue;
  const script = file.slice(0, -'.map'.length);
  writeFileSync(script, readFileSync(script, 'utf8').replace(/^\/\/# sourceMappingURL=.*/m, ''));
  rmSync(file);
}
// The files from which `rx-informer init` makes projects.
cpSync(join(root, 'lib/command/templates'), join(root, 'dist/templates'), { recursive: true });
// One position per line, at its begin: a stack trace names the line, and the positions within lines are most of the size of the maps.
for (const file of globSync(join(root, 'dist/**/*.js.map'))) {
  const map = JSON.parse(readFileSync(file, 'utf8')) as { mappings: string };
  const lines = decode(map.mappings).map(([first]): SourceMapSegment[] =>
    first?.length === 4 ? [[0, first[1], first[2], 0]] : [],
  );
  writeFileSync(file, JSON.stringify({ ...map, names: [], mappings: encode(lines) }));
}
