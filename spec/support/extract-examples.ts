/**
 * Extracts the examples of the documentation as tests, so that they stay correct: each ```ts fence of TSDoc, README
 * and docs is type-checked and run. `expression; // => value` is an assertion; a fence marked `no-run` is only
 * type-checked. Two spec files contain all of them, because one file per fence would load the library a hundred
 * times. Fences of js and tsx, and of `ts no-run`, that begin with a path are the files of a page, which are written as they are.
 */
import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const target = `${root}spec/generated-examples`;

interface Fence {
  readonly line: number;
  readonly code: string;
  readonly runs: boolean;
}

/** The fences of a file; in a TypeScript source those within `/** … *\/` comments. */
export function fencesOf(text: string, isSource: boolean): Fence[] {
  const fences: Fence[] = [];
  let open: { line: number; runs: boolean; code: string[] } | undefined;
  text.split('\n').forEach((raw, at) => {
    const line = isSource ? raw.replace(/^\s*\* ?/, '') : raw;
    const fence = /^\s*```(\S*)(.*)$/.exec(line);
    if (fence === null) open?.code.push(line);
    else if (open !== undefined) {
      fences.push({ line: open.line, runs: open.runs, code: open.code.join('\n') });
      open = undefined;
    } else if (fence[1] === 'ts') {
      open = { line: at + 1, runs: !fence[2]?.includes('no-run'), code: [] };
    } else if (fence[1] !== '') {
      // A fence in another language is skipped.
      open = undefined;
    }
  });
  return fences;
}

/** A fence as a program: its imports, and the rest, in which assertions became calls of `expect`. */
export function programOf(fence: Fence, where: string): { imports: string[]; body: string } {
  const imports: string[] = [];
  const code = fence.code.replace(/^import[\s\S]*?;$/gm, (text) => {
    imports.push(text);
    return '';
  });
  const body = code
    .split('\n')
    .map((line) => {
      const match = /^(\s*)(.+?);\s*\/\/ => (.+)$/.exec(line);
      if (match === null) return line;
      const [, indent, expression, value] = match;
      if (/^(const|let|var|return)\b/.test(expression ?? '')) {
        throw new Error(`${where}: an assertion needs an expression, not a declaration: ${line}`);
      }
      return `${indent}expect(${expression}).toEqual(${value});`;
    })
    .join('\n');
  return { imports, body };
}

/** The files of a page: fences of js, tsx and `ts no-run` whose first line is a comment with the path. */
export function filesOf(text: string): readonly { readonly path: string; readonly code: string }[] {
  const fences = text.matchAll(/^```(?:js|tsx|ts no-run)\n\/\/ (\S+\.\w+)\n([\s\S]*?)^```$/gm);
  return [...fences].map(([, path = '', code = '']) => ({ path, code }));
}

/** The test of one fence, with its imports at the top. */
export function testOf(fence: Fence, where: string): string {
  const { imports, body } = programOf(fence, where);
  const title = JSON.stringify(where);
  const run = fence.runs
    ? `it(${title}, async () => {\n${body}\n});`
    : `it(${title}, () => {\n  // Type-checked only.\n  expect(typeof example).toBe('function');\n});\nasync function example() {\n${body}\n}`;
  return `// Made from ${where}; do not edit.\nimport { ${/\bexpect\(/.test(run) ? 'expect, ' : ''}it } from 'vitest';\n${imports.join('\n')}\n\n${run}\n`;
}

/** Writes what has changed, and removes what is gone: another suite may be reading the files. */
function replaceFiles(files: ReadonlyMap<string, string>): void {
  for (const path of globSync('**', { cwd: target })) {
    if (!files.has(path) && statSync(`${target}/${path}`).isFile()) rmSync(`${target}/${path}`);
  }
  for (const [path, text] of files) {
    const written = `${target}/${path}`;
    if (existsSync(written) && readFileSync(written, 'utf8') === text) continue;
    mkdirSync(dirname(written), { recursive: true });
    writeFileSync(written, text);
  }
}

function main(): void {
  const sources = [
    'README.md',
    ...globSync('docs/**/*.md', { cwd: root }),
    ...globSync('lib/**/*.ts', { cwd: root }).filter((file) => !file.includes('generated')),
  ];
  const files = new Map<string, string>();
  const specs = new Map<string, string>();
  let count = 0;
  for (const source of sources.sort()) {
    const spec = source.startsWith('lib/') ? 'lib.spec.ts' : 'docs.spec.ts';
    const text = readFileSync(`${root}${source}`, 'utf8');
    const page = source.replace(/^docs\/\w+\/|\.md$/g, '');
    for (const { path, code } of source.endsWith('.md') ? filesOf(text) : []) {
      files.set(`${page}/${path}`, code);
    }
    for (const fence of fencesOf(text, source.endsWith('.ts'))) {
      const name = `${source.replace(/\W+/g, '-')}-${fence.line}`.toLowerCase();
      files.set(`${name}.ts`, testOf(fence, `${source}:${fence.line}`));
      specs.set(spec, `${specs.get(spec) ?? ''}import './${name}.ts';\n`);
      count++;
    }
  }
  if (count === 0) throw new Error('no example was found: the extractor must be broken');
  replaceFiles(new Map([...files, ...specs]));
  process.stderr.write(`${count} examples extracted\n`);
}

if (import.meta.main) main();
