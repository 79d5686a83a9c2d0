/** The default decoding. */
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { DecodeContext, Decoder, Decoding } from './decoding.ts';
import { ListDecoder } from './list-decoder.ts';
import { WatchDecoder } from './watch-decoder.ts';
import type { ListPart } from './watch-event.ts';

/**
 * Creates a decoding that parses each object with `JSON.parse` into a plain, writable object, as on the wire.
 *
 * The value of `managedFields` is cut from the bytes before an object is parsed, unless it is kept. On a relist, an object
 * whose UID and version are those of the stored object is not parsed at all.
 *
 * @example
 * ```ts
 * import { createClient, createListWatch, createSharedInformer, jsonDecoding } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
 * const informer = createSharedInformer(createListWatch(client, pods, { decoding: jsonDecoding }));
 * informer.indexer.size; // => 0
 * ```
 */
export function jsonDecoding(): Decoding {
  return {
    watch: (context) => new WatchDecoder(context),
    list: <T extends KubernetesObject>(context: DecodeContext<T>): Decoder<ListPart<T>> =>
      new ListDecoder(context),
  };
}
