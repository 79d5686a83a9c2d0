/** Selects the seeds of a run: `ORACLE_SEED=7` runs one, `ORACLE_SEEDS=1000` the first thousand. */

/** The seeds of this run; `count` is their default number. */
export function seedsOf(count: number): readonly number[] {
  const { ORACLE_SEED, ORACLE_SEEDS } = process.env;
  if (ORACLE_SEED) return [Number(ORACLE_SEED)];
  return Array.from({ length: Number(ORACLE_SEEDS || count) }, (_, index) => index + 1);
}
