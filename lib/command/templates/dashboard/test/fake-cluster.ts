/** A fake API server with Pods, for the test and for a page without a cluster. */
import { pods } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer } from 'rx-informer/testing';

const PHASES = ['Running', 'Running', 'Running', 'Pending', 'Succeeded', 'Failed'];
const APPS = ['cart', 'checkout', 'search', 'web'];

/** The Pods are in two namespaces. */
export function fakeCluster(count: number): FakeApiServer {
  // Versions continue where those of a former run have ended, as on a real server: otherwise a page could not notice another run.
  const server = createFakeApiServer({ initialResourceVersion: String(Date.now()) });
  for (let at = 0; at < count; at++) {
    server.objects.create(pods, {
      metadata: {
        namespace: at % 5 === 0 ? 'billing' : 'shop',
        name: `${APPS[at % APPS.length]}-${String(at).padStart(3, '0')}`,
      },
      spec: { nodeName: `node-${at % 3}`, containers: [{ name: 'main', image: 'web:1' }] },
      status: { phase: PHASES[(at >> 2) % PHASES.length] ?? 'Running' },
    });
  }
  return server;
}
