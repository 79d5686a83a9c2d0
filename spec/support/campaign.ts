/**
 * The one runner of campaigns whose seeds count from 1: `NAME_SEED=7` plays seed 7 again, and `NAME_SEEDS=1000` plays the first
 * thousand. What goes wrong names its seed and the command that repeats it. `architecture.spec.ts` refuses other loops over seeds.
 */

/** A campaign ends when this many seeds went wrong. */
const MOST_WRONG = 5;

/** What one seed found to be wrong, in words, and how often it reached the cases that the campaign is about. */
export interface Played {
  readonly wrong: readonly string[];
  readonly seen?: ReadonlyMap<string, number>;
}

export interface CampaignOptions {
  /** The prefix of the variables, such as `PERSIST`. */
  readonly name: string;
  /** How many seeds the gate plays. */
  readonly seeds: number;
  /** The command that repeats a seed; of an offline spec, its file. */
  readonly command: string;
}

/** A campaign that was played. */
export interface Campaign {
  /** The first wrong things, each with its seed and how to repeat it; empty if nothing went wrong. */
  readonly wrong: readonly string[];
  readonly seen: ReadonlyMap<string, number>;
  /** Whether one seed was repeated, so that its counts say nothing. */
  readonly isReplay: boolean;
}

/** Whether one seed is repeated. */
export function isReplay(name: string): boolean {
  return Boolean(process.env[`${name}_SEED`]);
}

/** The seeds from 1 on. */
export function seedsUpTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at + 1);
}

/** The seeds of this run. */
export function seedsOf(name: string, seeds: number): readonly number[] {
  const { [`${name}_SEED`]: one, [`${name}_SEEDS`]: many } = process.env;
  return one ? [Number(one)] : seedsUpTo(Number(many || seeds));
}

/** The words that a wrong seed is reported with. */
export function replayOf(name: string, seed: number, command: string): string {
  const isSpec = command.startsWith('spec/');
  const runs = isSpec ? `npx vitest run --config spec/vitest.config.ts ${command}` : command;
  return `seed ${seed} went wrong; replay: ${name}_SEED=${seed} ${runs}`;
}

/** Plays seeds, several at the same time, until this is enough. Returns what they gave, in the order in which they ended. */
export async function playSeeds<R>(
  seeds: readonly number[],
  play: (seed: number) => R | Promise<R>,
  together = 1,
  isEnough: () => boolean = () => false,
): Promise<R[]> {
  const left = seeds.toReversed();
  const played: R[] = [];
  const lane = async () => {
    for (let seed = left.pop(); seed !== undefined && !isEnough(); seed = left.pop()) {
      played.push(await play(seed));
    }
  };
  await Promise.all(Array.from({ length: together }, lane));
  return played;
}

/** Plays all seeds. A seed that throws went wrong with what it threw. */
export async function campaign(
  { name, seeds, command }: CampaignOptions,
  play: (seed: number) => Played | Promise<Played>,
): Promise<Campaign> {
  const wrong: string[] = [];
  const seen = new Map<string, number>();
  const note = async (seed: number) => {
    const played = await playedOf(seed, play);
    for (const [what, times] of played.seen ?? []) seen.set(what, (seen.get(what) ?? 0) + times);
    if (played.wrong.length === 0) return;
    wrong.push([replayOf(name, seed, command), ...played.wrong].join('\n  '));
  };
  await playSeeds(seedsOf(name, seeds), note, 1, () => wrong.length === MOST_WRONG);
  return { wrong, seen, isReplay: isReplay(name) };
}

async function playedOf(
  seed: number,
  play: (seed: number) => Played | Promise<Played>,
): Promise<Played> {
  try {
    return await play(seed);
  } catch (error) {
    return { wrong: [error instanceof Error ? (error.stack ?? error.message) : String(error)] };
  }
}

/** The first of these seeds that goes wrong; `undefined` if none does. For faults that are planted to be found. */
export async function firstWrong(
  seeds: readonly number[],
  play: (seed: number) => Played | Promise<Played>,
): Promise<number | undefined> {
  const wrong: number[] = [];
  const note = async (seed: number) => {
    if ((await playedOf(seed, play)).wrong.length > 0) wrong.push(seed);
  };
  await playSeeds(seeds, note, 1, () => wrong.length > 0);
  return wrong[0];
}
