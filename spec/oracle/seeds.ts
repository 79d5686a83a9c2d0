/** Which seeds a run takes: `ORACLE_SEED=7` one, `ORACLE_SEEDS=1000` the first thousand. */

/** The seeds of this run, of which there are `count` unless told otherwise. */
export function seedsOf(count: number): readonly number[] {
  const { ORACLE_SEED, ORACLE_SEEDS } = process.env;
  if (ORACLE_SEED) return [Number(ORACLE_SEED)];
  return Array.from({ length: Number(ORACLE_SEEDS || count) }, (_, index) => index + 1);
}
