/** The order of the files of a suite: those first that take longest, so that no core waits for one of them at the end. */
import { BaseSequencer, type TestSequencerConstructor, type TestSpecification } from 'vitest/node';

/** Begins with the files whose paths end like this, in this order. */
export function longestFirst(longest: readonly string[]): TestSequencerConstructor {
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const place = ({ moduleId }: TestSpecification) => {
        const at = longest.findIndex((path) => moduleId.endsWith(path));
        return at < 0 ? longest.length : at;
      };
      return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
    }
  };
}
