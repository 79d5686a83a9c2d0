/**
 * Tests that the code of an option has the default that its TSDoc states, and that the page of versions lists the names marked
 * `@experimental`.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { experimentalNames } from '../release/changelog.ts';
import { stripComments } from '../support/imports.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** `16 * 2 ** 20` and `30_000` as numbers. */
function numberOf(text: string): number {
  const factors = text.replaceAll('_', '').split(' * ');
  return factors
    .map((factor) =>
      factor
        .split(' ** ')
        .map(Number)
        .reduceRight((exponent, base) => base ** exponent),
    )
    .reduce((product, factor) => product * factor);
}

const UNITS: Readonly<Record<string, number>> = { MiB: 2 ** 20, GiB: 2 ** 30 };

/** The numbers that TSDoc states as defaults, with their options. */
function statedIn(text: string): [name: string, value: number][] {
  const stated = text.matchAll(
    /@defaultValue ([\d_.]*\d)(?: ([MG]iB))?\b[^\n]*?\s*\*\/\s*(?:readonly )?(\w+)\?:/g,
  );
  return [...stated].map(([, value = '', unit = '', name = '']) => [
    name,
    numberOf(value) * (UNITS[unit] ?? 1),
  ]);
}

/** The numbers that stand for options that are left out, as in `{ limit = 5 }` and `options.limit ?? 5`. */
function usedIn(text: string): [name: string, value: number][] {
  const number = String.raw`(\d[\d_.]*(?: \*\*? \d[\d_.]*)*)(?=,| }|\)|;?\n)`;
  const used = stripComments(text).matchAll(
    new RegExp(String.raw`(?:[{,]\s+(\w+) = (?=[^;]*\})|\b(\w+) \?\? )${number}`, 'g'),
  );
  return [...used].map(([, own, given, value = '']) => [own ?? given ?? '', numberOf(value)]);
}

const files = globSync('lib/**/*.{ts,tsx}', { cwd: root }).filter(
  (file) => !/generated|\/templates\//.test(file),
);
const texts = files.map((file) => [file, readFileSync(`${root}${file}`, 'utf8')] as const);
const roomOf = (file: string) => file.split('/')[1] ?? '';

describe('the defaults of options', () => {
  it('are those that TSDoc states', () => {
    const stated = texts.flatMap(([file, text]) =>
      statedIn(text).map(([name, value]) => ({ room: roomOf(file), name, value })),
    );
    const used = texts.flatMap(([file, text]) =>
      usedIn(text).map(([name, value]) => ({ file, name, value })),
    );
    const odd = used.filter(({ file, name, value }) => {
      const near = stated.filter((each) => each.name === name && each.room === roomOf(file));
      return near.length > 0 && near.every((each) => each.value !== value);
    });
    expect(odd).toEqual([]);
    const names = new Set(used.map(({ name }) => name));
    expect(stated.filter(({ name }) => names.has(name)).length).toBeGreaterThan(60);
  });

  it('are read from texts', () => {
    const text = `
      /** One. @defaultValue 30000 */
      readonly limitMs?: number;
      /**
       * Two. @defaultValue 2
       */
      size?: number;
      const { limitMs = 30_000, maxBytes = 16 * 2 ** 20 } = options; // size = 5
      use(options.size ?? 3);
    `;
    expect(statedIn(text)).toEqual([
      ['limitMs', 30_000],
      ['size', 2],
    ]);
    expect(usedIn(text)).toEqual([
      ['limitMs', 30_000],
      ['maxBytes', 2 ** 24],
      ['size', 3],
    ]);
  });
});

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
