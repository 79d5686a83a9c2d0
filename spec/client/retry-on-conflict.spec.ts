/** `retryOnConflict`: its attempts, waits and errors. */
import { ApiError, retryOnConflict } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { failureOf } from '../support/errors.ts';

const conflict = () => new ApiError({ code: 409, reason: 'Conflict', message: 'changed' });

function attempts(failures: readonly unknown[], time: VirtualTime) {
  const atMs: number[] = [];
  const attempt = async () => {
    const failure = failures[atMs.push(time.now()) - 1];
    if (failure !== undefined) throw failure;
    return 'written';
  };
  return { atMs, attempt };
}

describe('retryOnConflict', () => {
  it('C9: makes five attempts, with waits of 10 ms and up to a tenth more (TestRetryOnConflict)', async () => {
    for (const [random, expected] of [
      [0, [0, 10, 20, 30, 40]],
      [1, [0, 11, 22, 33, 44]],
    ] as const) {
      const time = new VirtualTime();
      const { atMs, attempt } = attempts(Array.from({ length: 9 }, conflict), time);
      const failure = failureOf(
        retryOnConflict(attempt, { scheduler: time, random: () => random }),
      );
      await time.advance(1_000);
      expect(await failure).toMatchObject({ code: 409, reason: 'Conflict' });
      expect(atMs).toEqual(expected);
    }
  });

  it('C9: returns the first result, and retries no other 409 (TestRetryOnConflict)', async () => {
    const time = new VirtualTime();
    const good = attempts([conflict(), conflict()], time);
    const answer = retryOnConflict(good.attempt, { scheduler: time });
    await time.advance(100);
    expect(await answer).toBe('written');
    expect(good.atMs).toHaveLength(3);

    const others = [
      new ApiError({ code: 409, reason: 'AlreadyExists', message: '' }),
      new ApiError({ code: 500, reason: 'InternalError', message: '' }),
      new Error('my own'),
    ];
    for (const error of others) {
      const bad = attempts([error], time);
      expect(await failureOf(retryOnConflict(bad.attempt, { scheduler: time }))).toBe(error);
      expect(bad.atMs).toHaveLength(1);
    }
  });

  it('C9: uses the given backoff and number of attempts, and refuses 0 attempts', async () => {
    const time = new VirtualTime();
    const { atMs, attempt } = attempts([conflict(), conflict()], time);
    const backoff = (at: number) => 100 * (at + 1);
    const answer = failureOf(retryOnConflict(attempt, { scheduler: time, backoff, attempts: 2 }));
    await time.advance(1_000);
    expect(await answer).toMatchObject({ code: 409 });
    expect(atMs).toEqual([0, 100]);
    expect(await failureOf(retryOnConflict(attempt, { attempts: 0 }))).toBeInstanceOf(TypeError);
    expect(atMs).toHaveLength(2);
  });

  it('T6, C9: aborting its signal ends a wait, and prevents the first attempt', async () => {
    const time = new VirtualTime();
    const controller = new AbortController();
    const { signal } = controller;
    const { atMs, attempt } = attempts(Array.from({ length: 9 }, conflict), time);
    const failure = failureOf(retryOnConflict(attempt, { scheduler: time, signal }));
    await time.advance(15);
    controller.abort();
    expect(await failure).toMatchObject({ reason: 'Aborted' });
    expect(time.pending).toBe(0);
    await time.advance(100);
    expect(atMs).toHaveLength(2);
    expect(await failureOf(retryOnConflict(attempt, { signal }))).toMatchObject({
      reason: 'Aborted',
    });
    expect(atMs).toHaveLength(2);
  });
});
