/** `marbles`: marble tests with any test framework, in virtual time. Throws an error if frames differ. */
import type { SchedulerLike } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { deepEqual } from '../deep-equal.ts';
import { BoundedScheduler, type MarbleLimits } from './bounded-scheduler.ts';

/** The helpers of a marble test: those of rxjs, and the scheduler to pass to the code under test. */
export interface MarbleHelpers extends RunHelpers {
  readonly scheduler: SchedulerLike;
}

function frames(value: unknown): string {
  if (!Array.isArray(value)) return JSON.stringify(value);
  const lines = value.map((item) => `  ${JSON.stringify(item)}`);
  return lines.length === 0 ? '  nothing' : lines.join('\n');
}

/** Whether a value is a promise. Its rejection is handled, so that it does not become an unhandled rejection. */
function isPromise(value: unknown): boolean {
  if (typeof (value as PromiseLike<unknown> | undefined)?.then !== 'function') return false;
  (value as PromiseLike<unknown>).then(undefined, () => undefined);
  return true;
}

/**
 * Runs a marble test in virtual time: rxjs's `TestScheduler.run` with limits, and with values compared by content.
 *
 * Pass `scheduler` to the code under test. Promises do not run in virtual time, so code that awaits a promise does not
 * continue within the test. Use {@link marbleListWatch} in place of the fake API server.
 *
 * Throws an `Error` that shows the number and the diagram of the expectation and both sides if frames differ. Also throws an `Error` if virtual time passes `maxFrames`
 * or the test runs more than `maxActions` actions, because something was not unsubscribed, if `run` returns a promise,
 * and if the fake API server receives a request within the test. Throws a `TypeError` if a limit is not a valid number.
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
  const expectations = new Expectations();
  const scheduler = new BoundedScheduler((actual, expected) => {
    const label = expectations.next();
    if (deepEqual(actual, expected)) return;
    throw new Error(
      `marbles differ in ${label}\nexpected:\n${frames(expected)}\nbut got:\n${frames(actual)}`,
    );
  }, limits);
  return scheduler.run((helpers) => {
    const returned = run({ ...helpers, ...expectations.labelling(helpers), scheduler });
    if (isPromise(returned)) {
      throw new Error(
        'marbles: the function returned a promise, and promises do not run in virtual time: ' +
          'code after an await would run after the test. Write the function without async, ' +
          'and act at a frame with scheduler.schedule(action, frame).',
      );
    }
    return returned;
  });
}

/** The helpers of rxjs. */
type RunHelpers = Parameters<Parameters<TestScheduler['run']>[0]>[0];

type Expecting = Pick<RunHelpers, 'expectObservable' | 'expectSubscriptions'>;

/** The expectations of one test that rxjs has not compared yet. It compares them in the order in which they were made. */
class Expectations {
  readonly #open: { label: string | undefined }[] = [];
  #count = 0;

  /** The helpers that make expectations. */
  labelling(helpers: Expecting): Expecting {
    return {
      expectObservable: (observable, subscription) => {
        const label = this.#opened('expectObservable');
        const { toBe, toEqual } = helpers.expectObservable(observable, subscription);
        return {
          toBe: (marbles, values, error) => {
            label(marbles);
            toBe(marbles, values, error);
          },
          toEqual: (other) => {
            label('another Observable');
            toEqual(other);
          },
        };
      },
      expectSubscriptions: (logs) => {
        const label = this.#opened('expectSubscriptions');
        const { toBe } = helpers.expectSubscriptions(logs);
        return {
          toBe: (marbles) => {
            label(marbles);
            toBe(marbles);
          },
        };
      },
    };
  }

  /** The label of the expectation that is compared now. */
  next(): string {
    // An expectation without a diagram is never compared.
    const at = this.#open.findIndex(({ label }) => label !== undefined);
    return this.#open.splice(at, 1)[0]?.label ?? '';
  }

  #opened(verb: string): (diagram: string | readonly string[]) => void {
    const expectation: { label: string | undefined } = { label: undefined };
    this.#open.push(expectation);
    const number = ++this.#count;
    return (diagram) => {
      expectation.label = `expectation ${number}, ${verb}: ${JSON.stringify(diagram)}`;
    };
  }
}
