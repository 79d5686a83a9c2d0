/** The mutants of the library: small deliberate faults, placed by StrykerJS's instrumenter and selected by a seed. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseSync } from 'vite';
import { CACHE } from './cache.ts';

const STRYKER = '10.1.1';
/** Mutators that are left out. Error texts have specs of their own, and a changed word is not a fault of a stage. */
const EXCLUDED = ['StringLiteral'];
/** The most mutants at one place (`a < b` becomes `a <= b`, `a >= b`, `true`, `false`). */
const MOST_AT_ONE_PLACE = 6;

interface Position {
  readonly line: number;
  readonly column: number;
}

/** A deliberate fault that replaces the text at one place of a file. Lines and columns count from zero. */
export interface Mutant {
  readonly id: string;
  readonly fileName: string;
  readonly mutatorName: string;
  readonly replacement: string;
  readonly location: { readonly start: Position; readonly end: Position };
  readonly status?: string;
}

/** The sources of the library with counters, which say which mutants' places a test runs. */
export interface Instrumented {
  readonly files: readonly { readonly name: string; readonly content: string }[];
  readonly mutants: readonly Mutant[];
}

// The types of StrykerJS cannot be imported, because it is installed for a campaign only.
interface Instrumenter {
  instrument(files: readonly object[], options: object): Promise<Instrumented>;
}

const silent = () => undefined;
const logger = {
  ...{ trace: silent, debug: silent, info: silent, warn: silent, error: silent, fatal: silent },
  isDebugEnabled: () => false,
};

/** The part of a path of Babel that a mutator reads. */
interface StatementPath {
  isExpressionStatement(): boolean;
  get(part: 'expression'): {
    isCallExpression(): boolean;
    get(part: 'callee'): { isSuper(): boolean };
  };
}

/** Deletes one statement, such as the end of a subscription or the reset of a flag. StrykerJS deletes whole blocks only. */
const deletedStatement = {
  name: 'DeletedStatement',
  *mutate(path: StatementPath): Iterable<object> {
    if (!path.isExpressionStatement()) return;
    const expression = path.get('expression');
    // Without super() a class cannot be created.
    if (expression.isCallExpression() && expression.get('callee').isSuper()) return;
    yield { type: 'EmptyStatement' };
  },
};

/** With `deletes`, statements are deleted in place of all other changes. */
async function importInstrumenter(deletes: boolean): Promise<new (log: object) => Instrumenter> {
  const folder = join(CACHE, 'node_modules/@stryker-mutator/instrumenter');
  if (!existsSync(folder)) {
    const options = ['--prefix', CACHE, '--no-save', '--no-package-lock'];
    const named = `@stryker-mutator/instrumenter@${STRYKER}`;
    execFileSync('npm', ['install', ...options, named], { stdio: 'inherit' });
  }
  const load = (file: string) => import(pathToFileURL(join(folder, 'dist/src', file)).href);
  if (deletes) {
    const { allMutators } = await load('mutators/mutate.js');
    allMutators.splice(0, allMutators.length, deletedStatement);
  }
  const { Instrumenter } = await load('index.js');
  return Instrumenter;
}

/** All files of the library that are not generated, from the folder `root`, with their mutants. */
export async function instrument(root: string, deletes = false): Promise<Instrumented> {
  const names = globSync('lib/**/*.ts', { cwd: root }).filter(
    (name) => !/generated|templates/.test(name),
  );
  const files = names
    .sort()
    .map((name) => ({ name, mutate: true, content: readFileSync(join(root, name), 'utf8') }));
  const options = { excludedMutations: EXCLUDED, ignorers: [], plugins: null };
  const all = await new (await importInstrumenter(deletes))(logger).instrument(files, options);
  return { files: all.files, mutants: all.mutants.filter(({ status }) => status !== 'Ignored') };
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
 * Selects `count` mutants. Only small places are selected: a mutant of a large place (such as a removed function body)
 * is detected by nearly every test and would say little.
 */
export function draw(mutants: readonly Mutant[], count: number, seed: number): readonly Mutant[] {
  const random = randomOf(seed);
  const left = [...mutants];
  const drawn: Mutant[] = [];
  while (left.length > 0 && drawn.length < count) {
    const [picked] = left.splice(Math.floor(random() * left.length), 1);
    if (picked === undefined) break;
    const here = mutants.filter((each) => isWithin(each, picked));
    if (here.length <= MOST_AT_ONE_PLACE) drawn.push(picked);
  }
  return drawn;
}

/** A place in a source, as text. */
export interface Change {
  readonly original: string;
  readonly replacement: string;
  /** The complete source with the mutant. */
  readonly source: string;
  /** Complete lines that occur once in the source, and the lines in their place. */
  readonly old: string;
  readonly new: string;
}

function offsetOf(source: string, { line, column }: Position): number {
  let start = 0;
  for (let each = 0; each < line; each++) start = source.indexOf('\n', start) + 1;
  return start + column;
}

/** Puts a mutant into its source. Throws if the result is no TypeScript, because every test would detect that. */
export function change(source: string, mutant: Mutant): Change {
  const { fileName, location, mutatorName } = mutant;
  const from = offsetOf(source, location.start);
  const to = offsetOf(source, location.end);
  const original = source.slice(from, to);
  const isStatement =
    mutatorName === 'BlockStatement' ||
    mutant.replacement === ';' ||
    /^(?:case|default)\b/.test(original);
  // An expression keeps its place among the operators around it.
  const replacement = isStatement ? mutant.replacement : `(${mutant.replacement})`;
  const mutated = source.slice(0, from) + replacement + source.slice(to);
  const [error] = parseSync(fileName, mutated).errors;
  if (error) throw new SyntaxError(`${placeOf(mutant)} became "${replacement}": ${error.message}`);
  let first = source.lastIndexOf('\n', from - 1) + 1;
  const last = source.indexOf('\n', to);
  while (source.split(source.slice(first, last)).length > 2) {
    first = source.lastIndexOf('\n', first - 2) + 1;
  }
  const lines = { old: source.slice(first, last), new: '' };
  lines.new = source.slice(first, from) + replacement + source.slice(to, last);
  return { original, replacement, source: mutated, ...lines };
}

/** The place of a mutant, with lines and columns that count from one. */
export function placeOf({ fileName, location: { start } }: Mutant): string {
  return `${fileName}:${start.line + 1}:${start.column + 1}`;
}
