import { ApiError, parseRetryAfterMs, type Status } from 'rx-informer';
import { describe, expect, it } from 'vitest';

const from = (status: Status, code = 504) => ApiError.fromStatus(status, code);

describe('api error', () => {
  it("M5: carries the server's code and reason, and names the request", () => {
    const status = { code: 410, reason: 'Expired', message: 'too old' };
    const error = ApiError.fromStatus(status, 200, { where: 'LIST pods', retryAfterMs: 5 });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: 'ApiError',
      code: 410,
      reason: 'Expired',
      message: 'LIST pods: too old',
      retryAfterMs: 5,
      status,
    });
  });

  it.each<[Status, number, Partial<ApiError>]>([
    [{}, 404, { code: 404, reason: 'NotFound', message: 'the server answered 404 NotFound' }],
    [{}, 418, { code: 418, reason: 'Unknown' }],
    [{ code: 0, reason: '', message: '' }, 503, { code: 503, reason: 'ServiceUnavailable' }],
    [{ code: 409 }, 200, { code: 409, reason: 'Conflict' }],
    [{ details: { retryAfterSeconds: 3 } }, 429, { retryAfterMs: 3000 }],
    [{ details: { retryAfterSeconds: 0 } }, 429, { retryAfterMs: undefined }],
  ])('M5: %j with HTTP %i', (status, code, expected) => {
    expect(from(status, code)).toMatchObject(expected);
  });

  it.each<[string, Status, boolean]>([
    [
      'the cause by its reason',
      { reason: 'Timeout', details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } },
      true,
    ],
    [
      'the cause by its message (1.17)',
      { reason: 'Timeout', details: { causes: [{ message: 'Too large resource version' }] } },
      true,
    ],
    [
      'the message only (before)',
      { reason: 'Timeout', message: 'Too large resource version: 9, current: 5' },
      true,
    ],
    ['another timeout', { reason: 'Timeout', message: 'slow', details: { causes: [] } }, false],
    ['a timeout without a word', { reason: 'Timeout' }, false],
  ])(
    'M5: too large a version: %s (TestReflectorListAndWatchWithErrors, TestReflectorFullListIfTooLarge)',
    (_how, status, expected) => {
      expect(from({ code: 504, ...status }).isTooLargeResourceVersion).toBe(expected);
      const elsewhere = { ...status, code: 500, reason: 'InternalError' };
      expect(from(elsewhere).isTooLargeResourceVersion).toBe(false);
    },
  );

  it.each<[Status, string]>([
    [{ code: 410, reason: 'Gone' }, 'isExpired'],
    [{ code: 410 }, 'isExpired'],
    [{ code: 500, reason: 'Expired' }, 'isExpired'],
    [{ code: 429 }, 'isTooManyRequests'],
    [{ code: 404 }, 'isNotFound'],
  ])('M5: %j is told by %s', (status, getter) => {
    const error = from(status);
    const told = (['isExpired', 'isTooManyRequests', 'isNotFound'] as const).filter(
      (name) => error[name],
    );
    expect(told).toEqual([getter]);
  });

  it('M5: knows what may succeed later', () => {
    const retried = [408, 429, 500, 503, 504].map((code) => from({ code }).retryable);
    const final = [400, 401, 403, 404, 409, 410, 422, 501].map((code) => from({ code }).retryable);
    expect(new Set(retried)).toEqual(new Set([true]));
    expect(new Set(final)).toEqual(new Set([false]));
    expect(from({ code: 409, details: { retryAfterSeconds: 1 } }).retryable).toBe(true);
    const local = (reason: Parameters<typeof ApiError.local>[0]) =>
      ApiError.local(reason, 'x').retryable;
    expect((['Network', 'Silent', 'Malformed', 'Credentials'] as const).every(local)).toBe(true);
    expect(
      (['Rejected', 'Aborted', 'Stopped', 'TooLarge', 'NotObserved'] as const).some(local),
    ).toBe(false);
  });

  it('M5: anything thrown becomes one, and one stays itself', () => {
    const cause = new TypeError('fetch failed');
    const error = ApiError.from(cause, 'WATCH pods');
    expect(error).toMatchObject({
      code: 0,
      reason: 'Network',
      message: 'WATCH pods: fetch failed',
    });
    expect(error.cause).toBe(cause);
    expect(ApiError.from(error, 'LIST')).toBe(error);
    expect(ApiError.from('text', 'LIST').message).toBe('LIST: text');
    expect('cause' in ApiError.local('Silent', 'x')).toBe(false);
  });

  const now = Date.parse('2026-01-01T00:00:00Z');
  it.each<[string | null, number | undefined]>([
    ['0', 0],
    ['3', 3000],
    [' 120 ', 120_000],
    ['999999999999', 86_400_000],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Wed, 31 Dec 2025 23:59:30 GMT', 0],
    ['Fri, 01 Jan 2027 00:00:00 GMT', 86_400_000],
    ['soon', undefined],
    ['', undefined],
    [null, undefined],
    ['-1', undefined],
    ['1.5', undefined],
  ])('M6: Retry-After %j is %j ms', (header, expected) => {
    expect(parseRetryAfterMs(header, now)).toBe(expected);
  });
});
