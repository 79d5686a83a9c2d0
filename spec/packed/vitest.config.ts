/**
 * The configuration of the suite for the packed library, which installs it in projects of consumers. It needs the npm
 * registry. Run it with `npm run test:packed`. The fake server and the expectations of the suite are not packed.
 */
import { specFile, suiteOf } from '../support/suite.ts';

export default suiteOf({
  include: ['spec/packed/**/*.packed.ts'],
  // The library is packed and installed once.
  globalSetup: [specFile('packed/consumer.ts')],
  // Each test starts one or two processes.
  maxConcurrency: 2,
});
