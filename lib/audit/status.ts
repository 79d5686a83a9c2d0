/** The status of an audit, and how the audits of several scopes are merged into one. */

import type { ApiError } from '../meta/api-error.ts';
import type { EpochMs } from '../rx/timing.ts';

/** The results of the audit in one run. */
export interface AuditStatus {
  /**
   * When the collection was last compared completely. Absent until the first comparison has ended. With several scopes,
   * the time of the scope whose comparison is oldest.
   */
  readonly lastAt?: EpochMs | undefined;
  /** How many objects were compared with the server, summed over all comparisons of this run. */
  readonly compared: number;
  /** How many of these objects differed, or were missing on either side. A list repairs them. */
  readonly differed: number;
  /** How many of those that differed were in the store and no longer on the server: the watch lost their deletion. */
  readonly ghosts: number;
  /** How many of those that differed were on the server and not in the store. */
  readonly missing: number;
  /** Some of the keys that differed, of the last comparison of each scope that found a difference. */
  readonly differedKeys?: readonly string[] | undefined;
  /**
   * Why the last request of the audit failed, or which objects a list has not repaired. Removed when a comparison without
   * such objects is completed. The informer itself is not affected.
   */
  readonly error?: ApiError | undefined;
}

/** How many of the keys that differed are in a status. */
export const SHOWN_KEYS = 10;

/** The audit of a run before its first comparison. */
export const unaudited: AuditStatus = { compared: 0, differed: 0, ghosts: 0, missing: 0 };

/** The audits of several scopes as one. */
export function mergeAudits(parts: readonly AuditStatus[]): AuditStatus {
  const [first = unaudited, ...rest] = parts;
  let merged = first;
  for (const part of rest) {
    // NaN, because the collection has no time until every scope was compared completely.
    const lastAt = Math.min(merged.lastAt ?? Number.NaN, part.lastAt ?? Number.NaN);
    const keys = [...(merged.differedKeys ?? []), ...(part.differedKeys ?? [])];
    const error = merged.error ?? part.error;
    merged = {
      compared: merged.compared + part.compared,
      differed: merged.differed + part.differed,
      ghosts: merged.ghosts + part.ghosts,
      missing: merged.missing + part.missing,
      lastAt: Number.isNaN(lastAt) ? undefined : lastAt,
      differedKeys: keys.length === 0 ? undefined : keys.slice(0, SHOWN_KEYS),
      error,
    };
  }
  return merged;
}
