/** The entries of the package, and the declarations that `tsc` emits for them. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** The declaration file of each import. */
export const ENTRIES: Readonly<Record<string, string>> = {
  'rx-informer': 'index.d.ts',
  'rx-informer/resources': 'resources/index.d.ts',
  'rx-informer/testing': 'testing/index.d.ts',
  'rx-informer/node': 'node/index.d.ts',
  'rx-informer/react': 'react/index.d.ts',
  'rx-informer/react/worker': 'react/worker.d.ts',
  'rx-informer/worker': 'worker/index.d.ts',
  'rx-informer/wire': 'wire/index.d.ts',
  'rx-informer/server': 'server/index.d.ts',
  'rx-informer/diagnose': 'diagnose/index.d.ts',
  'rx-informer/nats': 'nats/index.d.ts',
};

/** Runs the compiler. Throws if it finds an error, which it prints. */
export function tsc(...args: string[]): void {
  const bin = join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [bin, ...args], { cwd: root, stdio: 'inherit' });
}

/** Emits the declarations of `lib` below `source` into an empty folder. */
export function emitDeclarations(source: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  const flags = ['--emitDeclarationOnly', '--removeComments'];
  tsc('-p', join(source, 'lib'), '--outDir', folder, ...flags);
}

/**
 * The folder of declarations that a text names: the folder itself, the present sources for `.`, or those of a commit, a
 * tag or a branch.
 */
export function declarationsOf(text: string): string {
  if (text !== '.' && existsSync(text)) return resolve(text);
  const cache = join(root, '.cache/api-compared');
  if (text === '.') {
    emitDeclarations(root, join(cache, 'present'));
    return join(cache, 'present');
  }
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  let commit: string;
  try {
    commit = git('rev-parse', '--verify', '--end-of-options', `${text}^{commit}`).trim();
  } catch {
    throw new TypeError(`${text} is neither a folder nor a commit. Name one of both, or \`.\`.`);
  }
  const sources = join(cache, `${commit}-sources`);
  const declarations = join(cache, commit);
  if (existsSync(declarations)) return declarations;
  mkdirSync(sources, { recursive: true });
  const archive = join(sources, 'sources.tar');
  git('archive', '--output', archive, commit, 'lib', 'tsconfig.json', 'package.json');
  execFileSync('tar', ['-xf', archive, '-C', sources]);
  emitDeclarations(sources, declarations);
  rmSync(sources, { recursive: true, force: true });
  return declarations;
}
