/**
 * A script that lifecycle.spec.ts runs as a process: prints the resources that are left after twenty runs of an
 * informer.
 */
import { addEventHandler, createClient, createListWatch, createSharedInformer } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';

const server = createFakeApiServer();
const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
const informer = createSharedInformer(createListWatch(client, pods), { resyncPeriodMs: 1000 });
const registration = addEventHandler(informer, {}, { resyncPeriodMs: 1000 });
for (let round = 0; round < 20; round++) {
  informer.changes$.subscribe();
  informer.start();
  await informer.whenSynced();
  // A failure, so that a stop must also end the wait of a backoff.
  if (round % 2 === 0) server.faults.dropWatches();
  await informer.stop();
}
registration.remove();
await new Promise((resolve) => setImmediate(resolve));
process.stdout.write(
  JSON.stringify({ left: process.getActiveResourcesInfo(), watches: server.openWatches.length }),
);
