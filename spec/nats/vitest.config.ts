/** The configuration of the NATS suite, which runs against a real nats-server. */
import { specFile, suiteOfParts } from '../support/suite.ts';

export default suiteOfParts(
  { setupFiles: [specFile('support/setup.ts')] },
  {
    name: 'beside each other',
    include: ['spec/nats/**/*.nats.ts'],
    // Most of these tests wait for heartbeats and expiries. Each has servers of its own.
    maxWorkers: 2,
  },
  {
    // Many readers, which load the machine, and limits in seconds.
    name: 'night',
    include: ['spec/nats/**/*.night.ts'],
    maxWorkers: 1,
  },
);
