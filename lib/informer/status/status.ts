/**
 * What an informer is doing, in words a page can show. Data streams never error: all that a retry can heal is
 * here. Emitted on transitions only, so a moving resourceVersion is no emission.
 */
import type { AuditStatus } from '../../audit/status.ts';
import type { ApiError } from '../../meta/api-error.ts';
import { isOlder } from '../../meta/resource-version.ts';
import type { ReflectorStatus } from '../../reflector/status.ts';

/** Where an informer stands. */
export type InformerPhase =
  /** No subscriber and not started. */
  | 'idle'
  /** The request was not sent yet: it waits for the rate limiter, for credentials or for a connection. */
  | 'queued'
  /** Reads a LIST in pages. */
  | 'listing'
  /** Reads a streaming LIST. */
  | 'streaming'
  /** A watch was requested and is not answered yet. */
  | 'connecting'
  /** An answered watch is open. */
  | 'watching'
  /** The consumer has no room; the watch was closed and goes on where it stood. */
  | 'paused'
  /** Waits before the next try. */
  | 'backoff'
  | 'stopped';

/** The state of an informer: what its reflectors say, and what the store adds. */
export interface InformerStatus extends Omit<ReflectorStatus, 'phase'> {
  readonly phase: InformerPhase;
  /** The store has held a whole list in this generation. */
  readonly synced: boolean;
  /**
   * The store follows the server: it is synced, and every scope has an answered watch, or of a collection that is polled a
   * last poll that succeeded. False while the informer waits, reconnects or lists, is paused or at rest. It says that the
   * connection is up, not that the newest change has come.
   */
  readonly live: boolean;
  /** Objects of which the newest state stays out, because a transform, key or index function refused it. */
  readonly quarantined: number;
  /** Some of them, by key, the latest first, with what refused them. */
  readonly quarantine?: readonly { readonly key: string; readonly error: ApiError }[];
  /** What came and was no object of this resource. */
  readonly skipped: number;
  readonly lastSkipped?: ApiError;
  /** Deletions of objects that nobody knew; they are not delivered. */
  readonly unknownDeletions: number;
  /**
   * With the `audit` option: what comparing the store with the server has found in this run. `'unsupported'` if a
   * ListerWatcher has no `listMetadata`, so nothing is compared.
   */
  readonly audit?: AuditStatus | 'unsupported';
  /** Counts runs: start, stop, start is two. */
  readonly generation: number;
  /** Of an informer over several ListerWatchers: each one's own, by scope. */
  readonly scopes?: Readonly<Record<string, ReflectorStatus>>;
}

/** The phase that stands for several: the one most in need of attention. */
const BY_ATTENTION: readonly ReflectorStatus['phase'][] = [
  'backoff',
  'queued',
  'listing',
  'streaming',
  'connecting',
  'paused',
  'stopped',
  'watching',
];

function earliest(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : Math.min(a, b);
}

/** Several reflectors as one: the worst phase, the oldest staleness, counters added up. */
export function mergeStatus(parts: readonly ReflectorStatus[]): ReflectorStatus | undefined {
  const [first, ...rest] = [...parts].sort(
    (a, b) => BY_ATTENTION.indexOf(a.phase) - BY_ATTENTION.indexOf(b.phase),
  );
  if (first === undefined || rest.length === 0) return first;
  let merged: ReflectorStatus = first;
  for (const part of rest) {
    const staleSinceMs = earliest(merged.staleSinceMs, part.staleSinceMs);
    // What blocks goes before what only waits, and its own error with it.
    const blocking = merged.blocked === undefined && part.blocked !== undefined ? part : merged;
    const { blocked, error = part.error } = blocking;
    const oldest = isOlder(part.resourceVersion, merged.resourceVersion) ? part : merged;
    const loaded = (merged.loaded ?? 0) + (part.loaded ?? 0);
    const heldBack = merged.heldBack ?? part.heldBack;
    merged = {
      ...merged,
      synced: merged.synced && part.synced,
      live: merged.live && part.live,
      attempt: Math.max(merged.attempt, part.attempt),
      reconnects: merged.reconnects + part.reconnects,
      relists: merged.relists + part.relists,
      resourceVersion: oldest.resourceVersion,
      ...(staleSinceMs === undefined ? {} : { staleSinceMs }),
      ...(error === undefined ? {} : { error }),
      ...(blocked === undefined ? {} : { blocked }),
      ...(heldBack === undefined ? {} : { heldBack }),
      ...(loaded === 0 ? {} : { loaded }),
    };
  }
  return merged;
}

/** Whether the same objects are refused, in any order. */
export function sameRefused(
  a: InformerStatus['quarantine'] = [],
  b: InformerStatus['quarantine'] = [],
): boolean {
  if (a.length !== b.length) return false;
  const keys = new Set(a.map(({ key }) => key));
  return b.every(({ key }) => keys.has(key));
}

/** Whether two statuses tell a reader the same. */
export function sameTransition(a: InformerStatus, b: InformerStatus): boolean {
  const quiet = new Set(['resourceVersion', 'sinceMs', 'unknownDeletions', 'scopes', 'quarantine']);
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const name of names) {
    if (quiet.has(name)) continue;
    if (a[name as keyof InformerStatus] !== b[name as keyof InformerStatus]) return false;
  }
  if (!sameRefused(a.quarantine, b.quarantine)) return false;
  const scopes = new Set([...Object.keys(a.scopes ?? {}), ...Object.keys(b.scopes ?? {})]);
  for (const scope of scopes) {
    const before = a.scopes?.[scope];
    const after = b.scopes?.[scope];
    if (before?.phase !== after?.phase || before?.error !== after?.error) return false;
    if (before?.synced !== after?.synced || before?.blocked !== after?.blocked) return false;
  }
  return true;
}
