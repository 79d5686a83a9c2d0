/** Builds the page with Vite, unless what it is made of is what it was last time. */
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));

/** Where the built page is. */
export const pageFolder: string = join(root, 'node_modules/.cache/rx-informer/dashboard');

async function hashOfInputs(): Promise<string> {
  const hash = createHash('sha256');
  const folders = [join(here, 'page'), join(here, 'shared'), join(root, 'lib')];
  const files = [join(here, 'vite.config.ts'), join(root, 'package-lock.json')];
  for (const folder of folders) {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) files.push(join(entry.parentPath, entry.name));
    }
  }
  for (const file of files.sort()) {
    hash.update(file.slice(root.length));
    hash.update(await readFile(file));
  }
  return hash.digest('hex');
}

async function buildForProduction(): Promise<void> {
  // Loaded late: a start without a build does not need it.
  const { build } = await import('vite');
  // Vite and React obey this variable, and whoever starts us (a test runner) may have set it.
  const before = process.env.NODE_ENV;
  process.env.NODE_ENV = 'production';
  try {
    await build({ configFile: join(here, 'vite.config.ts'), logLevel: 'warn' });
  } finally {
    if (before === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = before;
  }
}

/** Builds the page if it is not up to date; answers its folder. */
export async function buildPage(onBuild: () => void = () => undefined): Promise<string> {
  const stamp = join(pageFolder, '.inputs');
  const inputs = await hashOfInputs();
  const last = await readFile(stamp, 'utf8').catch(() => '');
  if (last === inputs) return pageFolder;
  onBuild();
  await buildForProduction();
  await writeFile(stamp, inputs);
  return pageFolder;
}
