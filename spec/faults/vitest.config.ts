/** The configuration of the fault suite: random faults by seed, and a judge that allows no loss. */
import { specFile, suiteOf } from '../support/suite.ts';

export default suiteOf({
  setupFiles: [specFile('support/load-guards.ts')],
  include: ['spec/faults/**/*.faults.ts'],
  // The nightly run takes ten times as long.
  testTimeout: 3_600_000,
});
