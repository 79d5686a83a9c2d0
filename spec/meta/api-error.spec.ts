import { inspect } from 'node:util';
import { build } from 'esbuild';
import { ApiError, parseRetryAfterMs, type Status } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';

const from = (status: Status, code = 504) => ApiError.fromStatus(status, code);

describe('ApiError', () => {
  it("M5: an error carries the server's code and reason, and names the request", () => {
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
    [{ code: 200 }, 403, { code: 403, reason: 'Forbidden' }],
    [{ code: 399 }, 410, { code: 410, reason: 'Gone' }],
    [{ code: 409 }, 200, { code: 409, reason: 'Conflict' }],
    [{ details: { retryAfterSeconds: 3 } }, 429, { retryAfterMs: 3000 }],
    [{ details: { retryAfterSeconds: 0 } }, 429, { retryAfterMs: undefined }],
  ])('M5: the Status %j with HTTP %i becomes an error', (status, code, expected) => {
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
    ['a timeout without a message', { reason: 'Timeout' }, false],
  ])(
    'M5: recognizes "too large resourceVersion" by %s (TestReflectorListAndWatchWithErrors)',
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
  ])('M5: %j is recognized by %s', (status, getter) => {
    const error = from(status);
    const recognized = (['isExpired', 'isTooManyRequests', 'isNotFound'] as const).filter(
      (name) => error[name],
    );
    expect(recognized).toEqual([getter]);
  });

  it('M5: `retryable` says whether the same request may succeed later', () => {
    const retried = [408, 429, 500, 503, 504].map((code) => from({ code }).retryable);
    const final = [400, 401, 403, 404, 409, 410, 422, 501].map((code) => from({ code }).retryable);
    expect(new Set(retried)).toEqual(new Set([true]));
    expect(new Set(final)).toEqual(new Set([false]));
    expect(from({ code: 409, details: { retryAfterSeconds: 1 } }).retryable).toBe(true);
    const local = (reason: Parameters<typeof ApiError.local>[0]) =>
      ApiError.local(reason, 'x').retryable;
    expect((['Network', 'Silent', 'Malformed', 'Credentials'] as const).every(local)).toBe(true);
    expect(
      (['Refused', 'Aborted', 'Stopped', 'TooLarge', 'NotObserved'] as const).some(local),
    ).toBe(false);
  });

  it('M5: from() converts any thrown value and returns an ApiError as it is', () => {
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
    ['Thursday, 01-Jan-26 00:00:30 GMT', 30_000],
    ['soon', undefined],
    ['soon 5', undefined],
    ['Retry 2027', undefined],
    ['', undefined],
    [null, undefined],
    ['-1', undefined],
    ['1.5', undefined],
  ])('T4: Retry-After %j is read as %j ms', (header, expected) => {
    expect(parseRetryAfterMs(header, now)).toBe(expected);
  });
});

describe('an invalid body of kind Status', () => {
  const odd = JSON.parse(`{
    "kind": "Status", "__proto__": {"message": "polluted"}, "constructor": "x", "data": {"password": "hush"},
    "message": {"toString": "x"}, "reason": ["hush"], "code": "500", "metadata": "hush",
    "details": {"causes": {"length": 1}, "retryAfterSeconds": "7", "name": 7, "secret": "hush"}
  }`) as Status;

  it('M7: a Status is read field by field, and fields that it does not have are dropped', () => {
    const error = from(odd, 504);
    expect(error).toMatchObject({ code: 504, reason: 'Timeout', retryAfterMs: undefined });
    expect(error.message).toBe('the server answered 504 Timeout');
    expect(error.status).toEqual({ kind: 'Status', details: {} });
    expect([error.isTooLargeResourceVersion, error.isExpired, error.retryable]).toEqual([
      ...[false, false, true],
    ]);
    const causes = JSON.parse('[null, 7, {"reason": {}, "hush": "hush"}, []]');
    expect(from({ details: { causes } }).isTooLargeResourceVersion).toBe(false);
    expect(from({ details: { causes } }).status?.details?.causes).toEqual([{}, {}, {}, {}]);
  });

  it('M7: any JSON becomes an error with valid members', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (message, details, code) => {
        const status = { kind: 'Status', message, details, code, reason: details } as Status;
        const error = from(status, 504);
        expect(typeof error.message).toBe('string');
        expect(typeof error.code).toBe('number');
        expect(typeof (error.isTooLargeResourceVersion && error.retryable)).toBe('boolean');
        expect(error.retryAfterMs ?? 0).toBeLessThanOrEqual(86_400_000);
      }),
    );
  });

  it('M7: a message has a maximum length and no control characters', () => {
    const error = from({ message: `\u001b[2J\u202ex${'y'.repeat(1_000_000)}` });
    expect(error.message).toMatch(/^\ufffd\[2J\ufffdxy+…$/);
    expect(error.message.length).toBeLessThan(20_000);
    const forged = 'no\r\n2026-01-01 INFO all is well\u2028\tb';
    expect(from({ message: forged }).message).toBe('no 2026-01-01 INFO all is well b');
    expect(from({ message: 'a\u200fb\u061cc\u200ed\u2067e' }).message).toBe(
      'a\ufffdb\ufffdc\ufffdd\ufffde',
    );
  });

  it('M5: a console prints the name of the class, also in a bundle, in which the class has another name', async () => {
    for (const minify of [false, true]) {
      const { outputFiles } = await build({
        stdin: { contents: "export * from './lib/meta/api-error.ts'", resolveDir: process.cwd() },
        ...{ bundle: true, write: false, format: 'esm', target: 'es2023', minify },
      });
      const text = encodeURIComponent(outputFiles[0]?.text ?? '');
      const bundled: { ApiError: typeof ApiError } = await import(`data:text/javascript,${text}`);
      expect(inspect(bundled.ApiError.local('Network', 'hello'))).toMatch(/^ApiError: hello\n/);
    }
  });

  it('T4: a wait is limited to a day', () => {
    const years = 1_000_000 * 365 * 86_400;
    const day = 86_400_000;
    expect(from({ details: { retryAfterSeconds: years } }, 429).retryAfterMs).toBe(day);
    expect(from({ details: { retryAfterSeconds: 1e300 } }, 429).retryAfterMs).toBe(day);
    expect(parseRetryAfterMs(String(years), 0)).toBe(day);
    expect(parseRetryAfterMs('9'.repeat(400), 0)).toBe(day);
    expect(parseRetryAfterMs('Fri, 31 Dec 99999 23:59:59 GMT', 0) ?? day).toBe(day);
  });
});

describe('text from a server or a thrown error', () => {
  const quoting = (parse: () => unknown) => {
    try {
      parse();
    } catch (error) {
      return ApiError.from(error, 'x');
    }
    throw new Error('nothing was thrown');
  };

  it.each<[string, () => unknown]>([
    ['JSON', () => JSON.parse('hunter2')],
    ['a number', () => BigInt('hunter2')],
    ['an expression', () => new RegExp('('.concat('hunter2'))],
    ['a field of a text', () => (('hunter2' as unknown as { x: number }).x = 1)],
    ['a letter of a text', () => (('hunter2' as unknown as string[])[0] = 'x')],
    ['a member of a text', () => 'a' in ('hunter2' as unknown as object)],
  ])('T3: an error does not quote a text that was parsed (%s)', (_name, parse) => {
    const error = quoting(parse);
    const shown = inspect(error, { depth: 10, showHidden: true });
    expect(`${error.message} ${error.stack} ${shown}`).not.toContain('hunter2');
    // The stack still shows where the error was thrown.
    expect((error.cause as Error).stack).toContain('api-error.spec.ts');
    const plain = new TypeError('no');
    expect(ApiError.from(plain, 'x')).toMatchObject({ message: 'x: no', cause: plain });
  });

  it('T3: an error does not quote a text that was parsed, nor does the cause of its cause', () => {
    const parsing = quoting(() => JSON.parse('hunter2')).cause;
    const outer = new Error('outer', { cause: new Error('inner', { cause: parsing }) });
    const quoted = () => JSON.parse('hunter2');
    const deep = quoting(() => {
      try {
        quoted();
      } catch (cause) {
        throw new Error('outer', { cause: new Error('inner', { cause }) });
      }
    });
    expect(inspect(deep, { depth: 10, showHidden: true })).not.toContain('hunter2');
    expect(deep.cause).toMatchObject({ message: 'outer', cause: { message: 'inner' } });
    expect((deep.cause as Error).stack).toContain('api-error.spec.ts');
    // Nothing is copied if nothing has to be removed, and a cycle ends.
    expect(ApiError.from(outer, 'x').cause).toBe(outer);
    const cycle = new Error('a');
    cycle.cause = new Error('b', { cause: cycle });
    expect(ApiError.from(cycle, 'x').message).toBe('x: a');
  });

  it('T3: short credentials that a server quotes are removed', () => {
    const message = 'bad header: Basic dXNlcjpwYXNz, Bearer t0ken';
    expect(from({ message }).message).toBe('bad header: Basic …, Bearer …');
  });

  it('T3: credentials that a server quotes are removed', () => {
    const token = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl';
    const message = `"Bearer abcdefghijklmnopqrst", Basic YWxhZGRpbjpvcGVuc2VzYW1l; ${token} end`;
    expect(from({ message }).message).toBe('"Bearer …", Basic …; … end');
    const words = 'Basic authentication is off; Bearer token wanted. No bearer, basic or Bearer.';
    expect(from({ message: words }).message).toBe(words);
    const signs = 'Bearer abc.def.ghi, Basic dXNl+a==, Bearer a-b, Bearer abc=';
    expect(from({ message: signs }).message).toBe('Bearer …, Basic …, Bearer …, Bearer abc=');
  });

  it('T3: tokens are found as by a plain search, wherever they begin', () => {
    const part = fc.constantFrom('eyJ', 'a', 'Z9', '-', '_', '.', '.', ' ', '"', 'eyJa');
    const text = fc.array(part, { maxLength: 24 }).map((parts) => `x ${parts.join('')}`);
    fc.assert(
      fc.property(text, (message) => {
        // Takes quadratic time on a long run without dots.
        const plain = message.replace(/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '…');
        expect(from({ message }).message).toBe(plain);
      }),
      { numRuns: 3_000 },
    );
  });

  it('M7: the texts of a Status are at most 65,536 characters together, with an ellipsis for each that is cut', () => {
    const text = 'a'.repeat(20_000);
    const causes = Array.from({ length: 100 }, () => ({
      reason: text,
      message: text,
      field: text,
    }));
    const { status } = from({ message: text, details: { name: text, causes } });
    const kept = JSON.stringify(status).match(/a+/g) ?? [];
    expect(kept.join('').length).toBeLessThan(65_536 + 1_000);
    expect(status?.message).toBe(`${'a'.repeat(16_384)}…`);
    expect(status?.details?.causes?.at(-1)?.message).toBe('…');
  });
});
