/** Tests that each law has a test and at most 40 words, and that no test names an unknown law. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The laws of a page, from lines such as `- **R7** text`, and how many words each has without its sources. */
function lawsOf(text: string): { id: string; words: number }[] {
  return [...text.matchAll(/^- \*\*([A-Z]\d+)\*\* (.*)$/gm)].map(([, id = '', law = '']) => {
    const promise = law.replace(/\*\(.*?\)\*/g, '');
    return { id, words: promise.split(/\s+/).filter((word) => /\w/.test(word)).length };
  });
}

/** The ids at the start of test titles, as in `it('R7, R12: …'` and `it.each(…)('R7: …'`. */
function idsOf(text: string): string[] {
  const titles = text.matchAll(
    /\b(?:it|test)(?:\.each)?\s*\(\s*['"`]((?:[A-Z]\d+)(?:, [A-Z]\d+)*): /g,
  );
  const each = text.matchAll(/\)\s*\(\s*['"`]((?:[A-Z]\d+)(?:, [A-Z]\d+)*): /g);
  return [...titles, ...each].flatMap((match) => (match[1] ?? '').split(', '));
}

const stages = globSync('docs/reference/laws/*.md', { cwd: root }).flatMap((file) =>
  lawsOf(readFileSync(`${root}${file}`, 'utf8')),
);
const laws = stages.map(({ id }) => id);
const tests = globSync('spec/**/*.{spec,contract,e2e,browser,oracle,packed,nats,night}.{ts,tsx}', {
  cwd: root,
})
  .filter((file) => !file.startsWith('spec/laws') && !file.includes('generated'))
  .flatMap((file) => idsOf(readFileSync(`${root}${file}`, 'utf8')).map((id) => ({ file, id })));

describe('laws', () => {
  it('have unique ids', () => {
    expect(laws.length).toBeGreaterThan(80);
    expect(laws.filter((id, at) => laws.indexOf(id) !== at)).toEqual([]);
  });

  it('have at most 40 words', () => {
    expect(stages.filter(({ words }) => words > 40)).toEqual([]);
    expect(lawsOf(`- **R7** ${'word '.repeat(41)}*(one source)*`)).toEqual([
      { id: 'R7', words: 41 },
    ]);
  });

  it('have a test', () => {
    const tested = new Set(tests.map(({ id }) => id));
    expect(laws.filter((id) => !tested.has(id))).toEqual([]);
  });

  it('are on the page that the README of the folder names for their letter', () => {
    const folder = `${root}docs/reference/laws/`;
    const table = readFileSync(`${folder}README.md`, 'utf8').matchAll(
      /^\| ([A-Z]) \| \[.*?\]\((.*?)\) \|$/gm,
    );
    const named = [...table].map(([, letter = '', page = '']) => `${page} ${letter}`);
    const pages = globSync('*.md', { cwd: folder }).filter((page) => page !== 'README.md');
    const used = pages.flatMap((page) => {
      const letters = lawsOf(readFileSync(`${folder}${page}`, 'utf8')).map(({ id }) =>
        id.charAt(0),
      );
      return [...new Set(letters)].map((letter) => `${page} ${letter}`);
    });
    expect(named.sort()).toEqual(used.sort());
  });

  it('exist for each id in a test title', () => {
    expect(tests.filter(({ id }) => !laws.includes(id))).toEqual([]);
  });
});

describe('a clause that was removed from a law', () => {
  const rows = readFileSync(`${root}spec/removed-clauses.txt`, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(' | '));

  it('is in another law, in a file, or in the tests of its law', () => {
    const isPlace = (place: string) =>
      place === 'tests' ||
      (place.startsWith('law ') ? laws.includes(place.slice(4)) : existsSync(`${root}${place}`));
    expect(rows.length).toBeGreaterThan(200);
    expect(
      rows.filter(([law = '', , place = '']) => !laws.includes(law) || !isPlace(place)),
    ).toEqual([]);
  });
});
