/** A slow consumer does not delay the store and does not fall behind: its waiting changes are folded per pod. */

import {
  atMostEvery,
  conflateByKey,
  createClient,
  createListWatch,
  createSharedInformer,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';

const server = createFakeApiServer();
const ref = { namespace: 'shop', name: 'busy' };
server.objects.create(pods, { metadata: ref });
const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
const informer = createSharedInformer(createListWatch(client, pods));

/** Like a screen that is painted five times per second. */
const ready = atMostEvery(200);

let commits = 0;
let paints = 0;
let shown: string | undefined;
informer.changes$.subscribe(() => commits++);
informer.changes$.pipe(conflateByKey({ ready })).subscribe(({ changes }) => {
  paints++;
  shown = changes[0]?.object?.metadata?.annotations?.count ?? shown;
});
await informer.whenSynced({ timeoutMs: 10_000 });

for (let count = 1; count <= 50; count++) {
  server.objects.modify(pods, ref, (pod) => {
    pod.metadata = { ...pod.metadata, annotations: { count: String(count) } };
  });
  await new Promise((resolve) => setTimeout(resolve, 10));
}
await new Promise((resolve) => setTimeout(resolve, 300));

console.log(`many commits: ${commits > 20}`);
console.log(`few paints: ${paints < commits / 2}`);
console.log(`the last paint shows the newest state: ${shown === '50'}`);
await informer.stop();
