/**
 * Describes the informer's status in words: the current activity, since when, and whether the data on screen may be
 * old.
 */
import type { InformerStatus } from 'rx-informer';

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

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const number = new Intl.NumberFormat('en-US');

const blockedWords = {
  unauthorized: 'Not signed in',
  forbidden: 'Forbidden',
  'no-such-resource': 'Not found on this server',
  'wrong-kind': 'Another kind than requested',
} as const;

function showing(status: InformerStatus): string {
  if (!status.synced) return 'nothing to show yet';
  return `showing data from ${clock.format(status.staleSinceMs ?? status.sinceMs)}`;
}

/** The result of the last audit, as an addition to another text. */
function audited({ audit }: InformerStatus): string {
  if (typeof audit !== 'object') return '';
  const { lastAt, differed, error } = audit;
  const found = differed === 0 ? '' : `, ${number.format(differed)} differed and were repaired`;
  if (error !== undefined) return `, not compared with the server (${error.message})${found}`;
  return lastAt === undefined
    ? ''
    : `, compared with the server at ${clock.format(lastAt)}${found}`;
}

function loading(status: InformerStatus): StatusWords {
  const { loaded = 0, remaining } = status;
  if (status.synced && status.relists > 0) {
    return { tone: 'busy', headline: 'Relisting', detail: showing(status) };
  }
  if (remaining === undefined || loaded === 0) {
    const detail = loaded === 0 ? 'waiting for the server' : `${number.format(loaded)} pods so far`;
    return { tone: 'busy', headline: 'Loading', detail };
  }
  const total = loaded + remaining;
  return {
    tone: 'busy',
    headline: 'Loading',
    detail: `${number.format(loaded)} of ${number.format(total)} pods`,
    progress: loaded / total,
  };
}

function waiting(status: InformerStatus, nowMs: number): StatusWords {
  const seconds = Math.ceil(Math.max(0, (status.nextRetryAtMs ?? nowMs) - nowMs) / 1000);
  const cause = status.error?.message ?? 'connection lost';
  if (status.blocked !== undefined) {
    return { tone: 'stale', headline: blockedWords[status.blocked], detail: cause };
  }
  return {
    tone: 'stale',
    headline: seconds > 0 ? `Reconnecting in ${seconds} s` : 'Reconnecting',
    detail: `${cause} — ${showing(status)}`,
  };
}

/** Describes a status. `resourceVersion` is that of the data on screen. */
export function statusWords(
  status: InformerStatus,
  resourceVersion: string,
  nowMs: number,
): StatusWords {
  switch (status.phase) {
    case 'idle':
      return { tone: 'stopped', headline: 'Idle', detail: 'no subscriber' };
    case 'stopped':
      return { tone: 'stopped', headline: 'Stopped', detail: showing(status) };
    case 'queued':
      return { tone: 'busy', headline: 'Waiting for a connection', detail: showing(status) };
    case 'listing':
    case 'streaming':
      return loading(status);
    case 'backoff':
      return waiting(status, nowMs);
    case 'paused':
      return { tone: 'stale', headline: 'Paused', detail: showing(status) };
    case 'connecting':
      return { tone: 'busy', headline: 'Connecting', detail: showing(status) };
    case 'watching': {
      if (status.heldBack !== undefined) {
        return { tone: 'stale', headline: 'Late', detail: status.heldBack.message };
      }
      const since = `watching since ${clock.format(status.sinceMs)}`;
      const version = resourceVersion || status.resourceVersion;
      const detail = `${since}, resourceVersion ${version}${audited(status)}`;
      return { tone: 'live', headline: 'Live', detail };
    }
  }
}
