/** The configuration of the suite for the documentation site. It needs the packages of `.suites`, and the built site. */
import { specFile, suiteOf } from '../support/suite.ts';

export default suiteOf({
  setupFiles: [specFile('support/setup.ts')],
  include: ['spec/site/**/*.browser.ts'],
  testTimeout: 60_000,
  hookTimeout: 60_000,
});
