/**
 * Builds `dist`: one module and one declaration per file of `lib` for bundlers and compilers, and from these modules a bundle for
 * Node, whose maps point at them.
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));
const modules = join(root, 'dist/modules');
const ENTRIES = ['', 'resources/', 'testing/', 'node/', 'react/', 'nats/'].map(
  (folder) => `${modules}/${folder}index`,
);
const scripts = [...ENTRIES, `${modules}/command/rx-informer`].map((entry) => `${entry}.js`);
const declarations = ENTRIES.map((entry) => `${entry}.d.ts`);

const settings: BuildOptions = {
  format: 'esm',
  target: 'es2023',
  tsconfigRaw: {},
  logLevel: 'warning',
};

/** These files, and those that they import, directly or not. */
function withImports(files: readonly string[], ending: '.js' | '.d.ts'): Set<string> {
  const all = new Set(files);
  for (const file of all) {
    const imports = readFileSync(file, 'utf8').matchAll(
      /(?:from |import |import\()["'](\.[^"']+)\.[jt]s["']/g,
    );
    for (const [, path = ''] of imports) all.add(resolve(file, '..', `${path}${ending}`));
  }
  return all;
}

rmSync(join(root, 'dist'), { recursive: true, force: true });
const compiler = join(root, 'node_modules/typescript/bin/tsc');
execFileSync(process.execPath, [compiler, '-p', join(root, 'lib')], { stdio: 'inherit' });

const needed = new Set([...withImports(scripts, '.js'), ...withImports(declarations, '.d.ts')]);
for (const file of globSync(`${modules}/**/*.{js,ts}`)) if (!needed.has(file)) rmSync(file);
// The first comment of a file is about the file, which helps nobody who reads the declarations in an editor.
for (const file of globSync(`${modules}/**/*.d.ts`)) {
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^\/\*\*[\s\S]*?\*\/\n/, ''));
}

// The compiler would also remove the comments by which bundlers know that a call has no side effects.
await build({
  ...settings,
  entryPoints: globSync(`${modules}/**/*.js`),
  outdir: modules,
  allowOverwrite: true,
});
await build({
  ...settings,
  entryPoints: scripts,
  outbase: modules,
  outdir: join(root, 'dist'),
  bundle: true,
  splitting: true,
  platform: 'node',
  packages: 'external',
  sourcemap: true,
  sourcesContent: false,
});
