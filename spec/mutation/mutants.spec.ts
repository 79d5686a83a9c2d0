/** Tests how a campaign selects its mutants, puts them into the sources and finds the specs that judge them. */
import { describe, expect, it } from 'vitest';
import { judgesOf } from './measured-specs.ts';
import { change, draw, type Mutant } from './mutants.ts';

const SOURCE = `export function sign(n: number): number {
  if (n < 0) return -1;
  return n;
}
export function isNegative(n: number): boolean {
  return n < 0 || Object.is(n, -0);
}
`;

/** A mutant of the text `old` in a line, which counts from zero. */
function mutant(line: number, old: string, replacement: string, mutatorName = 'Any'): Mutant {
  const column = (SOURCE.split('\n')[line] ?? '').indexOf(old);
  const location = { start: { line, column }, end: { line, column: column + old.length } };
  return { id: `${line}.${column}`, fileName: 'lib/x.ts', mutatorName, replacement, location };
}

describe('a mutant', () => {
  it('is put into its place as an expression of its own', () => {
    const { original, replacement, source } = change(SOURCE, mutant(5, 'n < 0', 'n <= 0'));
    expect([original, replacement]).toEqual(['n < 0', '(n <= 0)']);
    expect(source).toBe(SOURCE.replace('n < 0 ||', '(n <= 0) ||'));
  });

  it('replaces a statement as it is', () => {
    const { source } = change(SOURCE, mutant(2, 'return n;', ';'));
    expect(source).toBe(SOURCE.replace('return n;', ';'));
  });

  it('is shown as lines that occur once in the source', () => {
    const twice = `${SOURCE}${SOURCE.replaceAll('function ', 'function other')}`;
    const { old, new: now } = change(twice, mutant(1, 'n < 0', 'true'));
    expect(old).toBe('export function sign(n: number): number {\n  if (n < 0) return -1;');
    expect(now).toBe('export function sign(n: number): number {\n  if ((true)) return -1;');
  });

  it('is refused if the source would not be TypeScript any more', () => {
    expect(() => change(SOURCE, mutant(1, 'n < 0', 'n <'))).toThrow(
      /lib\/x\.ts:2:7 became "\(n <\)"/,
    );
  });
});

describe('a draw', () => {
  const mutants = Array.from({ length: 50 }, (_, at) => ({ ...mutant(1, 'n', '1'), id: `${at}` }));
  const apart = mutants.map((each, line) => {
    const [start, end] = [
      { line, column: 0 },
      { line, column: 5 },
    ];
    return { ...each, location: { start, end } };
  });
  const ids = (seed: number) => draw(apart, 10, seed).map(({ id }) => id);

  it('is the same for the same seed', () => {
    expect(new Set(ids(1)).size).toBe(10);
    expect(ids(1)).toEqual(ids(1));
    expect(ids(1)).not.toEqual(ids(2));
  });

  it('leaves out places with many mutants', () => {
    expect(draw(mutants, 10, 1)).toEqual([]);
  });
});

describe('the judges of a mutant', () => {
  const inFile = (id: string, fileName: string) => ({ ...mutant(1, 'n', '1'), id, fileName });
  const mutants = [
    inFile('0', 'a.ts'),
    inFile('1', 'a.ts'),
    inFile('2', 'b.ts'),
    inFile('3', 'b.ts'),
  ];
  const spec = (tests: readonly string[], loaded: readonly string[] = [], ok = true) => ({
    ...{ digest: '', ms: 1, ok, tests, loaded },
  });
  const judges = judgesOf(
    {
      wide: spec(['0', '1', '2'], ['3']),
      near: spec(['0']),
      failing: spec(['0'], [], false),
      other: spec(['2']),
    },
    mutants,
  );
  const of = (at: number) => judges(mutants[at] as Mutant).map((each) => each.spec);

  it('are the specs that run its place, those with the largest share of its file first', () => {
    expect([of(0), of(1)]).toEqual([['near', 'wide'], ['wide']]);
  });

  it('are the specs of its file if the place is run when the module is loaded', () => {
    expect(of(3)).toEqual(['other', 'wide']);
  });
});
