/**
 * Describes the status of the informers in words: the current activity, since when, and whether the data on screen may be
 * old.
 */
import type { InformerStatus } from 'rx-informer';
import { errorMeaning, errorWords } from './error-words.ts';

/** The appearance of a status. */
export type StatusTone = 'live' | 'busy' | 'stale' | 'stopped';

/** A description of a status. */
export interface StatusWords {
  readonly tone: StatusTone;
  readonly headline: string;
  readonly detail: string;
  /** 0 to 1 while the initial list loads, if the server says how much is left. */
  readonly progress?: number;
}

type Status = Partial<InformerStatus>;

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const clockOfSeconds = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const number = new Intl.NumberFormat('en-US');

const blockedWords = {
  unauthorized: 'Not signed in',
  forbidden: 'Forbidden',
  'no-such-resource': 'Not found on this server',
  'wrong-kind': 'Another kind than requested',
} as const;

/** The headline while other lists and watches have the connections of the browser. */
export const WAITING = 'Waiting for a connection';

/** Whether the data on screen follows the server now. */
export function isLive({ live, heldBack }: Status): boolean {
  return live === true && heldBack === undefined;
}

function showing(status: Status, nowMs: number): string {
  if (!status.synced) return 'nothing to show yet';
  return `showing data from ${clockOfSeconds.format(status.staleSinceMs ?? status.sinceMs ?? nowMs)}`;
}

/** The result of the last audit, as an addition to another text. */
function audited({ audit }: Status): string {
  if (typeof audit !== 'object') return '';
  const { lastAt, differed, error } = audit;
  const found = differed === 0 ? '' : `, ${number.format(differed)} differed and were repaired`;
  if (error !== undefined) return `, not compared with the server (${error.message})${found}`;
  return lastAt === undefined
    ? ''
    : `, compared with the server at ${clock.format(lastAt)}${found}`;
}

function loading(status: Status, what: string, nowMs: number): StatusWords {
  const { loaded = 0, remaining, relists = 0 } = status;
  if (status.synced && relists > 0) {
    return { tone: 'busy', headline: 'Reading the list again', detail: showing(status, nowMs) };
  }
  if (remaining === undefined || loaded === 0) {
    const detail =
      loaded === 0 ? 'waiting for the server' : `${number.format(loaded)} ${what} so far`;
    return { tone: 'busy', headline: 'Loading', detail };
  }
  const total = loaded + remaining;
  return {
    tone: 'busy',
    headline: 'Loading',
    detail: `${number.format(loaded)} of ${number.format(total)} ${what}`,
    progress: loaded / total,
  };
}

function waiting(status: Status, nowMs: number): StatusWords {
  const { error, blocked, nextRetryAtMs = nowMs } = status;
  if (blocked !== undefined) {
    const detail = error === undefined ? 'the server refuses the list' : errorWords(error);
    return { tone: 'stale', headline: blockedWords[blocked], detail };
  }
  const seconds = Math.ceil(Math.max(0, nextRetryAtMs - nowMs) / 1000);
  const cause = error === undefined ? 'The connection was lost' : errorMeaning(error);
  return {
    tone: 'stale',
    headline: seconds > 0 ? `Reconnecting in ${seconds} s` : 'Reconnecting',
    detail: `${cause} — ${showing(status, nowMs)}`,
  };
}

/** Describes a status. `what` names the objects, such as `Pods`. */
export function statusWords(status: Status, what: string, nowMs: number): StatusWords {
  const { phase = 'idle', heldBack } = status;
  switch (phase) {
    case 'idle':
      return { tone: 'busy', headline: 'Starting', detail: 'nothing was requested yet' };
    case 'stopped':
      return { tone: 'stopped', headline: 'Stopped', detail: showing(status, nowMs) };
    case 'queued':
      return {
        tone: 'busy',
        headline: WAITING,
        detail: `a browser has few connections to one server, so watches take turns — ${showing(status, nowMs)}`,
      };
    case 'listing':
    case 'streaming':
      return loading(status, what, nowMs);
    case 'backoff':
      return waiting(status, nowMs);
    case 'paused':
      return { tone: 'stale', headline: 'Paused', detail: showing(status, nowMs) };
    case 'connecting':
      return { tone: 'busy', headline: 'Connecting', detail: showing(status, nowMs) };
    case 'watching': {
      if (heldBack !== undefined) {
        return { tone: 'stale', headline: 'Late', detail: heldBack.message };
      }
      const detail = `every change is shown${audited(status)}`;
      return { tone: 'live', headline: 'Live', detail };
    }
  }
}
