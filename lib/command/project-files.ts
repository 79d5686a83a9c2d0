/// <reference types="node" />
/** The files of a new project: read from a template, named for the project, and written to a folder as one step. */
import { existsSync } from 'node:fs';
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  rmdir,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The text of each file, by its path in the project. */
export type ProjectFiles = ReadonlyMap<string, string>;

/** Returns the path of a file of the package. This file is at another depth in the sources, in the modules and in the bundle. */
export function inPackage(path: string): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, path)) && folder !== dirname(folder)) folder = dirname(folder);
  return join(folder, path);
}

/** The version range of each package with which the library is tested, and of the library. */
export async function testedRanges(): Promise<Readonly<Record<string, string>>> {
  const own = JSON.parse(await readFile(inPackage('package.json'), 'utf8')) as {
    readonly name: string;
    readonly version: string;
    readonly devDependencies: Record<string, string>;
    readonly peerDependencies: Record<string, string>;
  };
  return { ...own.devDependencies, ...own.peerDependencies, [own.name]: `^${own.version}` };
}

/** Replaces each range `*` of a package.json by the range of that package with which the library is tested. */
async function withRanges(text: string): Promise<string> {
  const ranges = await testedRanges();
  return text.replace(/"([^"]+)": "\*"/g, (found, name: string) => {
    const range = ranges[name];
    if (range === undefined) throw new TypeError(`no version is known for ${found}`);
    return `"${name}": "${range}"`;
  });
}

/** Replaces each of these words, if it stands alone or is a part of a name with hyphens. */
function withWords(text: string, words: Readonly<Record<string, string>>): string {
  const all = Object.keys(words).sort((a, b) => b.length - a.length);
  if (all.length === 0) return text;
  return text.replace(new RegExp(`\\b(?:${all.join('|')})\\b`, 'g'), (word) => words[word] ?? word);
}

/**
 * Reads a template. A leading underscore of a file's name is left out, because npm does not pack a `.gitignore`, and a
 * package.json or tsconfig.json within the library would change how its own files are read.
 *
 * The words are replaced in all texts and paths. A template is a program with a name and a resource of its own, so that
 * the library's compiler and tests check it; these are the words to replace.
 */
export async function templateFiles(
  template: string,
  words: Readonly<Record<string, string>>,
): Promise<Map<string, string>> {
  const folder = join(inPackage('templates'), template);
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = new Map<string, string>();
  for (const entry of found.filter((each) => each.isFile())) {
    const source = join(entry.parentPath, entry.name);
    const within = source.slice(folder.length + 1).replaceAll('\\', '/');
    const path = withWords(within, words).replace(/(^|\/)_([^/]*)$/, '$1$2');
    const text = withWords(await readFile(source, 'utf8'), words);
    files.set(path, path === 'package.json' ? await withRanges(text) : text);
  }
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function unusable(folder: string, why: string | undefined): TypeError {
  return new TypeError(`init: the folder ${folder} cannot be used (${why}); choose another name`);
}

/** Whether the folder is missing (`undefined`), or has these entries. Throws if it is no folder. */
async function entriesOf(folder: string): Promise<readonly string[] | undefined> {
  try {
    return await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    const why = code === 'ENOTDIR' ? 'it is a file' : code;
    throw unusable(folder, why);
  }
}

/** Rejects if the folder of a new project exists and has files. */
export async function checkEmpty(folder: string): Promise<void> {
  const [first] = (await entriesOf(folder)) ?? [];
  if (first === undefined) return;
  throw new TypeError(
    `init: the folder ${folder} is not empty, it has ${first}; choose another name or empty the folder`,
  );
}

/**
 * Writes a project. The files are written to a new folder beside it, which is renamed when it is complete, so that a
 * failure leaves nothing.
 */
export async function writeProject(folder: string, files: ProjectFiles): Promise<void> {
  await checkEmpty(folder);
  // The folder behind a link is replaced, and not the link.
  const target = await realpath(folder).catch(() => resolve(folder));
  const beside = await mkdtemp(join(dirname(target), `.${basename(target)}-`)).catch(
    ({ code }: NodeJS.ErrnoException) => {
      const where = dirname(target);
      throw new TypeError(`init: ${where} cannot be written (${code}); choose another folder`);
    },
  );
  try {
    const whole = join(beside, 'project');
    for (const [path, text] of files) {
      await mkdir(dirname(join(whole, path)), { recursive: true });
      await writeFile(join(whole, path), text);
    }
    // A folder cannot be renamed to an existing one on every platform. `rmdir` refuses a folder with files.
    await rmdir(target).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw unusable(folder, error.code);
    });
    await rename(whole, target);
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}
