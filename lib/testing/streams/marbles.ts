/** Marble tests with any test framework: virtual time, and an error where frames differ. */
import type { SchedulerLike } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { deepEqual } from '../deep-equal.ts';
import { BoundedScheduler, type MarbleLimits } from './bounded-scheduler.ts';

type RunHelpers = Parameters<Parameters<TestScheduler['run']>[0]>[0];

/** What a marble test works with: rxjs's helpers, and the scheduler to pass to the code under test. */
export interface MarbleHelpers extends RunHelpers {
  readonly scheduler: SchedulerLike;
}

function frames(value: unknown): string {
  if (!Array.isArray(value)) return JSON.stringify(value);
  const lines = value.map((item) => `  ${JSON.stringify(item)}`);
  return lines.length === 0 ? '  nothing' : lines.join('\n');
}

/** A promise that nobody awaits must not become an unhandled rejection beside the error that is thrown. */
function isPromise(value: unknown): boolean {
  if (typeof (value as PromiseLike<unknown> | undefined)?.then !== 'function') return false;
  (value as PromiseLike<unknown>).then(undefined, () => undefined);
  return true;
}

/**
 * Runs a marble test in virtual time: rxjs's `TestScheduler.run`, with values compared by content and with limits.
 *
 * Pass `scheduler` to the code under test. Promises do not run in virtual time, so nothing that awaits one is ever
 * answered within the test: use {@link marbleListWatch} where a test outside of `marbles()` uses the fake API server.
 *
 * Throws an `Error` that shows both sides if frames differ; if virtual time passes `maxFrames` or the test runs more than
 * `maxActions` actions, because something was not unsubscribed from; if `run` returns a promise; and if the fake API
 * server is asked within the test. Throws a `TypeError` if a limit is not a valid number.
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
export function marbles<R>(run: (helpers: MarbleHelpers) => R, limits: MarbleLimits = {}): R {
  const scheduler = new BoundedScheduler((actual, expected) => {
    if (deepEqual(actual, expected)) return;
    throw new Error(`marbles differ\nexpected:\n${frames(expected)}\nbut got:\n${frames(actual)}`);
  }, limits);
  return scheduler.run((helpers) => {
    const returned = run({ ...helpers, scheduler });
    if (isPromise(returned)) {
      throw new Error(
        'marbles: the function returned a promise, and promises do not run in virtual time: ' +
          'what follows an await would run after the test. Write the function without async, ' +
          'and act at a frame with scheduler.schedule(action, frame).',
      );
    }
    return returned;
  });
}
