/** Tests that each law has a test, and that no test names an unknown law. */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The ids of laws, from lines such as `- **R7** text`. */
function lawsOf(text: string): string[] {
  return [...text.matchAll(/^- \*\*([A-Z]\d+)\*\* /gm)].map((match) => match[1] ?? '');
}

/** The ids at the start of test titles, as in `it('R7, R12: …'` and `it.each(…)('R7: …'`. */
function idsOf(text: string): string[] {
  const titles = text.matchAll(
    /\b(?:it|test)(?:\.each)?\s*\(\s*['"`]((?:[A-Z]\d+)(?:, [A-Z]\d+)*): /g,
  );
  const each = text.matchAll(/\)\s*\(\s*['"`]((?:[A-Z]\d+)(?:, [A-Z]\d+)*): /g);
  return [...titles, ...each].flatMap((match) => (match[1] ?? '').split(', '));
}

const laws = globSync('docs/reference/laws/*.md', { cwd: root }).flatMap((file) =>
  lawsOf(readFileSync(`${root}${file}`, 'utf8')),
);
const tests = globSync('spec/**/*.{spec,contract,e2e,browser,oracle,packed,nats}.{ts,tsx}', {
  cwd: root,
})
  .filter((file) => !file.startsWith('spec/laws') && !file.includes('generated'))
  .flatMap((file) => idsOf(readFileSync(`${root}${file}`, 'utf8')).map((id) => ({ file, id })));

describe('laws', () => {
  it('have unique ids', () => {
    expect(laws.length).toBeGreaterThan(80);
    expect(laws.filter((id, at) => laws.indexOf(id) !== at)).toEqual([]);
  });

  it('have a test', () => {
    const tested = new Set(tests.map(({ id }) => id));
    expect(laws.filter((id) => !tested.has(id))).toEqual([]);
  });

  it('exist for each id in a test title', () => {
    expect(tests.filter(({ id }) => !laws.includes(id))).toEqual([]);
  });
});
