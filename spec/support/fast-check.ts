/**
 * fast-check with the seed of the run: a change meets the same random values in each run, so that it is not refused because of
 * luck. Each night has other values (`RANDOM_SEED`).
 */
import * as fc from 'fast-check';

export const RANDOM_SEED = Number(process.env['RANDOM_SEED'] ?? 1);

fc.configureGlobal({ seed: RANDOM_SEED });

export * from 'fast-check';
