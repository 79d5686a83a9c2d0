/** Labels of marble expectations, so that the error of a failing one says which it is. */
import type { TestScheduler } from 'rxjs/testing';

/** The helpers of rxjs. */
export type RunHelpers = Parameters<Parameters<TestScheduler['run']>[0]>[0];

type Expecting = Pick<RunHelpers, 'expectObservable' | 'expectSubscriptions'>;

/** The expectations of one test that rxjs has not compared yet. It compares them in the order in which they were made. */
export class Expectations {
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
