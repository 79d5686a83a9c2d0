/** `differentialDecoding`, the default decoding: only what changed in an object is parsed. */
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { checkedTimes } from '../../rx/checked-option.ts';
import type { DecodeContext, Decoder, Decoding } from '../decoding.ts';
import { ListDecoder } from '../list-decoder.ts';
import { WatchDecoder } from '../watch-decoder.ts';
import type { ListPart, WatchEvent } from '../watch-event.ts';
import { type DecodeCounts, DifferentialReader } from './differential-reader.ts';
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
 * - On a relist, an object whose UID and version are those of the stored object is not parsed at all.
 * - The value of `managedFields` is cut from the bytes before an object is parsed.
 *
 * Each collection of {@link createListWatch} has one by default. Pass one to several collections to give them one
 * limit. A transform must return a new object, or the same object unchanged, because parts of the received object are
 * used again. Throws a `TypeError` if `maxBytes` is negative.
 *
 * @example
 * ```ts
 * import { createClient, createListWatch, createSharedInformer, differentialDecoding } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
 * const decoding = differentialDecoding({ maxBytes: 2 ** 20 });
 * const informer = createSharedInformer(createListWatch(client, pods, { decoding }));
 * informer.start();
 * await informer.whenSynced({ timeoutMs: 5_000 });
 * decoding.counts; // => { compared: 0, parsed: 0, unchanged: 0 }
 * await informer.stop();
 * ```
 */
export function differentialDecoding({
  maxBytes = 16 * 2 ** 20,
}: DifferentialDecodingOptions = {}): DifferentialDecoding {
  const recent = new RecentDocuments(checkedTimes(maxBytes, 'maxBytes'));
  const counts: DecodeCounts = { compared: 0, parsed: 0, unchanged: 0 };
  return {
    counts,
    watch: <T extends KubernetesObject>(
      context: DecodeContext<T>,
    ): Decoder<readonly WatchEvent<T>[]> =>
      new WatchDecoder(context, new DifferentialReader(context, recent, counts)),
    list: <T extends KubernetesObject>(context: DecodeContext<T>): Decoder<ListPart<T>> => {
      const reader = new DifferentialReader(context, recent, counts);
      return new ListDecoder(context, {
        unchanged: (bytes, from, to) => {
          const stored = reader.unchanged(bytes, from, to);
          if (stored === undefined) counts.parsed++;
          return stored;
        },
      });
    },
  };
}
