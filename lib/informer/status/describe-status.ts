/** `describeStatus`, which turns each status into words for users. */
import { asyncScheduler } from 'rxjs';
import type { InformerStatus } from './status.ts';

/** How much attention a status needs: `live` none, `busy` a moment, `stale` because the data may be old, `stopped` because nothing runs. */
export type StatusTone = 'live' | 'busy' | 'stale' | 'stopped';

/** A status in words, as {@link describeStatus} returns it. */
export interface StatusWords {
  readonly tone: StatusTone;
  /** The activity of the informer, such as `Reconnecting in 4 s`. */
  readonly headline: string;
  /** The reason, or the progress; `''` if there is nothing to add. */
  readonly detail: string;
  /** The headline and the detail in one line. */
  readonly text: string;
}

/** The status of an informer, of a view or of hooks, in which any field may be absent. */
export type DescribedStatus = Partial<InformerStatus> & {
  readonly refusedRows?: readonly unknown[];
};

/** The time to which waits and ages refer. */
export interface DescribeStatusOptions {
  /** In milliseconds since the Unix epoch. @defaultValue the system clock */
  readonly nowMs?: number | undefined;
}

type Words = readonly [tone: StatusTone, headline: string, detail?: string | undefined];

const BLOCKED = {
  unauthorized: 'Not signed in',
  forbidden: 'Forbidden',
  'no-such-resource': 'Not found on this server',
  'wrong-kind': 'Another kind than requested',
} as const;

const shown = (value: number) => value.toLocaleString('en-US');

/** Joins parts with semicolons. A part behind the end of a sentence begins a sentence of its own. */
function joined(...parts: readonly (string | undefined)[]): string {
  return parts
    .filter((part) => !!part)
    .join('; ')
    .replace(/([.?!]); (.)/g, (_, mark, letter) => `${mark} ${letter.toUpperCase()}`);
}

/** The age of rows that are shown although they may be old. */
function ageOf({ synced, stale, staleSinceMs }: DescribedStatus, nowMs: number): string {
  const hasRows = synced === true || stale === true;
  if (!hasRows || staleSinceMs === undefined) return '';
  const seconds = Math.max(0, Math.round((nowMs - staleSinceMs) / 1_000));
  const [count, unit] =
    seconds < 120
      ? [seconds, 's']
      : seconds < 7_200
        ? [Math.round(seconds / 60), 'min']
        : [Math.round(seconds / 3_600), 'h'];
  return `the data is ${count} ${unit} old`;
}

/** The objects and permissions that are missing although the watch is open. */
function gapsOf({ refused = 0, refusedRows = [], access }: DescribedStatus): string {
  const count = (all: number, what: string) =>
    all === 0 ? '' : `${shown(all)} ${what}${all === 1 ? '' : 's'} left out`;
  return joined(count(refused, 'object'), count(refusedRows.length, 'row'), access?.message);
}

function loading({ synced, loaded = 0, remaining }: DescribedStatus, age: string): Words {
  const total = remaining === undefined ? '' : ` of ${shown(loaded + remaining)}`;
  const progress = loaded === 0 ? 'waiting for the server' : `${shown(loaded)}${total}`;
  return ['busy', synced === true ? 'Reading the list again' : 'Loading', joined(progress, age)];
}

function wordsOf(status: DescribedStatus, error: Error | undefined, nowMs: number): Words {
  const { phase = 'idle', live, blocked, heldBack, nextRetryAtMs = nowMs, waitingFor } = status;
  const age = ageOf(status, nowMs);
  const why = joined(error?.message, age);
  if (phase === 'idle') return ['busy', 'Starting', 'nothing was requested yet'];
  if (phase === 'stopped') return ['stopped', 'Stopped', why];
  if (blocked !== undefined) return ['stale', BLOCKED[blocked], why];
  if (heldBack !== undefined) return ['stale', 'Late', heldBack.message];
  // A pipe that has failed, of a view whose informers may be live.
  if (error !== status.error) return ['stale', 'Not live', why];
  if (live === true) return ['live', 'Live', gapsOf(status)];
  switch (phase) {
    case 'queued':
      return ['busy', 'Waiting for a connection', joined(waitingFor, age)];
    case 'listing':
    case 'streaming':
      return loading(status, age);
    case 'backoff': {
      // A clock that was set back does not make the wait longer.
      const plannedMs = nextRetryAtMs - (status.sinceMs ?? nowMs);
      const leftMs = Math.max(0, Math.min(nextRetryAtMs - nowMs, plannedMs));
      const seconds = Math.ceil(leftMs / 1_000);
      return ['stale', seconds === 0 ? 'Reconnecting' : `Reconnecting in ${seconds} s`, why];
    }
    case 'paused':
      return ['stale', 'Paused', age];
    case 'watching':
      return error === undefined ? ['busy', 'Catching up', age] : ['stale', 'Not live', why];
    default:
      return [error === undefined ? 'busy' : 'stale', 'Connecting', why];
  }
}

/**
 * Returns the words for a status: of an informer, of a view or of hooks. The result of a hook and the snapshot of a view
 * may be passed as they are. Only a status with `live: true` is called live. The words are English, and `headline` and `tone` tell the cases apart.
 *
 * @example
 * ```ts
 * import { describeStatus } from 'rx-informer';
 *
 * describeStatus({ phase: 'watching', synced: true, live: true }).text; // => 'Live'
 * describeStatus({ phase: 'listing', loaded: 500, remaining: 1500 }).text; // => 'Loading: 500 of 2,000'
 * const status = { phase: 'backoff', synced: true, nextRetryAtMs: 14_000, staleSinceMs: 0 } as const;
 * describeStatus(status, { nowMs: 10_000 }).text; // => 'Reconnecting in 4 s: the data is 10 s old'
 * ```
 */
export function describeStatus(
  of: DescribedStatus | { readonly status: DescribedStatus; readonly error?: Error | undefined },
  { nowMs = asyncScheduler.now() }: DescribeStatusOptions = {},
): StatusWords {
  const { status, error = status.error } = 'status' in of ? of : { status: of, error: of.error };
  const [tone, headline, detail = ''] = wordsOf(status, error, nowMs);
  return { tone, headline, detail, text: detail === '' ? headline : `${headline}: ${detail}` };
}
