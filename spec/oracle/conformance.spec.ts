/**
 * Tests that the behaviour of client-go's suites is checked here, too: the title of a test of ours, or a law, names
 * each such test.
 */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { titlesOf } from '../support/test-titles.ts';
import { CLIENT_GO_TESTS, IN_LAWS_ONLY } from './client-go-tests.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const namesIn = (text: string) => text.match(/\bTest[A-Z]\w+/g) ?? [];

const titles = globSync('spec/**/*.{spec,e2e,browser,oracle,night}.ts', { cwd: root })
  .filter((file) => !file.includes('generated'))
  .flatMap((file) => titlesOf(file, readFileSync(`${root}${file}`, 'utf8')));
const inTitles = new Set(titles.flatMap(namesIn));
const inLaws = new Set(
  globSync('docs/reference/laws/*.md', { cwd: root }).flatMap((file) =>
    namesIn(readFileSync(`${root}${file}`, 'utf8')),
  ),
);

describe("client-go's tests", () => {
  it.each(Object.entries(CLIENT_GO_TESTS))('of %s are named by titles of tests', (_file, tests) => {
    const missing = tests.filter((test) => !inTitles.has(test) && !IN_LAWS_ONLY.includes(test));
    expect(missing).toEqual([]);
  });

  it('that no title names are named by a law', () => {
    expect(IN_LAWS_ONLY.filter((test) => !inLaws.has(test))).toEqual([]);
    expect(IN_LAWS_ONLY.filter((test) => inTitles.has(test))).toEqual([]);
  });

  it('are listed once', () => {
    const all = Object.values(CLIENT_GO_TESTS).flat();
    expect(all.length).toBeGreaterThan(80);
    expect(new Set(all).size).toBe(all.length);
  });
});

describe('titles of tests', () => {
  const read = (text: string) => titlesOf('a.spec.ts', text);

  it('are read from tests, groups and the rows of a table', () => {
    const text = `
      describe('A', () => {
        it('B', () => {});
        it.skipIf(true)(\`C \${1} D\`, () => {});
        it.each([['E', { name: 'none' }], ['F', []]] as const)('G %s', () => {});
        it.each(['H', 'I'])('J %s', () => {});
      });`;
    expect(read(text)).toEqual(['B', 'C … D', 'G %s', 'E', 'F', 'J %s', 'H', 'I', 'A']);
  });

  it('are not read from comments, other texts and rows that no title shows', () => {
    const text = `
      // TestA
      const name: string = 'TestB';
      it('C', () => expect(told('TestD')).toBe('TestE'));
      it.each([['TestF', 1]])('G', () => {});`;
    expect(read(text)).toEqual(['C', 'G']);
  });
});
