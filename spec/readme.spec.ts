/**
 * Tests the README: its first example prints the output shown there, and every page names the same range of Node
 * versions.
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(`${root}README.md`, 'utf8');

/** The programs that run, and the output that is shown below each. */
const fences = readme.matchAll(/^```ts\n([\s\S]*?)^```\n\n```text\n([\s\S]*?)^```/gm);
const programs = [...fences].map(([, program = '', shown = '']) => ({ program, shown }));

describe('README', () => {
  it('A88: each example that runs shows what it prints', () => {
    expect(programs).toHaveLength(readme.match(/^```ts\n/gm)?.length ?? 0);
    expect(programs).toHaveLength(3);
  });

  it.each(programs)(
    'A88: example %# runs as an ES module and prints what the README shows',
    ({ program, shown }) => {
      // It runs in the root of the package, where the package's own name resolves to its sources.
      const printed = execFileSync(
        process.execPath,
        ['--input-type=module-typescript', '--conditions=rx-informer-source', '-'],
        { cwd: root, input: program, encoding: 'utf8' },
      );
      expect(printed.length).toBeGreaterThan(15);
      expect(printed).toBe(shown);
    },
  );

  it('A88: README, docs and errors name the range of Node versions of package.json', () => {
    const { engines } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
    const files = ['README.md', ...globSync('{docs,lib}/**/*.{md,ts}', { cwd: root })];
    const named = files.flatMap((file) =>
      [
        ...readFileSync(`${root}${file}`, 'utf8').matchAll(
          /\bNode(?:\.js)? (?:>= ?)?([\d.]*\d)(?= or (?:newer|later))/g,
        ),
      ].map((match) => `${file}: >=${match[1]}`),
    );
    // The README's table has a cell with the range.
    expect(readme).toContain(`| Node | ${engines.node.slice(2)} or newer |`);
    expect(named.length).toBeGreaterThan(1);
    expect(named.filter((each) => !each.endsWith(`: ${engines.node}`))).toEqual([]);
  });

  it('A88: links to a heading point to an existing heading', () => {
    const textOf = (file: string) => readFileSync(file, 'utf8').replace(/^```[\s\S]*?^```/gm, '');
    const headingsOf = (file: string) =>
      [...textOf(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
        heading
          .toLowerCase()
          .replace(/[^\w\s-]/g, '')
          .replace(/\s/g, '-'),
      );
    const missing: string[] = [];
    for (const file of ['README.md', ...globSync('docs/**/*.md', { cwd: root })]) {
      const links = textOf(`${root}${file}`).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g);
      for (const [, page = '', heading = ''] of links) {
        const target = page === '' ? file : posix.join(posix.dirname(file), page);
        if (!headingsOf(`${root}${target}`).includes(heading))
          missing.push(`${file}: ${page}#${heading}`);
      }
    }
    expect(missing).toEqual([]);
  });

  it('A88: relative links and pictures point to existing files, and a picture has at most 200 kB', () => {
    const missing: string[] = [];
    for (const file of ['README.md', ...globSync('docs/**/*.md', { cwd: root })]) {
      const text = readFileSync(`${root}${file}`, 'utf8').replace(/^```[\s\S]*?^```/gm, '');
      for (const [, target = ''] of text.matchAll(/\]\(([^)#]+)[^)]*\)/g)) {
        if (/^https?:/.test(target)) continue;
        const found = statSync(new URL(target, `file://${root}${file}`), { throwIfNoEntry: false });
        if (found === undefined) missing.push(`${file}: ${target}`);
        else if (target.endsWith('.png')) expect(found.size).toBeLessThanOrEqual(200_000);
      }
    }
    expect(missing).toEqual([]);
  });
});
