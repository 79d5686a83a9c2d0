/** What client-go's suites pin is pinned here, too: each such test is named by one of ours, or by a law. */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { CLIENT_GO_TESTS } from './client-go-tests.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** All that stands in test files but comments: titles, and the rows of `it.each`. */
function titles(): string {
  return globSync('spec/**/*.{spec,e2e,browser,oracle}.ts', { cwd: root })
    .filter((file) => !file.includes('generated'))
    .map((file) => readFileSync(`${root}${file}`, 'utf8'))
    .map((text) => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, ''))
    .join('\n');
}

const named = new Set(
  `${titles()}\n${readFileSync(`${root}docs/laws.md`, 'utf8')}`.match(/\bTest\w+/g),
);

describe("client-go's tests", () => {
  it.each(Object.entries(CLIENT_GO_TESTS))('of %s are named by tests or laws', (_file, tests) => {
    expect(tests.filter((test) => !named.has(test))).toEqual([]);
  });

  it('are listed once each', () => {
    const all = Object.values(CLIENT_GO_TESTS).flat();
    expect(all.length).toBeGreaterThan(80);
    expect(new Set(all).size).toBe(all.length);
  });
});
