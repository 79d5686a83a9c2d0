/** The configuration of the end-to-end suite, which runs against a real kube-apiserver. */
import { leftToNight } from '../support/gate.ts';
import { specFile, suiteOfParts } from '../support/suite.ts';

/** They start many processes, so nothing else runs beside them. */
const ALONE = ['spec/e2e/sample-controller.e2e.ts', 'spec/e2e/shard-ring.e2e.ts'];

export default suiteOfParts(
  {
    globalSetup: [specFile('e2e/global-setup.ts')],
    setupFiles: [specFile('support/setup.ts')],
  },
  {
    name: 'beside each other',
    include: ['spec/e2e/**/*.e2e.ts'],
    exclude: [...ALONE, ...leftToNight],
    // Most of these tests wait: for a timeout, an expiry or a period. So more run than there are cores.
    maxWorkers: 3,
  },
  { name: 'alone', include: ALONE, maxWorkers: 1 },
  {
    // Files that load the server as much as the machine sustains, or measure it.
    name: 'night',
    include: ['spec/e2e/**/*.night.ts'],
    maxWorkers: 1,
  },
);
