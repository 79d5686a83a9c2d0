/// <reference types="node" />
/** Reads CustomResourceDefinitions from a YAML or JSON file. Its errors name the command, the option and the file. */
import { readFile } from 'node:fs/promises';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { CustomResourceDefinitionLike } from '../node/crd-types.ts';
import { notLoaded } from '../node/optional-package.ts';

/** An option of a command that names a file. */
export interface FileOption {
  readonly command: string;
  readonly option: string;
  readonly file: string;
}

/** Loads `yaml` for a command. Rejects with a `TypeError` that says what to do if the package is not installed. */
export async function loadYaml(command: string): Promise<typeof import('yaml')> {
  try {
    return await import('yaml');
  } catch (error) {
    throw notLoaded(command, 'yaml', error);
  }
}

/** Runs an access to a file of an option. Its error names the option and the file. */
export async function withFile<R>(
  { command, option, file }: FileOption,
  access: Promise<R>,
): Promise<R> {
  try {
    return await access;
  } catch (error) {
    const { code = 'no access' } = error as NodeJS.ErrnoException;
    const what = option === 'out' ? 'written' : 'read';
    const next = { ENOENT: 'it does not exist', EISDIR: 'it is a folder; name a file' }[code];
    const why = option === 'out' && code === 'ENOENT' ? 'create its folder first' : next;
    throw new TypeError(
      `${command}: --${option} ${file} cannot be ${what} (${code})${why === undefined ? '' : `: ${why}`}`,
    );
  }
}

/** Returns the definitions in a YAML or JSON file: a single one, several documents, or a list. */
export async function definitionsIn(
  command: string,
  text: string,
  file: string,
): Promise<CustomResourceDefinitionLike[]> {
  const { parseAllDocuments } = await loadYaml(command);
  const found: CustomResourceDefinitionLike[] = [];
  const documents = parseAllDocuments(text);
  for (const document of Array.isArray(documents) ? documents : []) {
    const [error] = document.errors;
    // The parser's message is not repeated, because it quotes the lines around the error. The file may contain
    // Secrets.
    if (error !== undefined) {
      const line = error.linePos?.[0].line;
      const where = line === undefined ? '' : ` at line ${line}`;
      throw new TypeError(`${file} is not valid YAML${where} (${error.code})`);
    }
    const value = document.toJS() as (KubernetesObject & { items?: unknown }) | null;
    if (value === null || typeof value !== 'object') continue;
    const all = Array.isArray(value.items) ? (value.items as KubernetesObject[]) : [value];
    // A release file contains other objects, too.
    found.push(...all.filter(({ kind }) => kind === 'CustomResourceDefinition'));
  }
  if (found.length === 0) throw new TypeError(`${file} contains no CustomResourceDefinition`);
  return found;
}

/** Reads the definitions in the file of an option. */
export async function readDefinitions(option: FileOption): Promise<CustomResourceDefinitionLike[]> {
  const { command, file } = option;
  return await definitionsIn(command, await withFile(option, readFile(file, 'utf8')), file);
}
