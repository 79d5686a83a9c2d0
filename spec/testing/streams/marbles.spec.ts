import { marbles } from 'rx-informer/testing';
import { timer } from 'rxjs';
import { map } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { deepEqual } from '../../../lib/testing/deep-equal.ts';

describe('marbles', () => {
  it('compares values by content', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('a-b|', { a: { x: [1] }, b: { x: [2] } });
      expectObservable(source).toBe('a-b|', { a: { x: [1] }, b: { x: [2] } });
      expectSubscriptions(source.subscriptions).toBe('^--!');
    });
  });

  it('gives the scheduler, for what takes one', () => {
    marbles(({ scheduler, expectObservable }) => {
      const late = timer(3, scheduler).pipe(map(() => scheduler.now()));
      expectObservable(late).toBe('---(a|)', { a: 3 });
    });
  });

  it('throws where frames differ, and shows both', () => {
    const different = () =>
      marbles(({ cold, expectObservable }) => {
        expectObservable(cold('a|', { a: { x: 1 } })).toBe('a|', { a: { x: 2 } });
      });
    expect(different).toThrow(/expected:\n.*"x":2[\s\S]*but got:\n.*"x":1/);
  });
});

describe('deepEqual', () => {
  it.each<[unknown, unknown, boolean]>([
    [{ a: 1, b: undefined }, { a: 1 }, true],
    [{ a: 1 }, { a: 1, b: undefined }, true],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [{ b: 1, a: 2 }, { a: 2, b: 1 }, true],
    [[1, 2], [1, 2], true],
    [[1, 2], [1], false],
    [[1], { 0: 1 }, false],
    [null, {}, false],
    [Number.NaN, Number.NaN, true],
    [new Map([[1, { a: 1 }]]), new Map([[1, { a: 1 }]]), true],
    [new Map([[1, 2]]), new Map([[1, 3]]), false],
    [new Set([1]), new Set([2]), false],
    [new Date(1), new Date(2), false],
    [new Error('a'), new Error('b'), false],
    [new Error('a'), new Error('a'), true],
  ])('%o and %o: %j', (a, b, expected) => {
    expect(deepEqual(a, b)).toBe(expected);
    expect(deepEqual(b, a)).toBe(expected);
  });
});
