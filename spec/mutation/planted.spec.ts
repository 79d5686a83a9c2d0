/** Tests that each planted fault still applies, and that the test that must notice it exists. */
import { globSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { titlesOf } from '../support/test-titles.ts';
import { EXPLAINED } from './campaign.ts';
import { PLANTED, withFault } from './planted.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (file: string) => readFileSync(`${root}${file}`, 'utf8');

describe('the planted faults', () => {
  it('apply to the sources, each at one place', () => {
    expect(PLANTED.length).toBeGreaterThan(30);
    for (const fault of PLANTED) {
      const source = textOf(fault.file);
      expect(withFault(source, fault)).not.toBe(source);
    }
  });

  it('have a test with the title that must fail', () => {
    const specs = [...new Set(PLANTED.map(({ spec }) => spec))];
    // What several specs must show is in the contracts beside them.
    const files = (spec: string) => [
      spec,
      ...globSync(`${dirname(spec)}/*.contract.ts`, { cwd: root }),
    ];
    const titles = new Map(
      specs.map((spec) => [spec, files(spec).flatMap((file) => titlesOf(file, textOf(file)))]),
    );
    const missing = PLANTED.filter(
      ({ spec, title }) => !titles.get(spec)?.some((each) => each.startsWith(title)),
    );
    expect(missing).toEqual([]);
  });

  it('are refused if their text is gone or occurs twice', () => {
    const fault = { ...(PLANTED[0] as (typeof PLANTED)[number]), file: 'lib/x.ts', old: 'a' };
    expect(() => withFault('b', fault)).toThrow(/occurs 0 times in lib\/x\.ts/);
    expect(() => withFault('a a', fault)).toThrow(/occurs 2 times/);
  });
});

describe('the explained mutants', () => {
  it('apply to the sources, each at one place, and have a reason', () => {
    for (const { file, old, new: now, why } of EXPLAINED) {
      const source = textOf(file);
      expect(source.split(old), `${file}: ${old}`).toHaveLength(2);
      expect(now).not.toBe(old);
      expect(why).toMatch(/\w+ \w+ .*\.$/);
    }
  });
});
