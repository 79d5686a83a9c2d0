/** Selects the mutants of one stage: small deliberate faults, placed by StrykerJS and selected by a seed. */
import { globSync, readFileSync } from 'node:fs';

interface Position {
  readonly line: number;
  readonly column: number;
}

/** A deliberate fault that replaces the text at one place of a file. Lines and columns count from zero. */
export interface Mutant {
  readonly fileName: string;
  readonly mutatorName: string;
  readonly replacement: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

/** Mutators that are left out. Error texts have specs of their own, and a changed word is not a fault of a stage. */
export const EXCLUDED = ['StringLiteral'];
/** The most mutants at one place (`a < b` becomes `a <= b`, `a >= b`, `true`, `false`). */
const MOST_AT_ONE_PLACE = 6;

// The types of StrykerJS cannot be imported, because it is installed for a campaign only.
interface Instrumenter {
  instrument(files: readonly object[], options: object): Promise<{ mutants: readonly Mutant[] }>;
}

const silent = () => undefined;
const logger = {
  ...{ trace: silent, debug: silent, info: silent, warn: silent, error: silent, fatal: silent },
  isDebugEnabled: () => false,
};

/** All mutants of the files of a stage, `lib/<stage>/**`. */
export async function mutantsOf(stage: string): Promise<readonly Mutant[]> {
  const { Instrumenter } = (await import(`${'@stryker-mutator'}/instrumenter`)) as {
    Instrumenter: new (log: object) => Instrumenter;
  };
  const files = globSync(`lib/${stage}/**/*.ts`)
    .sort()
    .map((name) => ({ name, mutate: true, content: readFileSync(name, 'utf8') }));
  const options = { excludedMutations: EXCLUDED, ignorers: [], plugins: null };
  return (await new Instrumenter(logger).instrument(files, options)).mutants;
}

/** A random source with the same sequence of numbers in [0, 1) for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function isWithin(inner: Mutant, outer: Mutant): boolean {
  const order = (a: Position, b: Position) => a.line - b.line || a.column - b.column;
  return (
    inner.fileName === outer.fileName &&
    order(inner.location.start, outer.location.start) >= 0 &&
    order(inner.location.end, outer.location.end) <= 0
  );
}

/**
 * Selects the places of at least `count` mutants, as patterns of StrykerJS's option `mutate`. Only small places are
 * selected: a mutant of a large place (such as a removed function body) is detected by nearly every test and would
 * say little.
 */
export function draw(mutants: readonly Mutant[], count: number, seed: number): string[] {
  const random = randomOf(seed);
  const left = [...mutants];
  const drawn = new Set<Mutant>();
  const patterns: string[] = [];
  while (left.length > 0 && drawn.size < count) {
    const [picked] = left.splice(Math.floor(random() * left.length), 1);
    if (picked === undefined || drawn.has(picked)) continue;
    const here = mutants.filter((each) => isWithin(each, picked));
    if (here.length > MOST_AT_ONE_PLACE) continue;
    for (const each of here) drawn.add(each);
    const { start, end } = picked.location;
    const from = `${start.line + 1}:${start.column}`;
    patterns.push(`${picked.fileName}:${from}-${end.line + 1}:${end.column}`);
  }
  return patterns;
}
