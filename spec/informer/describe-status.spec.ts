/** Tests the words for a status. */
import { ApiError, describeStatus, type InformerStatus } from 'rx-informer';
import { describe, expect, it } from 'vitest';

const said = (status: Parameters<typeof describeStatus>[0]) =>
  describeStatus(status, { nowMs: 100_000 }).text;
const error = ApiError.local('Network', 'the connection was lost');
const stale = { synced: true, staleSinceMs: 40_000 } as const;

describe('describeStatus', () => {
  it.each<[Partial<InformerStatus>, string]>([
    [{}, 'Starting: nothing was requested yet'],
    [{ phase: 'idle' }, 'Starting: nothing was requested yet'],
    [{ phase: 'stopped', ...stale, synced: false }, 'Stopped'],
    [
      { phase: 'queued', waitingFor: 'the tab is hidden' },
      'Waiting for a connection: the tab is hidden',
    ],
    [{ phase: 'listing' }, 'Loading: waiting for the server'],
    [{ phase: 'streaming', loaded: 1_500 }, 'Loading: 1,500'],
    [{ phase: 'listing', loaded: 500, remaining: 500 }, 'Loading: 500 of 1,000'],
    [
      { phase: 'listing', ...stale },
      'Reading the list again: waiting for the server; the data is 60 s old',
    ],
    [{ phase: 'connecting' }, 'Connecting'],
    [
      { phase: 'connecting', ...stale, staleSinceMs: -500_000 },
      'Connecting: the data is 10 min old',
    ],
    // Of a warm start.
    [
      { phase: 'listing', loaded: 800, stale: true, staleSinceMs: 40_000 },
      'Loading: 800; the data is 60 s old',
    ],
    [{ phase: 'paused', ...stale, staleSinceMs: -1e7 }, 'Paused: the data is 3 h old'],
    [
      { phase: 'backoff', nextRetryAtMs: 103_001, error },
      'Reconnecting in 4 s: the connection was lost',
    ],
    // The clock was set back two hours during a wait of 2 s.
    [{ phase: 'backoff', sinceMs: 7_300_000, nextRetryAtMs: 7_302_000 }, 'Reconnecting in 2 s'],
    [{ phase: 'backoff', nextRetryAtMs: 99_000 }, 'Reconnecting'],
    [{ phase: 'backoff', blocked: 'forbidden', error }, 'Forbidden: the connection was lost'],
    [{ phase: 'listing', blocked: 'unauthorized' }, 'Not signed in'],
    [{ phase: 'watching', live: true, synced: true }, 'Live'],
    [{ phase: 'watching', live: true, refused: 1 }, 'Live: 1 object left out'],
    [
      { phase: 'watching', live: true, access: { message: 'not till' } } as Partial<InformerStatus>,
      'Live: not till',
    ],
    [{ phase: 'watching', live: false, ...stale }, 'Catching up: the data is 60 s old'],
    // A cluster of several has failed, or the way to the server is dead.
    [
      { phase: 'watching', live: false, error, ...stale },
      'Not live: the connection was lost; the data is 60 s old',
    ],
    [
      { phase: 'watching', live: false, heldBack: { sinceMs: 0, message: 'a proxy buffers' } },
      'Late: a proxy buffers',
    ],
    // An error whose text ends with a mark.
    [
      {
        phase: 'backoff',
        ...stale,
        error: ApiError.local('Network', 'it was lost. Did a proxy end it?'),
      },
      'Reconnecting: it was lost. Did a proxy end it? The data is 60 s old',
    ],
  ])('I110: %o is %s', (status, text) => {
    expect(said(status)).toBe(text);
    expect(describeStatus(status).tone === 'live').toBe(status.live === true);
  });

  it('I110: accepts what a view and a hook return, with the error of a pipe', () => {
    const status = { phase: 'watching', live: true, synced: true, refusedRows: [{}, {}] } as const;
    expect(said({ status, error: undefined })).toBe('Live: 2 rows left out');
    expect(said({ status, error: new Error('the pipe broke') })).toBe('Not live: the pipe broke');
    const blocked = { phase: 'backoff', blocked: 'forbidden', error, refusedRows: [] } as const;
    expect(said({ status: blocked, error })).toBe('Forbidden: the connection was lost');
  });

  it('I110: is live in words only if it is live', () => {
    expect(describeStatus({ phase: 'watching', live: false })).toEqual({
      tone: 'busy',
      headline: 'Catching up',
      detail: '',
      text: 'Catching up',
    });
  });
});
