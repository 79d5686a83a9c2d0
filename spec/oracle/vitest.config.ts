/** The configuration of the oracle, which runs client-go and this library on the same servers and scripts. */
import { specFile, suiteOf } from '../support/suite.ts';

export default suiteOf({
  setupFiles: [specFile('support/load-guards.ts')],
  include: ['spec/oracle/**/*.oracle.ts'],
  globalSetup: [specFile('oracle/global-setup.ts')],
  // Many seeds run concurrently, because client-go waits 800 ms or longer before it relists.
  maxConcurrency: 80,
});
