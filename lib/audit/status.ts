/** What the audit of an informer has found so far, in words a page can show. */

import type { ApiError } from '../meta/api-error.ts';
import type { EpochMs } from '../rx/epoch-ms.ts';

/** The audit of one run. */
export interface AuditStatus {
  /**
   * When the collection was last compared completely, or absent before the first
   * comparison has ended. With several scopes, when the one that waits longest was.
   */
  readonly lastAt?: EpochMs;
  /** How many objects have been compared with the server, in all comparisons of this run together. */
  readonly compared: number;
  /** How many of them differed, or were missing on either side. Each is healed by a list. */
  readonly differed: number;
  /** Some keys that differed in the last comparison that found a difference. */
  readonly differedKeys?: readonly string[];
  /** Why the last request of the audit failed, until a comparison ends well. The informer itself is not affected. */
  readonly error?: ApiError;
}

/** The audit of a run before its first comparison. */
export const unaudited: AuditStatus = { compared: 0, differed: 0 };

/** The audits of several scopes as one. */
export function mergeAudits(parts: readonly AuditStatus[]): AuditStatus {
  const [first = unaudited, ...rest] = parts;
  let merged = first;
  for (const part of rest) {
    // NaN is neither: a scope that was never compared completely leaves the collection without a time.
    const lastAt = Math.min(merged.lastAt ?? Number.NaN, part.lastAt ?? Number.NaN);
    const differedKeys = merged.differedKeys ?? part.differedKeys;
    const error = merged.error ?? part.error;
    merged = {
      compared: merged.compared + part.compared,
      differed: merged.differed + part.differed,
      ...(Number.isNaN(lastAt) ? {} : { lastAt }),
      ...(differedKeys === undefined ? {} : { differedKeys }),
      ...(error === undefined ? {} : { error }),
    };
  }
  return merged;
}
