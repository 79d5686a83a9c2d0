/** The configuration of the long form of the query tests: a million events over random pipelines. */
import { suiteOf } from '../../support/suite.ts';

export default suiteOf({
  include: ['spec/query/long/*.long.ts'],
  // One for each share.
  maxWorkers: 2,
  testTimeout: 3_600_000,
});
