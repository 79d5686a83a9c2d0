/** Laws and tests hold each other: no law without a test, no test that names a law which is none. */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** `- **R7** text` */
function lawsOf(text: string): string[] {
  return [...text.matchAll(/^- \*\*([A-Z]\d+)\*\* /gm)].map((match) => match[1] ?? '');
}

/** Ids at the start of a test's title: `it('R7, R12: …'` and `it.each(…)('R7: …'`. */
function idsOf(text: string): string[] {
  const titles = text.matchAll(
    /\b(?:it|test)(?:\.each)?\s*\(\s*['"`]((?:[A-Z]\d+)(?:, [A-Z]\d+)*): /g,
  );
  const each = text.matchAll(/\)\s*\(\s*['"`]((?:[A-Z]\d+)(?:, [A-Z]\d+)*): /g);
  return [...titles, ...each].flatMap((match) => (match[1] ?? '').split(', '));
}

const laws = lawsOf(readFileSync(`${root}docs/laws.md`, 'utf8'));
const tests = globSync('spec/**/*.{spec,e2e,browser,oracle,packed}.ts', { cwd: root })
  .filter((file) => !file.startsWith('spec/laws') && !file.includes('generated'))
  .flatMap((file) => idsOf(readFileSync(`${root}${file}`, 'utf8')).map((id) => ({ file, id })));

describe('laws', () => {
  it('are numbered once each', () => {
    expect(laws.length).toBeGreaterThan(80);
    expect(laws.filter((id, at) => laws.indexOf(id) !== at)).toEqual([]);
  });

  it('have a test each', () => {
    const tested = new Set(tests.map(({ id }) => id));
    expect(laws.filter((id) => !tested.has(id))).toEqual([]);
  });

  it('are what tests name', () => {
    expect(tests.filter(({ id }) => !laws.includes(id))).toEqual([]);
  });
});
