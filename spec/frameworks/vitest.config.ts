/** The configuration of the suite for user-interface frameworks. It needs the packages of `.suites`. */
import { suiteOf } from '../support/suite.ts';

export default suiteOf({ include: ['spec/frameworks/**/*.spec.ts'] });
