/**
 * Judges mutants: plants each in a copy of the sources and runs the specs that run its place, in a process of their own.
 * Each result is kept, so that a campaign that was ended continues, and a mutant that survived is judged again by the
 * specs that have changed since.
 */
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE, copySources, digestOf } from './cache.ts';
import { type Judge, judgesOf, measureSpecs } from './measured-specs.ts';
import { type Change, change, draw, instrument, type Mutant, placeOf } from './mutants.ts';
import { runSpecs } from './run-specs.ts';

/** A mutant that no test should notice: it changes nothing that a user sees, for the reason `why`. */
export interface Explained {
  readonly file: string;
  /** A text that occurs once in the file, and the text in its place. */
  readonly old: string;
  readonly new: string;
  readonly why: string;
}

export const EXPLAINED: readonly Explained[] = JSON.parse(
  readFileSync(new URL('explained.json', import.meta.url), 'utf8'),
);

interface Kept {
  readonly key: string;
  readonly place: string;
  readonly old: string;
  readonly new: string;
  /** The failed test, or why there was none. Absent if no spec noticed the mutant. */
  readonly noticed?: string;
  /** The specs that did not notice the mutant, with the digests of their texts. */
  readonly passed: Readonly<Record<string, string>>;
}

interface Judged extends Kept {
  readonly original: string;
  readonly replacement: string;
  readonly why: string | undefined;
}

export interface CampaignOptions {
  readonly stages: readonly string[];
  readonly perStage: number;
  readonly seed: number;
  /** Whether single statements are deleted, in place of all other changes. */
  readonly deletes: boolean;
  /** How many seconds of specs, as measured without a mutant, judge one mutant. */
  readonly seconds: number;
}

const RESULTS = join(CACHE, 'results.jsonl');
/** How long a spec may take with a mutant, beyond three times its time without one, in milliseconds. */
const SPARE_MS = 10_000;

function readResults(): Map<string, Kept> {
  if (!existsSync(RESULTS)) return new Map();
  const lines = readFileSync(RESULTS, 'utf8').split('\n').filter(Boolean);
  return new Map(lines.map((line) => JSON.parse(line) as Kept).map((each) => [each.key, each]));
}

/** The nearest judges whose times are within the limit, and at least one. */
function within(judges: readonly Judge[], seconds: number): readonly Judge[] {
  let ms = 0;
  return judges.filter((each, at) => {
    const fits = at === 0 || ms + each.ms <= seconds * 1000;
    if (fits) ms += each.ms;
    return fits;
  });
}

class Campaign {
  readonly #copy: string;
  readonly #results = readResults();
  readonly #judgesOf: (mutant: Mutant) => readonly Judge[];

  constructor(copy: string, judges: (mutant: Mutant) => readonly Judge[]) {
    this.#copy = copy;
    this.#judgesOf = judges;
  }

  async judge(mutant: Mutant, seconds: number): Promise<Judged> {
    const path = join(this.#copy, mutant.fileName);
    const source = readFileSync(path, 'utf8');
    const changed = change(source, mutant);
    const { original, replacement } = changed;
    const key = `${placeOf(mutant)} ${mutant.mutatorName} ${digestOf(changed.source)}`;
    const before = this.#results.get(key);
    const judges = within(this.#judgesOf(mutant), seconds);
    const asked = judges.filter(({ spec, digest }) => before?.passed[spec] !== digest);
    const isOver = before !== undefined && (before.noticed !== undefined || asked.length === 0);
    let kept: Kept;
    if (isOver) kept = before;
    else {
      const plant = (isPlanted: boolean) =>
        writeFileSync(path, isPlanted ? changed.source : source);
      const noticed = asked.length === 0 ? undefined : await this.#run(asked, plant);
      const fault = { key, place: placeOf(mutant), old: changed.old, new: changed.new };
      const passed = Object.fromEntries(judges.map(({ spec, digest }) => [spec, digest]));
      kept = noticed === undefined ? { ...fault, passed } : { ...fault, noticed, passed: {} };
      appendFileSync(RESULTS, `${JSON.stringify(kept)}\n`);
    }
    const why = kept.noticed === undefined ? whyOf(mutant.fileName, source, changed) : undefined;
    return { ...kept, original, replacement, why };
  }

  /** Runs specs with the mutant. A limit of time counts only if the spec stays within it without the mutant. */
  async #run(
    judges: readonly Judge[],
    plant: (isPlanted: boolean) => void,
  ): Promise<string | undefined> {
    for (let patience = 1; ; patience *= 4) {
      const limitOf = ({ ms }: Judge) => patience * (SPARE_MS + 3 * ms);
      const asked = judges.map((each) => ({ spec: each.spec, limitMs: limitOf(each) }));
      plant(true);
      const { noticed, late } = await runSpecs(this.#copy, asked);
      plant(false);
      if (late === undefined) return noticed;
      const alone = asked.filter(({ spec }) => spec === late);
      if ((await runSpecs(this.#copy, alone)).noticed === undefined) return noticed;
    }
  }
}

function whyOf(file: string, source: string, changed: Change): string | undefined {
  const isSame = (each: Explained) =>
    each.file === file && source.replace(each.old, () => each.new) === changed.source;
  return EXPLAINED.find(isSame)?.why;
}

/** A stage passes if at least this share of its mutants is noticed or explained. */
const LEAST_SHARE = 0.9;

const short = (text: string) => text.replace(/\s+/g, ' ').slice(0, 120);

/** The line of a stage in the table, and its survivors. */
interface Score {
  readonly row: string;
  readonly isPassed: boolean;
}

function print(stage: string, judged: readonly Judged[], all: number): Score {
  const noticed = judged.filter((each) => each.noticed !== undefined).length;
  const survivors = judged.filter((each) => each.noticed === undefined && each.why === undefined);
  const survived = survivors.length;
  const explained = judged.length - noticed - survived;
  console.log(
    `${stage}: ${noticed} of ${judged.length} noticed, ${explained} explained, ${survived} survived`,
  );
  for (const { place, original, replacement, passed } of survivors) {
    const specs = Object.keys(passed).length;
    const how = specs === 0 ? 'no spec runs it' : `${specs} specs passed`;
    console.log(`  ${place} (${how})\n    - ${short(original)}\n    + ${short(replacement)}`);
  }
  const row = [stage, all, judged.length, noticed, explained, survived].join(' | ');
  return { row: `| ${row} |`, isPassed: noticed + explained >= LEAST_SHARE * judged.length };
}

/** Judges mutants of each stage and prints a table. Resolves with whether each stage passes. */
export async function runCampaign(options: CampaignOptions): Promise<boolean> {
  const copy = copySources();
  const scores: Score[] = [];
  try {
    const instrumented = await instrument(copy, options.deletes);
    const { mutants } = instrumented;
    const campaign = new Campaign(copy, judgesOf(await measureSpecs(copy, instrumented), mutants));
    for (const stage of options.stages) {
      const own = mutants.filter(({ fileName }) => fileName.startsWith(`lib/${stage}/`));
      if (own.length === 0) throw new TypeError(`no stage "${stage}" has a mutant`);
      const judged: Judged[] = [];
      for (const mutant of draw(own, options.perStage, options.seed)) {
        judged.push(await campaign.judge(mutant, options.seconds));
      }
      scores.push(print(stage, judged, own.length));
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  console.log('| stage | mutants in all | judged | noticed | explained | survived |');
  console.log(`|---|---|---|---|---|---|\n${scores.map(({ row }) => row).join('\n')}`);
  return scores.every(({ isPassed }) => isPassed);
}
