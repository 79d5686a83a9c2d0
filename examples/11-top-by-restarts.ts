/** The ten Pods that restarted most often. A change of one Pod costs a few comparisons, however many Pods there are. */
import {
  createClient,
  createListWatch,
  createSharedInformer,
  liveMap,
  liveTop,
  toView,
} from 'rx-informer';
import { type PodStatus, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';

const { fetch, objects } = createFakeApiServer();
const place = (name: string) => ({ namespace: 'shop', name });
const status = (restartCount: number): PodStatus => ({
  containerStatuses: [{ name: 'main', image: 'web', imageID: '', ready: true, restartCount }],
});
for (let index = 0; index < 200; index++) {
  objects.create(pods, { metadata: place(`web-${index}`), status: status(index) });
}

const client = createClient({ baseUrl: 'http://fake', fetch });
const informer = createSharedInformer(createListWatch(client, pods));
const top = informer.changes$.pipe(
  liveMap(({ metadata, status }) => ({
    name: metadata.name,
    restarts: (status?.containerStatuses ?? []).reduce((sum, one) => sum + one.restartCount, 0),
  })),
  liveTop(10, (one, other) => other.restarts - one.restarts),
  toView(),
);
const leave = top.subscribe(() => undefined);
await informer.whenSynced({ timeoutMs: 10_000 });

const print = () => {
  const { rows, total } = top.getSnapshot();
  console.log(`${rows.length} of ${total}: ${rows[0]?.name} … ${rows.at(-1)?.name}`);
};
print();
const restarted = objects.modify(pods, place('web-0'), (pod) => {
  pod.status = status(500);
});
const { resourceVersion } = restarted.metadata;
await informer.whenObserved('shop/web-0', resourceVersion, { timeoutMs: 10_000 });
print();
leave();
await informer.stop();
