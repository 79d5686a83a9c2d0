/**
 * The status of an informer, which a page can show. Because data streams never error, failures that are retried appear
 * here. `status$` emits transitions only, so an advancing resourceVersion alone is not emitted.
 */
import type { AuditStatus } from '../../audit/status.ts';
import type { ApiError } from '../../meta/api-error.ts';
import type { ReflectorStatus } from '../../reflector/status.ts';
import type { LimitedAccess } from '../sources.ts';

/** The present activity of an informer. */
export type InformerPhase =
  /** Not running: it was not started, or its linger has ended. */
  | 'idle'
  /** The next request waits for the rate limit, for credentials or for a connection. */
  | 'queued'
  /** Reads a LIST in pages. */
  | 'listing'
  /** Reads a streaming LIST. */
  | 'streaming'
  /** A watch was requested, and its response has not begun yet. */
  | 'connecting'
  /** A watch is open, and the server has answered it. */
  | 'watching'
  /**
   * The demand was closed for so long that the watch was closed. It resumes from its last version when the demand
   * opens.
   */
  | 'paused'
  /** Waits before the next try after a failure. */
  | 'backoff'
  | 'stopped';

/** The status of an informer: the merged status of its reflectors, and the state of the store. */
export interface InformerStatus extends Omit<ReflectorStatus, 'phase'> {
  readonly phase: InformerPhase;
  /** Whether the store has contained a complete list in this run. */
  readonly synced: boolean;
  /**
   * Whether the store follows the server: the store is synced, and every scope has an answered watch, or a last poll
   * that succeeded. False while the informer waits, reconnects, lists, is paused or does not run, and after an outage or
   * a list of 2 s or more until the changes made meanwhile have arrived: nothing has arrived for a moment, or a bookmark
   * has, or 10 s have passed. True does not mean that the newest change has been received.
   */
  readonly live: boolean;
  /**
   * How many objects are not in the store with their newest state, because a transform, key or index function refused
   * it.
   */
  readonly refused: number;
  /** Some of the refused objects, the latest first, with their keys and the errors. */
  readonly refusedObjects?:
    | readonly { readonly key: string; readonly error: ApiError }[]
    | undefined;
  /** How many received items were not objects of the resource. */
  readonly refusedItems: number;
  /** The reason for the latest refusal of such an item. */
  readonly lastRefusal?: ApiError | undefined;
  /** How many deletions were of objects that the store did not contain. They are not delivered. */
  readonly unknownDeletions: number;
  /**
   * With the `audit` option, the results of the audit in this run. `'unsupported'` if a ListerWatcher has no
   * `listMetadata`, so that nothing is compared.
   */
  readonly audit?: AuditStatus | 'unsupported' | undefined;
  /** Set if only some namespaces are shown, because listing all of them is not permitted (`namespaceFallback`). */
  readonly access?: LimitedAccess | undefined;
  /** The number of runs so far. */
  readonly generation: number;
  /** The namespace that the informer follows, '' for all. Absent while it follows several; `scopes` names them. */
  readonly namespace?: string | undefined;
  /** The status of each ListerWatcher by scope, if there are several. */
  readonly scopes?: Readonly<Record<string, ReflectorStatus>> | undefined;
}

/** Whether the same objects are refused, in any order. */
export function sameRefused(
  a: InformerStatus['refusedObjects'] = [],
  b: InformerStatus['refusedObjects'] = [],
): boolean {
  if (a.length !== b.length) return false;
  const keys = new Set(a.map(({ key }) => key));
  return b.every(({ key }) => keys.has(key));
}

/** The fields of a scope whose changes are transitions. */
const TOLD_OF_SCOPES = ['phase', 'error', 'synced', 'blocked'] as const;

/** Whether a change from one status to the other is not a transition. */
export function sameTransition(a: InformerStatus, b: InformerStatus): boolean {
  const quiet = new Set([
    'resourceVersion',
    'sinceMs',
    'unknownDeletions',
    'scopes',
    'refusedObjects',
  ]);
  const names = Object.keys({ ...a, ...b }) as (keyof InformerStatus)[];
  if (names.some((name) => !quiet.has(name) && a[name] !== b[name])) return false;
  if (!sameRefused(a.refusedObjects, b.refusedObjects)) return false;
  return Object.keys({ ...a.scopes, ...b.scopes }).every((scope) =>
    TOLD_OF_SCOPES.every((field) => a.scopes?.[scope]?.[field] === b.scopes?.[scope]?.[field]),
  );
}
