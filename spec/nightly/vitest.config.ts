/** The configuration of the offline tests that measure: clocks, heaps and processors decide them, so that no gate runs them. */
import { specFile, suiteOf } from '../support/suite.ts';

export default suiteOf({
  include: ['spec/**/*.night.{ts,tsx}'],
  // These have servers or pages, and projects of their own.
  exclude: ['spec/{e2e,nats,browser}/**'],
  setupFiles: [specFile('support/setup.ts'), specFile('support/load-guards.ts')],
  globalSetup: [specFile('support/temporary-folder.ts')],
  maxWorkers: 1,
});
