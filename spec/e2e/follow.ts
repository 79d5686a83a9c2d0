/** Follows every write of a kind: an informer would combine several writes of one object that arrive together. */
import {
  createResourceClient,
  type KubeClient,
  type KubernetesObject,
  type Resource,
  type ResourceClient,
} from 'rx-informer';
import { defer, type Subscription } from 'rxjs';
import { repeat } from 'rxjs/operators';

/** The version of an object, by which etcd orders the writes of all kinds. */
export const versionOf = ({ metadata }: KubernetesObject): number =>
  Number(metadata?.resourceVersion);

/** Calls `see` for each object that is written from now on, until the result is unsubscribed. */
export async function follow<T extends KubernetesObject>(
  client: KubeClient,
  resource: Resource<T>,
  namespace: string,
  see: (object: T, isNew: boolean) => void,
): Promise<Subscription> {
  const calls = createResourceClient(client, resource) as ResourceClient<T>;
  const { metadata } = await calls.list({ namespace });
  let { resourceVersion } = metadata;
  // A server may end a watch at any time.
  const written$ = defer(() =>
    calls.watch({ namespace, resourceVersion, timeoutSeconds: 600 }),
  ).pipe(repeat());
  return written$.subscribe((event) => {
    if (event.type !== 'ADDED' && event.type !== 'MODIFIED') return;
    resourceVersion = event.object.metadata.resourceVersion;
    see(event.object, event.type === 'ADDED');
  });
}
