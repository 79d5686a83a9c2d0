/** The orders in which Vitest runs the files of a suite. */
import { createHash } from 'node:crypto';
import { BaseSequencer, type TestSequencerConstructor, type TestSpecification } from 'vitest/node';

/**
 * Random, but files with modules of their own first. Between others they would end the worker that the next files could
 * share, and every new worker loads the modules again.
 */
export class IsolatedFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { seed } = this.ctx.config.sequence;
    const place = ({ moduleId }: TestSpecification) =>
      createHash('sha1').update(`${seed} ${moduleId}`).digest('hex');
    const placed = files.map((file) => ({ file, place: place(file) }));
    placed.sort((one, other) => (one.place < other.place ? -1 : 1));
    const isIsolated = ({ file }: (typeof placed)[number]) => file.project.config.isolate;
    return [...placed.filter(isIsolated), ...placed.filter((each) => !isIsolated(each))].map(
      ({ file }) => file,
    );
  }
}

/** Begins with the files whose paths end like this, which take longest, so that no core waits for one of them at the end. */
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
