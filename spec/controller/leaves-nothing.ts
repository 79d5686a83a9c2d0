/** Run as a separate process. Uses a controller that leads, fails and records events, and prints the resources still open. */
import {
  createClient,
  createController,
  createEventRecorder,
  createLeaderElector,
  createListWatch,
  createSharedInformer,
  exists,
  untilCondition,
} from 'rx-informer';
import { eventsV1Events, leases, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';

const server = createFakeApiServer({ resources: [pods, leases, eventsV1Events] });
const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
const place = { namespace: 'shop', name: 'web' };
const pod = server.objects.create(pods, { metadata: place });
const informer = createSharedInformer(createListWatch(client, pods));
const recorder = createEventRecorder(client, { component: 'test' });
const seen: string[] = [];
const controller = createController({
  for: informer,
  leaderElection: () =>
    createLeaderElector({ client, namespace: 'shop', name: 'test', identity: 'me' }),
  reconcile: async (key, { object }) => {
    seen.push(key);
    for (let times = 0; times < 3; times++) {
      recorder.event(object ?? pod, { reason: 'Seen', message: 'again' });
    }
    throw new Error('not yet');
  },
});
for (let round = 0; round < 10; round++) {
  controller.start();
  await controller.whenReady({ timeoutMs: 5_000 });
  await untilCondition(client, pods, place, exists, { timeoutMs: 5_000 });
  await controller.stop();
}
await recorder.close();
await informer.stop();
await new Promise((resolve) => setImmediate(resolve));
const { spec } = server.objects.get(leases, { namespace: 'shop', name: 'test' }) ?? {};
process.stdout.write(
  JSON.stringify({
    left: process.getActiveResourcesInfo(),
    watches: server.openWatches.length,
    holder: spec?.holderIdentity,
    reconciled: seen.length >= 10,
  }),
);
