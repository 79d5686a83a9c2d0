/** `rx-informer init`: the files that it makes, and what it refuses. */
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../lib/command/command.ts';
import { templateFiles, writeProject } from '../../lib/command/project-files.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'init-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('a template', () => {
  it('N43: gets the words of the project, the names of its files, and the versions with which the library is tested', async () => {
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
  it('N43: makes the folder, and fills an empty one', async () => {
    for (const name of ['new', 'empty']) {
      const target = join(folder, name);
      if (name === 'empty') await mkdir(target);
      await writeProject(target, new Map([['a/b.txt', 'text']]));
      expect(await readFile(join(target, 'a/b.txt'), 'utf8')).toBe('text');
    }
    // Nothing is left of the folder in which the files were written.
    expect((await readdir(folder)).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('N43: fills the empty folder behind a link, and refuses a link to nothing', async () => {
    const at = (name: string) => join(folder, name);
    const [real, link, loose] = [at('real'), at('link'), at('loose')];
    await mkdir(real);
    await symlink(real, link);
    await writeProject(link, new Map([['a.txt', 'text']]));
    expect(await readFile(join(real, 'a.txt'), 'utf8')).toBe('text');
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    await symlink(at('nowhere'), loose);
    await expect(writeProject(loose, new Map([['a.txt', 'text']]))).rejects.toThrow(
      /^init: the folder \S+loose cannot be used \(ENOTDIR\); choose another name$/,
    );
  });

  it('N44: says which folder cannot be written', async () => {
    const failure = writeProject(join(folder, 'absent/new'), new Map([['a.txt', 'text']]));
    await expect(failure).rejects.toThrow(
      /^init: \S+absent cannot be written \(ENOENT\); choose another folder$/,
    );
  });

  it('N44: refuses a folder with files, and leaves nothing behind', async () => {
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

describe('rx-informer init', () => {
  async function init(...args: string[]) {
    let error = '';
    const code = await runCommand(['init', ...args], {
      input: (async function* () {})(),
      out: () => {},
      error: (text) => {
        error += text;
      },
    });
    return { code, error };
  }

  it.each([
    [[], /^rx-informer: init needs \S+.*, and a name, for example init \S+ my-project; see/],
    [['boat', 'a'], /^rx-informer: init needs /],
    [['controller'], /^rx-informer: init needs /],
    [['controller', 'a', 'b'], /^rx-informer: init needs /],
    [['controller', 'My_App'], /init: "My_App" is no DNS label; use at most 63 lower-case letters/],
    [['controller', 'a'.repeat(64)], /is no DNS label/],
    [['controller', '../a'], /is no DNS label/],
    [['controller', 'a', '--crb', 'x'], /'--crb'.*see rx-informer init --help/s],
    [['dashboard', 'a', '--crd', 'x'], /init dashboard has no option --crd; leave it out/],
    [['controller', 'a'], /init controller needs --crd with the file of a CustomResourceDef/],
  ])('N44: refuses the arguments %j', async (args, message) => {
    const { code, error } = await init(...args);
    expect(error).toMatch(message);
    expect(code).toBe(2);
  });
});
