/** The configuration of the budgets of bundles, which `npm run check` runs. */
import { suiteOf } from '../support/suite.ts';

export default suiteOf({ include: ['spec/weight/**/*.spec.ts'] });
