/** The documentation of the live operators is complete. */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as library from 'rx-informer';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const operators = Object.keys(library).filter(
  (name) => /^live[A-Z]/.test(name) && name !== 'liveQuery',
);

/** The TSDoc of each exported function, by name; of an overloaded one that of its first signature. */
const comments = new Map<string, string>();
for (const file of globSync('lib/query/{operators,sources}/*.ts', { cwd: root })) {
  const text = readFileSync(`${root}${file}`, 'utf8');
  for (const [, comment = '', name = ''] of text.matchAll(
    /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\nexport function (\w+)/g,
  )) {
    if (!comments.has(name)) comments.set(name, comment);
  }
}

describe('the documentation of live operators', () => {
  it('A89: covers all operators', () => {
    expect(operators.length).toBeGreaterThan(12);
    expect(operators.filter((name) => !comments.has(name))).toEqual([]);
  });

  it.each(operators)('A89: says of %s how it ends, what it costs, and shows it', (name) => {
    const comment = comments.get(name) ?? '';
    expect(comment).toMatch(/\bCompletes\b/);
    expect(comment).toMatch(/\berrors\b|\berrors? is passed on\b/i);
    expect(comment).toMatch(/\bcosts?\b/i);
    expect(comment).toMatch(/ \* ```\n \* [a-z]/); // a marble diagram
    expect(comment).toMatch(/@example\n \* ```ts\n/);
  });

  it('A89: has a row for each operator in the table of costs', () => {
    const page = readFileSync(`${root}docs/guide/queries.md`, 'utf8');
    const section = page.split('\n## ').find((each) => each.startsWith('What it costs')) ?? '';
    const rows = [...section.matchAll(/^\| `(\w+)`/gm)].map((match) => match[1]);
    expect(operators.filter((name) => !rows.includes(name))).toEqual([]);
  });
});
