/**
 * Describes the status of the informers in words: the current activity, since when, and whether the data on screen may be
 * old.
 */
import { describeStatus, type InformerStatus, type StatusTone } from 'rx-informer';
import { clock, number } from '../../shared/words.ts';
import { errorMeaning, errorWords } from './error-words.ts';
import type { ShownStatus } from './shown-status.ts';

export interface StatusWords {
  readonly tone: StatusTone;
  readonly headline: string;
  readonly detail: string;
  /** 0 to 1 while the initial list loads, if the server says how much is left. */
  readonly progress?: number;
}

type Status = Partial<InformerStatus> & Pick<ShownStatus, 'worker'>;

/** The words of a page while its worker does not answer, by the reason. */
const ofWorker: Readonly<Record<NonNullable<Status['worker']>, Partial<StatusWords>>> = {
  lost: {
    tone: 'stale',
    headline: 'Starting again',
    detail: 'the worker of the page has ended, and another one is being started',
  },
  failed: {
    tone: 'stopped',
    headline: 'Not running',
    detail: 'no worker can be started; reload the page',
  },
  'signed-out': {
    tone: 'stopped',
    headline: 'Outdated page',
    detail: 'another tab shows another cluster, or was opened with other options; reload the page',
  },
};

const minutes = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

/** The headline while other lists and watches have the connections of the browser. */
export const WAITING = 'Waiting for a connection';

/** Whether the data on screen follows the server now. */
export function isLive({ live, heldBack }: Status): boolean {
  return live === true && heldBack === undefined;
}

/** Since when the data on screen may be old. */
function since({ staleSinceMs, sinceMs }: Status, nowMs: number): string {
  return clock.format(staleSinceMs ?? sinceMs ?? nowMs);
}

function showing(status: Status, nowMs: number): string {
  if (!status.synced) return 'nothing to show yet';
  return `showing data from ${since(status, nowMs)}`;
}

/** The result of the last audit, as an addition to another text. */
function audited({ audit }: Status): string {
  if (typeof audit !== 'object') return '';
  const { lastAt, differed, error } = audit;
  const found = differed === 0 ? '' : `, ${number.format(differed)} differed and were repaired`;
  if (error !== undefined) return `, not compared with the server (${error.message})${found}`;
  return lastAt === undefined
    ? ''
    : `, compared with the server at ${minutes.format(lastAt)}${found}`;
}

function loading(status: Status, what: string, nowMs: number): Partial<StatusWords> {
  const { loaded = 0, remaining, relists = 0 } = status;
  if (status.synced && relists > 0) return { detail: showing(status, nowMs) };
  if (loaded === 0) return {};
  if (remaining === undefined) return { detail: `${number.format(loaded)} ${what} so far` };
  const total = loaded + remaining;
  const detail = `${number.format(loaded)} of ${number.format(total)} ${what}`;
  return { detail, progress: loaded / total };
}

/** The words of the dashboard for a status, where they differ from the library's: with its own clock, and with the meaning of errors. */
function ownWords(status: Status, what: string, nowMs: number): Partial<StatusWords> {
  const { phase, error, blocked, heldBack, worker } = status;
  if (worker !== undefined) return ofWorker[worker];
  if (phase === undefined || phase === 'idle' || heldBack !== undefined) return {};
  if (blocked !== undefined) {
    return { detail: error === undefined ? 'the server refuses the list' : errorWords(error) };
  }
  if (status.stale === true && !status.synced) {
    return { headline: 'Catching up', detail: `showing ${what} as of ${since(status, nowMs)}` };
  }
  if (isLive(status)) return { detail: `every change is shown${audited(status)}` };
  if (phase === 'listing' || phase === 'streaming') return loading(status, what, nowMs);
  const shows = showing(status, nowMs);
  if (phase === 'queued') {
    const why = 'a browser has few connections to one server, so watches take turns';
    return { detail: `${why} — ${shows}` };
  }
  if (phase !== 'backoff') return { detail: shows };
  const cause = error === undefined ? 'The connection was lost' : errorMeaning(error);
  return { detail: `${cause} — ${shows}` };
}

/** Describes a status. `what` names the objects, such as `Pods`. */
export function statusWords(status: Status, what: string, nowMs: number): StatusWords {
  const { tone, headline, detail } = describeStatus(status, { nowMs });
  return { tone, headline, detail, ...ownWords(status, what, nowMs) };
}
