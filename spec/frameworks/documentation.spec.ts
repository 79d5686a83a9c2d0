/** Tests that docs/guide/frameworks.md shows the code that the tests run. */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(`${root}docs/guide/frameworks.md`, 'utf8');
const shown = globSync('spec/frameworks/*.ts', { cwd: root })
  .map((file) => ({ file, code: readFileSync(`${root}${file}`, 'utf8') }))
  .filter(({ code }) => /^\/\*\* .* as docs\/guide\/frameworks\.md shows it\. \*\/\n/.test(code));

describe('docs/guide/frameworks.md', () => {
  it('A88: has the code of every framework', () => {
    expect(shown).toHaveLength(5);
    for (const { file, code } of shown) {
      const lines = code.slice(code.indexOf('*/') + 3).trim();
      expect(page.includes(`\n${lines}\n\`\`\`\n`), file).toBe(true);
    }
  });
});
