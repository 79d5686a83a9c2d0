/** Measures which mutants' places each spec of the offline suite runs, and how long it takes without a mutant. */
import { globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { CACHE, digestOf } from './cache.ts';
import type { Instrumented, Mutant } from './mutants.ts';
import { runSpecs } from './run-specs.ts';

/** A spec without a mutant. */
interface Measured {
  readonly digest: string;
  readonly ms: number;
  /** Whether it passes. A spec that fails without a mutant notices nothing. */
  readonly ok: boolean;
  /** The ids of the mutants whose places its tests run. */
  readonly tests: readonly string[];
  /** The same for places that are run when the modules are loaded, also by the specs before it. */
  readonly loaded: readonly string[];
}

/** A spec that may notice a mutant. */
export interface Judge {
  readonly spec: string;
  readonly digest: string;
  readonly ms: number;
}

const FILE = join(CACHE, 'specs.json');
/** The limit of a spec that was never measured, in milliseconds. */
const FIRST_LIMIT_MS = 300_000;

interface Kept {
  readonly sources: string;
  readonly specs: Record<string, Measured>;
}

const SPECS = 'spec/**/*.spec.{ts,tsx}';
/** Their tests are about texts and types, need a build or a browser, or are the examples of the documentation. */
const NOT_JUDGES =
  /^spec\/(?:[^/]+$|mutation|e2e|browser|frameworks|weight|api|types|generated-examples)/;

function read(copy: string, name: string): string {
  return readFileSync(join(copy, name), 'utf8');
}

export function readKept(sources: string): Kept {
  try {
    const kept = JSON.parse(readFileSync(FILE, 'utf8')) as Kept;
    if (kept.sources === sources) return kept;
  } catch {
    // The first campaign, or an interrupted write.
  }
  return { sources, specs: {} };
}

/** The digest of a spec with the files beside it that are no specs. */
export function digestsOf(copy: string, specs: readonly string[]): ReadonlyMap<string, string> {
  const folderOf = (name: string) => name.split('/', 2).join('/');
  const beside = new Map<string, string>();
  for (const name of globSync('spec/*/**/*.{ts,tsx,json}', { cwd: copy }).sort()) {
    if (/\.spec\.|node_modules/.test(name)) continue;
    beside.set(folderOf(name), `${beside.get(folderOf(name)) ?? ''}${read(copy, name)}`);
  }
  const digest = (spec: string) => digestOf(read(copy, spec) + (beside.get(folderOf(spec)) ?? ''));
  return new Map(specs.map((spec) => [spec, digest(spec)]));
}

/**
 * Measures the specs that were not measured before, or that have changed with the files beside them since; all, if a
 * source of the library has changed.
 */
export async function measureSpecs(copy: string, { files }: Instrumented): Promise<Kept['specs']> {
  const specs = globSync(SPECS, { cwd: copy }).filter((spec) => !NOT_JUDGES.test(spec));
  const kept = readKept(digestOf(files.map(({ name }) => read(copy, name)).join('\0')));
  const digests = digestsOf(copy, specs);
  for (const spec of Object.keys(kept.specs)) {
    if (kept.specs[spec]?.digest !== digests.get(spec)) delete kept.specs[spec];
  }
  const asked = specs.filter((spec) => !(spec in kept.specs)).sort();
  if (asked.length === 0) return kept.specs;
  console.log(`measuring ${asked.length} of ${specs.length} specs`);
  const plain = files.map(({ name }) => ({ name, content: read(copy, name) }));
  for (const { name, content } of files) writeFileSync(join(copy, name), content);
  const covered = join(copy, '.covered');
  mkdirSync(covered);
  const report = await runSpecs(
    copy,
    asked.map((spec) => ({ spec, limitMs: FIRST_LIMIT_MS })),
    covered,
  );
  for (const { name, content } of plain) writeFileSync(join(copy, name), content);
  const places = new Map(
    readdirSync(covered).map((name) => {
      const { path, ...ids } = JSON.parse(read(covered, name));
      return [relative(copy, path), ids as Pick<Measured, 'tests' | 'loaded'>];
    }),
  );
  for (const { spec, ms, ok } of report.specs) {
    const ids = places.get(spec) ?? { tests: [], loaded: [] };
    kept.specs[spec] = { digest: digests.get(spec) as string, ms, ok, ...ids };
  }
  // The spec that ran when the run ended would end every run, and no spec after it would be measured.
  const ended = asked.find((spec) => !(spec in kept.specs));
  if (ended !== undefined) {
    const digest = digests.get(ended) as string;
    kept.specs[ended] = { digest, ms: FIRST_LIMIT_MS, ok: false, tests: [], loaded: [] };
    console.log(`${ended} ended the run, so it judges no mutant until it changes`);
  }
  rmSync(covered, { recursive: true });
  writeFileSync(FILE, JSON.stringify(kept));
  // Specs that were not measured would notice nothing.
  const missing = asked.filter((spec) => !(spec in kept.specs));
  if (missing.length > 0) {
    throw new Error(
      `${missing.length} specs were not measured, because ${ended} ended the run: ${report.noticed ?? 'without a failure'}. Run the command again to measure them`,
    );
  }
  return kept.specs;
}

/**
 * Returns for each mutant the specs that run its place, the nearest first: those of which the file is the largest part.
 * A place that is run when its module is loaded has the specs that run any place of the file.
 */
export function judgesOf(
  specs: Readonly<Record<string, Measured>>,
  mutants: readonly Mutant[],
): (mutant: Mutant) => readonly Judge[] {
  const fileOf = new Map(mutants.map(({ id, fileName }) => [id, fileName]));
  const loaded = new Set(Object.values(specs).flatMap((each) => each.loaded));
  const sound = Object.entries(specs)
    .filter(([, { ok }]) => ok)
    .map(([spec, { digest, ms, tests }]) => {
      const shares = new Map<string, number>();
      for (const id of tests) {
        const file = fileOf.get(id) ?? '';
        shares.set(file, (shares.get(file) ?? 0) + 1 / tests.length);
      }
      return { judge: { spec, digest, ms }, shares, tests: new Set(tests) };
    });
  return ({ id, fileName }) => {
    const asked = sound.filter(({ tests, shares }) =>
      loaded.has(id) ? shares.has(fileName) : tests.has(id),
    );
    const share = ({ shares }: (typeof sound)[number]) => shares.get(fileName) ?? 0;
    return [...asked].sort((a, b) => share(b) - share(a)).map(({ judge }) => judge);
  };
}
