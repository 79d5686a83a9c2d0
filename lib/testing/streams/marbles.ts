/** Marble tests with any test framework: virtual time, and an error where frames differ. */
import type { SchedulerLike } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { deepEqual } from '../deep-equal.ts';

type RunHelpers = Parameters<Parameters<TestScheduler['run']>[0]>[0];

/** What a marble test works with: rxjs's helpers and the scheduler, to be passed to what is tested. */
export interface MarbleHelpers extends RunHelpers {
  readonly scheduler: SchedulerLike;
}

function frames(value: unknown): string {
  if (!Array.isArray(value)) return JSON.stringify(value);
  const lines = value.map((item) => `  ${JSON.stringify(item)}`);
  return lines.length === 0 ? '  nothing' : lines.join('\n');
}

/**
 * Runs a marble test in virtual time. Values are compared by content; throws an `Error` that shows both sides
 * where they differ.
 *
 * @example
 * ```ts
 * import { marbles } from 'rx-informer/testing';
 * import { debounceTime } from 'rxjs/operators';
 *
 * marbles(({ cold, expectObservable }) => {
 *   expectObservable(cold('ab-----|').pipe(debounceTime(3))).toBe('----b--|');
 * });
 * ```
 */
export function marbles<R>(run: (helpers: MarbleHelpers) => R): R {
  const scheduler = new TestScheduler((actual, expected) => {
    if (deepEqual(actual, expected)) return;
    throw new Error(`marbles differ\nexpected:\n${frames(expected)}\nbut got:\n${frames(actual)}`);
  });
  return scheduler.run((helpers) => run({ ...helpers, scheduler }));
}
