/** The ways in which a queue folds waiting deltas, by name, so that the titles of tests and the seeds can name them. */
import { latestPerKey } from 'rx-informer';

export const compressions = { none: undefined, latest: latestPerKey } as const;
export type CompressionName = keyof typeof compressions;
