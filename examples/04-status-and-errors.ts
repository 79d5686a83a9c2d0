/** Data streams never error. Failures are values on `status$`, and the informer recovers without losing a change. */
import {
  createClient,
  createListWatch,
  createSharedInformer,
  describeStatus,
  exponentialBackoff,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';

const server = createFakeApiServer();
const place = (name: string) => ({ namespace: 'shop', name });
server.objects.create(pods, { metadata: place('web-0') });
server.faults.failNext({ resource: pods }, { status: 503, message: 'still starting' });

const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
// Short waits, so that the example ends soon.
const backoff = exponentialBackoff({ baseMs: 100 });
const informer = createSharedInformer(createListWatch(client, pods), { backoff });
let last = '';
informer.status$.subscribe((status) => {
  const { headline } = describeStatus(status);
  const line = `${status.phase}: ${headline.replace(/ in .*/, '')}${status.error ? ` (${status.error.reason})` : ''}`;
  if (line !== last) console.log(line);
  last = line;
});
informer.start();
await informer.whenSynced({ timeoutMs: 10_000 });

console.log('-- the connection is lost, and a pod is created meanwhile');
server.faults.dropWatches();
const missed = server.objects.create(pods, { metadata: place('web-1') });
await informer.whenObserved('shop/web-1', missed.metadata.resourceVersion, { timeoutMs: 10_000 });

console.log('-- the version has expired (410), and a pod is deleted meanwhile');
server.faults.expireWatches();
const before = informer.indexer.get('shop/web-0');
if (before === undefined) throw new Error('web-0 is not in the store');
server.objects.delete(pods, place('web-0'));
server.objects.compact();
const gone = { uid: before.metadata.uid, deleted: true } as const;
await informer.whenObserved('shop/web-0', gone, { timeoutMs: 10_000 });

console.log(`left: ${informer.indexer.listKeys().join(' ')}`);
console.log(`relists: ${informer.status.relists}`);
await informer.stop();
