/** Where a campaign keeps its packages and its results, and what it copies. */
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const CACHE = join(root, '.cache/mutation');

const NOT_COPIED = new Set(['node_modules', '.suites', '.git', '.cache', 'dist', 'coverage']);

/** A copy of the sources in a new folder. The caller removes it. */
export function copySources(): string {
  const copy = mkdtempSync(join(tmpdir(), 'rx-informer-mutation-'));
  const filter = (path: string) => !NOT_COPIED.has(basename(path)) || path === root;
  cpSync(root, copy, { recursive: true, filter, verbatimSymlinks: true });
  for (const name of ['node_modules', '.suites']) symlinkSync(join(root, name), join(copy, name));
  return copy;
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
