/** Tests that the page of versions lists exactly the names that are marked `@experimental`. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { experimentalNames } from '../release/changelog.ts';
import { root } from './trees.ts';

it('the page of versions lists each name that is marked `@experimental`, and no other', () => {
  const marks: string[] = [];
  const names: string[] = [];
  for (const file of globSync('lib/**/*.{ts,tsx}', { cwd: root })) {
    const text = readFileSync(join(root, file), 'utf8');
    marks.push(...(text.match(/@experimental\b/g) ?? []));
    const comments = text.matchAll(
      /\/\*\*(?:(?!\*\/)[\s\S])*?@experimental\b[\s\S]*?\*\/\s*(?:export )?(?:async )?(?:function|class|const|interface|type) ([\w$]+)/g,
    );
    names.push(...[...comments].map(([, name = '']) => name));
  }
  // Each mark belongs to a declaration that the expression above understands.
  expect(names).toHaveLength(marks.length);
  const page = readFileSync(join(root, 'docs/reference/versions.md'), 'utf8');
  expect(experimentalNames(page)).toEqual(new Set(names));
});
