/**
 * Reads collections from a bucket of NATS, which `rx-informer publish` fills. The informers, the queries and the table do
 * not differ. Edits, logs and collections with selectors stay on the proxy.
 */
import type { CollectionPart, KubernetesObject, ListerWatcher, Resource } from 'rx-informer';
import { defer, from, mergeMap } from 'rxjs';

type Anything = KubernetesObject;

/** Loaded and connected when the first informer starts, so that a page without NATS does not contain its client. */
async function connect(url: string) {
  const [{ wsconnect }, { createNatsListWatch }] = await Promise.all([
    import('@nats-io/nats-core'),
    import('rx-informer/nats'),
  ]);
  // A connection that was lost is found within 15 s.
  const options = { maxReconnectAttempts: -1, pingInterval: 5_000 };
  const connection = await wsconnect({ servers: url, ...options });
  return { connection, createNatsListWatch };
}

/** The option `listWatch` of the factory. */
export function natsListWatch(
  url: string,
  bucket: string,
): (resource: Resource<Anything>, part: CollectionPart) => ListerWatcher<Anything> | undefined {
  let connected: ReturnType<typeof connect> | undefined;
  const connection = () => {
    connected ??= connect(url).catch((error: unknown) => {
      // The informer tries again.
      connected = undefined;
      throw error;
    });
    return connected;
  };
  return (resource, { namespace, labelSelector, fieldSelector, as }) => {
    if (labelSelector !== '' || fieldSelector !== '' || as !== 'object') return undefined;
    let made: ListerWatcher<Anything> | undefined;
    const whenMade = defer(() => from(connection())).pipe(
      mergeMap(async ({ connection, createNatsListWatch }) => {
        const scope = namespace === '' ? {} : { namespace };
        made ??= createNatsListWatch(connection, resource, { bucket, idleMs: 2_000, ...scope });
        return made;
      }),
    );
    return {
      ...(namespace === '' ? {} : { scope: namespace }),
      watchList: true,
      list: (request) => whenMade.pipe(mergeMap((source) => source.list(request))),
      watch: (request) => whenMade.pipe(mergeMap((source) => source.watch(request))),
    };
  };
}
