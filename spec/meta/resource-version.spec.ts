import { compareResourceVersion } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';

describe('resourceVersion', () => {
  it('M1: compares versions of any length like BigInt', () => {
    const version = fc.bigInt({ min: 1n, max: 10n ** 40n });
    fc.assert(
      fc.property(version, version, (a, b) => {
        const expected = a === b ? 0 : a < b ? -1 : 1;
        expect(compareResourceVersion(String(a), String(b))).toBe(expected);
      }),
    );
  });

  it.each(['', '0', '007', '-1', '1e3', ' 1', 'abc'])('M1: does not compare %j', (text) => {
    expect(compareResourceVersion(text, '10')).toBeUndefined();
    expect(compareResourceVersion('10', text)).toBeUndefined();
  });
});
