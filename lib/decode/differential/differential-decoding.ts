/** `differentialDecoding`: only what changed in an object is parsed. The default of the transports for Node. */

import { checkedTimes } from '../../checks/checked-option.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import type { DecodeContext, Decoder, Decoding } from '../decoding.ts';
import { ListDecoder } from '../list-decoder.ts';
import type { DecodeCounts } from '../object-reader.ts';
import { WatchDecoder } from '../watch-decoder.ts';
import type { ListPart, WatchEvent } from '../watch-event.ts';
import { DifferentialReader } from './differential-reader.ts';
import { RecentDocuments } from './recent-documents.ts';

/** The options of {@link differentialDecoding}. */
export interface DifferentialDecodingOptions {
  /** How many bytes of recently changed objects are kept. 0 keeps none. @defaultValue 16 MiB */
  readonly maxBytes?: number | undefined;
}

/** A decoding with the number of objects that were decoded in which way. */
export interface DifferentialDecoding extends Decoding {
  readonly counts: Readonly<DecodeCounts>;
}

/**
 * Creates a decoding that parses only what changed. The objects are those that `JSON.parse` gives: plain, writable
 * objects with the fields in the order of the response, and without `managedFields` unless they are kept.
 *
 * - The bytes of objects that changed at least twice recently are kept. The next state of such an object is compared
 *   with them, and a member whose bytes are equal keeps its JavaScript value, at every depth.
 * - After a client over undici was created, the other changed objects are compared with the stored ones, with the same result.
 *
 * The option `decoding` of {@link createListWatch} takes the function itself, and then calls it once for each collection.
 * With the clients of `rx-informer/node` over undici it is the default. In a page {@link jsonDecoding} is, because this
 * one adds 3 kB to a bundle. Return one decoding for several collections to give them one limit. A transform receives
 * a copy of a kept value, because it may change what it receives. Throws a `TypeError` if `maxBytes` is negative.
 *
 * @example
 * ```ts
 * import { createClient, createListWatch, createSharedInformer, differentialDecoding } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
 * const decoding = differentialDecoding({ maxBytes: 2 ** 20 });
 * const listWatch = createListWatch(client, pods, { decoding: () => decoding });
 * const informer = createSharedInformer(listWatch);
 * informer.start();
 * await informer.whenSynced({ timeoutMs: 5_000 });
 * decoding.counts; // => { compared: 0, parsed: 0, unchanged: 0 }
 * await informer.stop();
 * ```
 */
export function differentialDecoding({
  maxBytes = 16 * 2 ** 20,
}: DifferentialDecodingOptions = {}): DifferentialDecoding {
  const recent = new RecentDocuments(checkedTimes(maxBytes, 'differentialDecoding: maxBytes'));
  const counts: DecodeCounts = { compared: 0, parsed: 0, unchanged: 0 };
  /** A list that reuses nothing repairs objects that a consumer damaged. The kept values may share the damage. */
  const opened = <T extends KubernetesObject>(context: DecodeContext<T>) => {
    if (context.reuse === false) recent.clear();
    return context;
  };
  return {
    counts,
    watch: <T extends KubernetesObject>(
      context: DecodeContext<T>,
    ): Decoder<readonly WatchEvent<T>[]> =>
      new WatchDecoder(opened(context), new DifferentialReader(context, recent, counts)),
    list: <T extends KubernetesObject>(context: DecodeContext<T>): Decoder<ListPart<T>> =>
      new ListDecoder(opened(context), { count: (how) => counts[how]++ }),
  };
}
