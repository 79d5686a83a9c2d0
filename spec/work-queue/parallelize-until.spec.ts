import { parallelizeUntil } from 'rx-informer';
import { config } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { allReported } from '../support/reported-errors.ts';

const loopTurns = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('parallelizeUntil', () => {
  it.each([
    { pieces: 1000, workers: 10, chunkSize: 1 },
    { pieces: 1000, workers: 10, chunkSize: 10 },
    { pieces: 1000, workers: 10, chunkSize: 100 },
    { pieces: 999, workers: 10, chunkSize: 13 },
    { pieces: 0, workers: 10, chunkSize: 1 },
    { pieces: 5, workers: 10, chunkSize: 100 },
  ])('K26: processes each piece once (TestParallelizeUntil): %j', async (options) => {
    const times = new Array<number>(options.pieces).fill(0);
    let active = 0;
    let most = 0;
    await parallelizeUntil(options, async (piece) => {
      active += 1;
      most = Math.max(most, active);
      await Promise.resolve();
      times[piece] = (times[piece] ?? 0) + 1;
      active -= 1;
    });
    expect(times).toEqual(new Array<number>(options.pieces).fill(1));
    expect(most).toBe(Math.min(options.workers, Math.ceil(options.pieces / options.chunkSize)));
  });

  it('K26: a chunk may have all pieces', async () => {
    const seen: number[] = [];
    const options = { workers: 2, pieces: 3, chunkSize: Number.POSITIVE_INFINITY };
    await parallelizeUntil(options, (piece) => void seen.push(piece));
    expect(seen).toEqual([0, 1, 2]);
  });

  it('K26: begins no further chunk once aborted, and finishes the chunks in progress', async () => {
    const abort = new AbortController();
    const seen: number[] = [];
    const options = { workers: 2, pieces: 100, chunkSize: 3, signal: abort.signal };
    await parallelizeUntil(options, async (piece) => {
      seen.push(piece);
      await loopTurns();
      if (piece === 4) abort.abort();
    });
    expect(seen.sort((one, other) => one - other)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('K26: reports a piece that throws and continues; throws for invalid options', async () => {
    const reported: unknown[] = [];
    config.onUnhandledError = (error) => reported.push(error);
    const seen: number[] = [];
    try {
      await parallelizeUntil({ workers: 1, pieces: 3 }, (piece) => {
        if (piece === 1) throw new Error('piece 1');
        seen.push(piece);
      });
      await allReported();
    } finally {
      config.onUnhandledError = null;
    }
    expect([seen, reported]).toEqual([[0, 2], [new Error('piece 1')]]);
    await expect(parallelizeUntil({ workers: 0, pieces: 1 }, () => {})).rejects.toThrow(TypeError);
    await expect(
      parallelizeUntil({ workers: 1, pieces: 1, chunkSize: 0 }, () => {}),
    ).rejects.toThrow(TypeError);
  });
});
