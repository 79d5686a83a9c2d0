/**
 * The order of the spec files: random, but those with modules of their own first. Between others they would end the worker
 * that the next files could share, and every new worker loads the modules again.
 */
import { createHash } from 'node:crypto';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

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
