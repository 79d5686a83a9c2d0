/**
 * The configuration of the suite that runs the packed library in Bun and Deno. It needs the npm registry and the packages of
 * `.suites/runtimes`. Run it with `npm run test:runtimes`. The servers of the suite are not packed.
 */
import { suiteOf } from '../support/suite.ts';

export default suiteOf({
  include: ['spec/runtimes/**/*.runtime.ts'],
  testTimeout: 120_000,
  hookTimeout: 300_000,
  fileParallelism: false,
});
