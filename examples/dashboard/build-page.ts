/** Builds the page with Vite, unless its sources are unchanged since the last build. */
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));

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
  // Loaded here because a start without a build does not need Vite.
  const { build } = await import('vite');
  // Vite and React read NODE_ENV, which a test runner, for example, may have set to another value.
  const before = process.env.NODE_ENV;
  process.env.NODE_ENV = 'production';
  try {
    await build({ configFile: join(here, 'vite.config.ts'), logLevel: 'warn' });
  } finally {
    if (before === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = before;
  }
}

/** Builds the page if it is not up to date, and returns its folder. */
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
