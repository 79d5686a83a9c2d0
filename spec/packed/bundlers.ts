/**
 * Bundlers with their default settings. Each makes one script for browsers from `main.ts` or from the page around it.
 */
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { build as esbuild } from 'esbuild';
import { type Consumer, everyBundler, root, run } from './consumer.ts';
import type { Program } from './programs.ts';

/** Builds `main.ts` of a folder and returns the path of the script. */
export type Bundle = (consumer: Consumer, folder: string) => Promise<string>;

/** The script that the built page loads first; it loads the others. Node must run it as a module, as the page does. */
function theScript(folder: string): string {
  const page = join(folder, 'dist/index.html');
  const loads = existsSync(page) ? readFileSync(page, 'utf8') : '<script src=main.js>';
  const [[, script] = [], ...more] = loads.matchAll(/<script[^>]* src="?([^\s">]+)/g);
  if (script === undefined || more.length > 0)
    throw new Error(`expected exactly one script in ${page}: ${loads}`);
  writeFileSync(join(folder, 'dist/package.json'), JSON.stringify({ type: 'module' }));
  return join(folder, 'dist', script);
}

async function mustSucceed(done: ReturnType<typeof run>): Promise<void> {
  const { code, stdout, stderr } = await done;
  if (code !== 0) throw new Error(`${stdout}${stderr}`);
}

const WEBPACK = `
const webpack = require('webpack');
webpack({ mode: 'production', context: __dirname, entry: './main.js' }, (error, stats) => {
  if (error || stats.hasErrors()) { console.error(error ?? stats.toString()); process.exitCode = 1; }
});
`;

async function parcel({ folder: top, nodes }: Consumer, folder: string): Promise<string> {
  const bin = join(top, 'node_modules/parcel/lib/bin.js');
  const args = [bin, 'build', 'index.html', '--no-source-maps', '--cache-dir', '.cache'];
  await mustSucceed(run(nodes['24'], args, folder));
  return theScript(folder);
}

const always: Readonly<Record<string, Bundle>> = {
  async esbuild(_, folder) {
    const entryPoints = [join(folder, 'main.ts')];
    const outfile = join(folder, 'dist/main.js');
    const built = await esbuild({ entryPoints, outfile, bundle: true, logLevel: 'silent' });
    if (built.warnings.length > 0) throw new Error(JSON.stringify(built.warnings));
    return outfile;
  },
  async vite({ nodes }, folder) {
    // In a process of its own, because Vite builds for the NODE_ENV of its process, which a test runner has set.
    const bin = join(root, 'node_modules/vite/bin/vite.js');
    await mustSucceed(run(nodes['24'], [bin, 'build', folder, '--logLevel', 'error'], folder));
    return theScript(folder);
  },
  async webpack({ nodes }, folder) {
    // webpack reads no TypeScript without a loader.
    const entryPoints = globSync('*.ts', { cwd: folder }).map((name) => join(folder, name));
    await esbuild({ entryPoints, outdir: folder });
    writeFileSync(join(folder, 'build.cjs'), WEBPACK);
    await mustSucceed(run(nodes['24'], ['build.cjs'], folder));
    return theScript(folder);
  },
};

const parcels: Readonly<Record<string, Bundle>> = {
  /** Parcel ignores `exports` by default. */
  parcel,
  /** For a linked package, as in a workspace, Parcel prefers the condition `source`. */
  async 'parcel, with a linked package and exports'(consumer, folder) {
    const linked = join(consumer.folder, 'workspace/rx-informer');
    cpSync(join(consumer.folder, 'node_modules/rx-informer'), linked, { recursive: true });
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(linked, join(folder, 'node_modules/rx-informer'));
    const settings = { '@parcel/resolver-default': { packageExports: true } };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(settings));
    return await parcel(consumer, folder);
  },
};

/** The bundlers that are tested. */
export const bundlers: Readonly<Record<string, Bundle>> = {
  ...always,
  ...(everyBundler && parcels),
};

/** Resolves imports by the import map of the page, in which Parcel names its chunks. */
const IMPORT_MAP = `
import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
const html = new URL('dist/index.html', import.meta.url);
const found = existsSync(html) && /type="?importmap"?>(.*?)<\\/script>/s.exec(readFileSync(html, 'utf8'));
const { imports = {} } = found ? JSON.parse(found[1]) : {};
registerHooks({
  resolve: (name, context, next) =>
    next(name in imports ? new URL('.' + imports[name], html).href : name, context),
});
`;

/**
 * Writes a page with programs that run one after another, and `page.mjs`, which runs a script of the page in Node.
 */
export function writePage(folder: string, programs: readonly Program[]): void {
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  for (const { name, asFunction } of programs) write(`${name}.ts`, asFunction);
  const imports = programs.map(({ name }, at) => `import { main as m${at} } from './${name}';`);
  const calls = programs.map((_, at) => `await m${at}();`);
  write('main.ts', `${imports.join('\n')}\nvoid (async () => { ${calls.join(' ')} })();\n`);
  const script = '<script type="module" src="./main.ts"></script>';
  write('index.html', `<!doctype html><title>consumer</title>${script}`);
  const page = `createElement: () => ({ relList: { supports: () => true } }),
  currentScript: { tagName: 'SCRIPT', src: process.argv[2] },`;
  const globals = `globalThis.self = globalThis; globalThis.document = { ${page} };`;
  write('page.mjs', `${IMPORT_MAP}${globals}\nawait import(process.argv[2]);\n`);
}
