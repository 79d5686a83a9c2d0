/** The projects of the documentation, as their readers make them. */
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

/** The page of a project. */
export const htmlOf = (main: string) =>
  `<!doctype html><link rel="icon" href="data:," /><div id="root"></div><script type="module" src="/src/${main}"></script>`;

/** Copies the files of a page of the documentation, for a cluster at a port. */
export async function makeProject(name: string, port: number): Promise<string> {
  const project = fileURLToPath(new URL(`./dist/${name}-docs/`, import.meta.url));
  const written = fileURLToPath(new URL(`../generated-examples/${name}/`, import.meta.url));
  await rm(project, { recursive: true, force: true });
  await mkdir(project, { recursive: true });
  await cp(written, project, { recursive: true });
  for (const file of ['vite.config.ts', 'vite.config.js', 'server.mjs']) {
    if (!existsSync(project + file)) continue;
    const text = await readFile(project + file, 'utf8');
    expect(text).toContain('8001');
    await writeFile(project + file, text.replaceAll('8001', String(port)));
  }
  return project;
}
