/** Runs the conformance suite of the fake server against a real kube-apiserver. */
import { describe } from 'vitest';
import { openRealApiServer } from '../conformance/real.ts';
import { apiServerConformance } from '../conformance/suite.ts';
import { startApiServer } from './apiserver.ts';
import { streamingFlags } from './apiserver-binary.ts';
import { noControl } from './cluster.ts';

describe.skipIf(noControl)('conformance', () => {
  apiServerConformance('a real kube-apiserver', async () => {
    const process = await startApiServer({ flags: streamingFlags });
    const server = await openRealApiServer(process);
    return {
      ...server,
      async close() {
        await server.close();
        await process.stop();
      },
    };
  });
});
