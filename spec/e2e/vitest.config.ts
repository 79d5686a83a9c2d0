/** The configuration of the end-to-end suite, which runs against a real kube-apiserver. */
import { leftToNight } from '../support/gate.ts';
import { specFile, suiteOfParts } from '../support/suite.ts';

export default suiteOfParts(
  {
    globalSetup: [specFile('e2e/global-setup.ts')],
    setupFiles: [specFile('support/setup.ts')],
    longest: [
      '/shard-ring.e2e.ts',
      '/shards.e2e.ts',
      '/pipe-refusals.e2e.ts',
      '/pipe-outage.e2e.ts',
    ],
  },
  {
    name: 'beside each other',
    include: ['spec/e2e/**/*.e2e.ts'],
    exclude: [...leftToNight],
    // Most of these tests wait: for a timeout, an expiry or a period. So more run than there are cores.
    maxWorkers: 3,
  },
  {
    // Files that load the server as much as the machine sustains, or measure it.
    name: 'night',
    include: ['spec/e2e/**/*.night.ts'],
    maxWorkers: 1,
  },
);
