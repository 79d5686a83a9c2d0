/** An alert about Pods that crash again and again: one message for all Pods of half a second, with RxJS's `bufferTime`. */
import { createClient, createListWatch, createSharedInformer, liveFilter } from 'rx-informer';
import { type Pod, type PodStatus, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { bufferTime, filter, firstValueFrom, mergeMap, share } from 'rxjs';

const { fetch, objects } = createFakeApiServer();
const place = (name: string) => ({ namespace: 'shop', name });
const status = (reason: string | undefined): PodStatus => ({
  containerStatuses: [
    {
      name: 'main',
      image: 'web',
      imageID: '',
      ready: reason === undefined,
      restartCount: 0,
      ...(reason === undefined ? {} : { state: { waiting: { reason } } }),
    },
  ],
});
const names = ['web-0', 'web-1', 'web-2', 'db-0'];
for (const name of names)
  objects.create(pods, { metadata: place(name), status: status(undefined) });

const client = createClient({ baseUrl: 'http://fake', fetch });
const informer = createSharedInformer(createListWatch(client, pods));
const isCrashLooping = (pod: Pod) =>
  pod.status?.containerStatuses?.some(
    ({ state }) => state?.waiting?.reason === 'CrashLoopBackOff',
  ) === true;

// A Pod is added to the answer when it begins to crash. Its later changes are updates, which do not alert again.
const alerts$ = informer.changes$.pipe(
  liveFilter(isCrashLooping),
  mergeMap(({ added }) => added),
  // From here on the values are Pods, not change sets, so every operator of RxJS may be used.
  bufferTime(500),
  filter((crashing) => crashing.length > 0),
  share(),
);
alerts$.subscribe((crashing) => {
  console.log(
    `crash loop: ${crashing
      .map(({ metadata }) => metadata.name)
      .sort()
      .join(' ')}`,
  );
});
await informer.whenSynced({ timeoutMs: 10_000 });

const change = (name: string, reason: string | undefined) =>
  objects.modify(pods, place(name), (pod) => {
    pod.status = status(reason);
  });
const first = firstValueFrom(alerts$);
for (const name of ['web-0', 'web-1', 'web-2']) change(name, 'CrashLoopBackOff');
await first;

// A Pod that recovers leaves the answer, so its next crash alerts again.
const second = firstValueFrom(alerts$);
const { metadata } = change('web-0', undefined);
await informer.whenObserved('shop/web-0', metadata.resourceVersion, { timeoutMs: 10_000 });
change('web-0', 'CrashLoopBackOff');
await second;
await informer.stop();
