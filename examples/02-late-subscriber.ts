/** A late subscriber receives the state, not the history: without gap or duplicate, and without a second request. */
import { createClient, createListWatch, createSharedInformer } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';

const server = createFakeApiServer();
const place = (name: string) => ({ namespace: 'shop', name });
for (const name of ['web-0', 'web-1', 'web-2']) {
  server.objects.create(pods, { metadata: place(name) });
}
const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
const informer = createSharedInformer(createListWatch(client, pods));

const early: string[] = [];
informer.added$.subscribe((pod) => early.push(pod.metadata.name));
await informer.whenSynced({ timeoutMs: 10_000 });
console.log(`early: ${early.join(' ')}`);

const web1 = informer.indexer.get('shop/web-1');
if (web1 === undefined) throw new Error('web-1 is not in the store');
server.objects.delete(pods, place('web-1'));
await informer.whenObserved(
  'shop/web-1',
  { uid: web1.metadata.uid, deleted: true },
  { timeoutMs: 10_000 },
);

// A late subscriber receives the current pods only, so the deleted pod does not appear.
const late: string[] = [];
informer.added$.subscribe((pod) => late.push(pod.metadata.name));
console.log(`late:  ${late.join(' ')}`);

const created = server.objects.create(pods, { metadata: place('web-3') });
await informer.whenObserved('shop/web-3', created.metadata.resourceVersion, {
  timeoutMs: 10_000,
});
console.log(`both saw web-3: ${early.at(-1) === 'web-3' && late.at(-1) === 'web-3'}`);
console.log(`requests to the server: ${server.requests.length}`);
await informer.stop();
