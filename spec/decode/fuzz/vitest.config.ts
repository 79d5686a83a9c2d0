/** The configuration of the fuzz test of the decoders. */
import { suiteOf } from '../../support/suite.ts';

export default suiteOf({ include: ['spec/decode/fuzz/*.fuzz.ts'], testTimeout: 3_600_000 });
