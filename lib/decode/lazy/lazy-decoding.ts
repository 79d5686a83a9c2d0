/** `lazyDecoding`, the decoding for large collections of which little is read. */
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import type { DecodeContext, Decoder, Decoding } from '../decoding.ts';
import { ListDecoder } from '../list-decoder.ts';
import { WatchDecoder } from '../watch-decoder.ts';
import type { ListPart, WatchEvent } from '../watch-event.ts';
import { LazyReader } from './lazy-reader.ts';

/**
 * Creates a decoding that parses `metadata` on receipt, and every other member when it is first read.
 *
 * The objects are plain objects with the members in the order of the response. `kind`, `apiVersion`, `metadata` and
 * short values are data. Every other member, such as `spec`, `status` or `data`, is an own accessor that parses its
 * text when it is first read, and keeps the value. Spread, `Object.keys`, `JSON.stringify`, `structuredClone`, immer
 * and deep equality work as on other objects; those that look at a member parse it. The value is frozen if its object is
 * frozen. `console.log` shows the accessors and not their values; log a copy `{ ...object }` instead.
 *
 * Indices, selectors, queries and handlers that read only `metadata` parse nothing more. On a relist, an object whose
 * UID and version are those of the stored object is not parsed at all.
 *
 * A member that is not JSON throws an {@link ApiError} when it is read, with the key of the object and without its
 * text. An object that is written in an unusual way, such as with escaped or repeated names, is parsed completely.
 *
 * @example
 * ```ts
 * import { createClient, createListWatch, createSharedInformer, lazyDecoding } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * server.objects.create(pods, {
 *   metadata: { name: 'web', namespace: 'shop' },
 *   spec: { containers: [{ name: 'main', image: 'web:1' }] },
 * });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const listWatch = createListWatch(client, pods, { decoding: lazyDecoding() });
 * const informer = createSharedInformer(listWatch);
 * informer.start();
 * await informer.whenSynced({ timeoutMs: 5_000 });
 * const pod = informer.indexer.getByKey('shop/web');
 * pod?.metadata.name; // => 'web'
 * pod?.spec?.containers[0]?.image; // => 'web:1'
 * await informer.stop();
 * ```
 */
export function lazyDecoding(): Decoding {
  return {
    watch: <T extends KubernetesObject>(
      context: DecodeContext<T>,
    ): Decoder<readonly WatchEvent<T>[]> => new WatchDecoder(context, new LazyReader(context)),
    list: <T extends KubernetesObject>(context: DecodeContext<T>): Decoder<ListPart<T>> =>
      new ListDecoder(context, new LazyReader(context)),
  };
}
