/** Events, each joined to the object that it is about. An Event outlives its object, and may arrive before it. */
import { createClient, createInformerFactory, liveJoin, toView } from 'rx-informer';
import { events, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';

const { fetch, objects } = createFakeApiServer();
const place = (name: string) => ({ namespace: 'shop', name });
const createPod = (name: string) =>
  objects.create(pods, { metadata: place(name), status: { phase: 'Pending' } });
const report = (name: string, uid: string, reason: string) =>
  objects.create(events, {
    metadata: place(`${name}.${reason}`.toLowerCase()),
    involvedObject: { kind: 'Pod', ...place(name), uid },
    reason,
  });
const web = createPod('web-0');
report('web-0', web.metadata.uid, 'Scheduled');
report('old-0', 'a-uid-of-the-past', 'Killing');

const client = createClient({ baseUrl: 'http://fake', fetch });
const factory = createInformerFactory(client, { namespaces: ['shop'] });
const podInformer = factory.informer(pods);

const timeline = factory.informer(events).changes$.pipe(
  liveJoin(podInformer.changes$, {
    // By UID, because an object that was deleted and created again has the same name.
    on: { left: ({ involvedObject }) => involvedObject.uid, right: ({ metadata }) => metadata.uid },
    one: true,
    project: ({ involvedObject, reason }, pod) => ({
      about: involvedObject.name,
      reason,
      phase: pod?.status?.phase ?? 'gone',
    }),
  }),
  toView(),
);
const print = () => {
  const lines = timeline
    .getSnapshot()
    .rows.map((row) => `${row.about} ${row.reason} (${row.phase})`);
  console.log(lines.toSorted().join(', '));
};

const leave = timeline.subscribe(() => undefined);
factory.start();
await factory.whenSynced({ timeoutMs: 10_000 });
print();

const running = objects.modify(pods, place('web-0'), (pod) => {
  pod.status = { phase: 'Running' };
});
const { resourceVersion } = running.metadata;
await podInformer.whenObserved('shop/web-0', resourceVersion, { timeoutMs: 10_000 });
print();

objects.delete(pods, place('web-0'));
const gone = { uid: web.metadata.uid, deleted: true } as const;
await podInformer.whenObserved('shop/web-0', gone, { timeoutMs: 10_000 });
print();
leave();
await factory.stop();
