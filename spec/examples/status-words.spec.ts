/** Tests the dashboard's words for the status of its informer. */
import { ApiError, type InformerStatus } from 'rx-informer';
import { describe, expect, test } from 'vitest';
import { ageText } from '../../examples/dashboard/page/cluster/clock.ts';
import { errorMeaning, errorWords } from '../../examples/dashboard/page/cluster/error-words.ts';
import { statusWords } from '../../examples/dashboard/page/cluster/status-words.ts';

const noon = new Date(2026, 10, 21, 12, 4).getTime();
const calm: InformerStatus = {
  phase: 'watching',
  synced: true,
  live: true,
  sinceMs: noon,
  attempt: 0,
  reconnects: 0,
  relists: 0,
  refused: 0,
  resourceVersion: '8123',
  generation: 1,
  refusedItems: 0,
  unknownDeletions: 0,
};

function said(status: Partial<InformerStatus>): string {
  const live = (status.phase ?? 'watching') === 'watching';
  const { headline, detail } = statusWords({ ...calm, live, ...status }, 'Pods', noon + 60_000);
  return `${headline} — ${detail}`;
}

describe('statusWords', () => {
  test('live', () => {
    expect(said({})).toBe('Live — every change is shown');
  });

  test('before the worker has answered, and without a worker', () => {
    const { phase: _phase, ...unknown } = calm;
    const wordsOf = (status: object) => {
      const { tone, headline, detail } = statusWords({ ...unknown, ...status }, 'Pods', noon);
      return `${tone}: ${headline} — ${detail}`;
    };
    const rows = { synced: false, live: false, stale: true, staleSinceMs: noon };
    expect(wordsOf({ ...rows, phase: 'connecting' })).toBe(
      'busy: Catching up — showing Pods as of 12:04:00',
    );
    const error = ApiError.local('Network', 'the worker has ended');
    expect(wordsOf({ worker: 'lost', phase: 'backoff', live: false, error })).toBe(
      'stale: Starting again — the worker of the page has ended, and another one is being started',
    );
    expect(wordsOf({ worker: 'failed', phase: 'backoff', live: false, error })).toBe(
      'stopped: Not running — no worker can be started; reload the page',
    );
    expect(wordsOf({ worker: 'signed-out', phase: 'stopped', blocked: 'unauthorized' })).toBe(
      'stopped: Outdated page — another tab shows another cluster, or was opened with other options; reload the page',
    );
  });

  test('I92: live, and compared with the server', () => {
    const live = 'Live — every change is shown';
    expect(said({ audit: 'unsupported' })).toBe(live);
    const audit = { compared: 500, differed: 0, ghosts: 0, missing: 0 };
    expect(said({ audit })).toBe(live);
    const lastAt = noon + 60_000;
    expect(said({ audit: { ...audit, lastAt } })).toBe(
      `${live}, compared with the server at 12:05`,
    );
    expect(said({ audit: { ...audit, lastAt, differed: 3 } })).toBe(
      `${live}, compared with the server at 12:05, 3 differed and were repaired`,
    );
    const error = ApiError.fromStatus({ message: 'jane may not list pods' }, 403);
    expect(said({ audit: { ...audit, lastAt, error } })).toBe(
      `${live}, not compared with the server (jane may not list pods)`,
    );
  });

  test('loading, with and without a known total', () => {
    const listing = { phase: 'listing', synced: false } as const;
    expect(said(listing)).toBe('Loading — waiting for the server');
    expect(said({ ...listing, loaded: 500 })).toBe('Loading — 500 Pods so far');
    expect(said({ ...listing, loaded: 4500, remaining: 5500 })).toBe(
      'Loading — 4,500 of 10,000 Pods',
    );
  });

  test('reconnecting, with the age of the data on screen', () => {
    const status: Partial<InformerStatus> = {
      phase: 'backoff',
      staleSinceMs: noon,
      nextRetryAtMs: noon + 63_000,
      error: ApiError.local('Network', 'connection lost'),
    };
    expect(said(status)).toBe(
      'Reconnecting in 3 s — The server cannot be reached — showing data from 12:04:00',
    );
  });

  test('waiting for a connection, with the reason', () => {
    expect(said({ phase: 'queued', staleSinceMs: noon + 12_000 })).toBe(
      'Waiting for a connection — a browser has few connections to one server, so watches take turns — showing data from 12:04:12',
    );
  });

  test('W22: late, because of a proxy', () => {
    const heldBack = { sinceMs: noon, message: 'a proxy holds events back' };
    expect(said({ live: false, heldBack })).toBe('Late — a proxy holds events back');
  });

  test('blocked', () => {
    const error = ApiError.fromStatus({ message: 'jane may not list pods' }, 403);
    const status: Partial<InformerStatus> = { phase: 'backoff', blocked: 'forbidden', error };
    expect(said({ ...status, synced: false })).toBe(
      'Forbidden — You do not have permission for this (jane may not list pods).',
    );
  });
});

describe('errorWords', () => {
  test('explain an error before they quote the server', () => {
    const expired = { message: 'too old resource version: 15215 (15217)', reason: 'Expired' };
    expect(errorWords(ApiError.fromStatus(expired, 410))).toBe(
      'The server no longer keeps the changes since the last connection, so the complete list is read again (too old resource version: 15215 (15217)).',
    );
    const status: Partial<InformerStatus> = {
      phase: 'backoff',
      error: ApiError.fromStatus(expired, 410),
      nextRetryAtMs: noon,
    };
    expect(said(status)).not.toContain('15215');
  });

  test('have a meaning for each code of the API server', () => {
    for (const code of [400, 401, 403, 404, 405, 409, 410, 422, 429, 500, 502, 503, 504]) {
      const error = ApiError.fromStatus({ message: 'm' }, code);
      expect(errorMeaning(error), String(code)).not.toBe('The request failed');
    }
  });
});

test('ages have the format of kubectl', () => {
  const texts = [42, 450, 600, 18_720, 100_000, 273_600, 6_912_000].map((s) => ageText(s * 1000));
  expect(texts).toEqual(['42s', '7m30s', '10m', '5h12m', '27h', '3d4h', '80d']);
});
