/** The configuration of the NATS suite, which runs against a real nats-server. */
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { leftToPacked } from '../packed/conformance/outside-specs.ts';
import { specFile, suiteOfParts } from '../support/suite.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export default suiteOfParts(
  { setupFiles: [specFile('support/setup.ts')] },
  {
    name: 'beside each other',
    include: ['spec/nats/**/*.nats.ts'],
    exclude: globSync('spec/nats/*.nats.ts', { cwd: root }).filter(leftToPacked(root)),
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
