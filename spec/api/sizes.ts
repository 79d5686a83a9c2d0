/** Prints a row for the table of sizes in docs/internals/decisions.md: `node spec/api/sizes.ts`. */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'vite';
import { root } from './trees.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

/** The lines that have more than blanks and comments. */
function linesOfCode(file: string): number {
  const text = read(file);
  let code = '';
  let at = 0;
  for (const { start, end } of parseSync(file, text).comments) {
    code += text.slice(at, start);
    at = end;
  }
  return (code + text.slice(at)).split('\n').filter((line) => line.trim() !== '').length;
}

const sources = globSync('lib/**/*.{ts,tsx}', { cwd: root }).filter(
  (file) => !file.startsWith('lib/resources/generated/'),
);
const pages = globSync('docs/**/*.md', { cwd: root });
const laws = globSync('docs/reference/laws/*.md', { cwd: root }).map(read).join('\n');
// The types of Kubernetes are generated.
const surfaces = globSync('spec/api/*.txt', { cwd: root }).filter(
  (file) => !file.endsWith('/resources.txt'),
);
const exported = surfaces.flatMap((file) => read(file).match(/^export /gm) ?? []);

const cells = [
  execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim(),
  sum(sources.map(linesOfCode)),
  sum(sources.map((file) => read(file).split('\n').length - 1)),
  sources.length,
  sum(pages.map((file) => read(file).match(/\S+/g)?.length ?? 0)),
  [...laws.matchAll(/^- \*\*[A-Z]\d+\*\* /gm)].length,
  exported.length,
];
process.stdout.write(`| ${cells.map((cell) => cell.toLocaleString('en')).join(' | ')} |\n`);
