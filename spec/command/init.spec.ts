/** `rx-informer init`: the files that it makes, and what it refuses. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { templateFiles, writeProject } from '../../lib/command/project-files.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'init-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('a template', () => {
  it('gets the words of the project, the names of its files, and the versions with which the library is tested', async () => {
    const files = await templateFiles('controller', { 'widget-controller': 'paint' });
    const { name, devDependencies } = JSON.parse(files.get('package.json') ?? '');
    const own = JSON.parse(await readFile('package.json', 'utf8'));
    expect(name).toBe('paint');
    expect(devDependencies.vitest).toBe(own.devDependencies.vitest);
    expect(files.has('.gitignore')).toBe(true);
    expect([...files.values()].filter((text) => text.includes('widget-controller'))).toEqual([]);
  });
});

describe('writing a project', () => {
  it('makes the folder, and fills an empty one', async () => {
    for (const name of ['new', 'empty']) {
      const target = join(folder, name);
      if (name === 'empty') await mkdir(target);
      await writeProject(target, new Map([['a/b.txt', 'text']]));
      expect(await readFile(join(target, 'a/b.txt'), 'utf8')).toBe('text');
    }
  });

  it('refuses a folder with files, and leaves nothing behind', async () => {
    const target = join(folder, 'full');
    await mkdir(target);
    await writeFile(join(target, 'mine.txt'), '');
    const before = await readdir(folder);
    const failure = writeProject(target, new Map([['a.txt', 'text']]));
    await expect(failure).rejects.toThrow(/full is not empty, it has mine\.txt; choose another/);
    expect(await readdir(folder)).toEqual(before);
    expect(await readdir(target)).toEqual(['mine.txt']);
  });
});
