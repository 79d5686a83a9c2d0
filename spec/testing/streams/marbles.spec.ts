import { createClient, createListWatch, createSharedInformer } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import {
  createFakeApiServer,
  type MarbleHelpers,
  type MarbleLimits,
  marbles,
} from 'rx-informer/testing';
import { NEVER, of, timer } from 'rxjs';
import { ignoreElements, map } from 'rxjs/operators';
import { TestScheduler } from 'rxjs/testing';
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

  it('provides the scheduler for the code under test', () => {
    marbles(({ scheduler, expectObservable }) => {
      const late = timer(3, scheduler).pipe(map(() => scheduler.now()));
      expectObservable(late).toBe('---(a|)', { a: 3 });
    });
  });

  it('throws if frames differ, and shows both sides', () => {
    const different = () =>
      marbles(({ cold, expectObservable }) => {
        expectObservable(cold('a|', { a: { x: 1 } })).toBe('a|', { a: { x: 2 } });
      });
    expect(different).toThrow(/expected:\n.*"x":2[\s\S]*but got:\n.*"x":1/);
  });
});

describe('marbles: labels', () => {
  it('A87: a failing expectation shows its number and its diagram, in any order of statements and flushes', () => {
    const second = () =>
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const source = cold('a-b|');
        expectObservable(source).toBe('a-b|');
        expectSubscriptions(source.subscriptions).toBe(['^--!', '^-!']);
        expectObservable(source).toEqual(source);
      });
    expect(second).toThrow(
      'marbles differ in expectation 2, expectSubscriptions: ["^--!","^-!"]\nexpected:',
    );
    const third = () =>
      marbles(({ cold, expectObservable, flush }) => {
        expectObservable(cold('a|')).toBe('a|');
        flush();
        const forgotten = expectObservable(cold('b|'));
        const last = expectObservable(cold('c|'));
        last.toBe('--c|');
        void forgotten;
      });
    expect(third).toThrow('marbles differ in expectation 3, expectObservable: "--c|"');
    const other = () =>
      marbles(({ cold, expectObservable }) => {
        expectObservable(cold('a|')).toEqual(cold('b|'));
      });
    expect(other).toThrow('expectation 1, expectObservable: "another Observable"');
  });
});

describe('marbles: limits', () => {
  it('A85: the fake API server cannot answer in virtual time, and the error names the alternative', () => {
    const server = createFakeApiServer();
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const promises =
      /^The fake API server received a request within marbles\(\).*promises.*marbleListWatch/s;
    const asking = ({
      scheduler,
      expectObservable,
    }: Pick<MarbleHelpers, 'scheduler' | 'expectObservable'>) => {
      const informer = createSharedInformer(createListWatch(client, pods), { scheduler });
      expectObservable(informer.added$, '^-----!').toBe('------');
    };
    expect(() => marbles(asking)).toThrow(promises);
    // The same holds for rxjs's own TestScheduler.
    const own = new TestScheduler(() => true);
    expect(() =>
      own.run(({ expectObservable }) => asking({ scheduler: own, expectObservable })),
    ).toThrow(promises);
  });

  it('A85: outside marbles() the same server answers', async () => {
    const server = createFakeApiServer();
    expect((await server.fetch('http://fake/api/v1/pods')).status).toBe(200);
  });

  it('A85: a function that returns a promise is refused, because code after an await runs after the test', () => {
    const seen: string[] = [];
    const run = () =>
      marbles(async ({ expectObservable, cold }) => {
        expectObservable(cold('a')).toBe('a');
        await Promise.reject(new Error('too late'));
        seen.push('after');
      });
    expect(run).toThrow(/^marbles: the function returned a promise/);
    expect(seen).toEqual([]);
  });

  it('A87: an informer that is never unsubscribed ends the test at the frame limit', () => {
    const run = (limits?: MarbleLimits) => () =>
      marbles(({ scheduler, expectObservable }) => {
        const part = { items: [], metadata: { resourceVersion: '1' } };
        const source = { watchList: false, list: () => of(part), watch: () => NEVER };
        const informer = createSharedInformer(source, { scheduler });
        expectObservable(informer.synced$).toBe('t', { t: true });
        informer.start();
      }, limits);
    expect(run()).toThrow(/reached frame 86400000 \(maxFrames\).*'\^---!'.*informer\.stop\(\)/s);
    expect(run({ maxFrames: 1000 })).toThrow(/reached frame 1000 \(maxFrames\)/);
  });

  it('A87: an endless repetition without progress in time ends the test at the limit of actions', () => {
    const run = (limits?: MarbleLimits) => () =>
      marbles(({ scheduler, expectObservable }) => {
        expectObservable(timer(0, 0, scheduler).pipe(ignoreElements())).toBe('');
      }, limits);
    expect(run()).toThrow(/ran 100000 scheduled actions up to frame 0 \(maxActions\)/);
    expect(run({ maxActions: 10 })).toThrow(/ran 10 scheduled actions/);
  });

  it('A87: after a limit is reached, no action stays scheduled', () => {
    const left: TestScheduler[] = [];
    const run = () =>
      marbles(
        ({ scheduler, expectObservable }) => {
          left.push(scheduler as TestScheduler);
          expectObservable(timer(0, 100, scheduler)).toBe('a');
          scheduler.schedule(() => undefined, 5000);
        },
        { maxFrames: 1000 },
      );
    expect(run).toThrow(/maxFrames/);
    expect(left[0]?.actions).toEqual([]);
  });

  it('A87: a limit that is not a number of frames or actions is refused', () => {
    const run = (limits: MarbleLimits) => () => marbles(() => undefined, limits);
    expect(run({ maxFrames: Number.NaN })).toThrow(/^marbles: maxFrames is NaN/);
    expect(run({ maxFrames: -1 })).toThrow(TypeError);
    expect(run({ maxActions: 0 })).toThrow(/^marbles: maxActions is 0/);
  });

  it('A87: hot sources and an explicit flush work as in rxjs', () => {
    const seen: string[] = [];
    marbles(({ hot, flush }) => {
      hot('a-b').subscribe((value) => seen.push(value));
      flush();
      expect(seen).toEqual(['a', 'b']);
    });
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
