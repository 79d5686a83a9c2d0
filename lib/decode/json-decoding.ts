/** The default decoding. */
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { DecodeContext, Decoder, Decoding } from './decoding.ts';
import { ListDecoder } from './list-decoder.ts';
import { WatchDecoder } from './watch-decoder.ts';
import type { ListPart } from './watch-event.ts';

/** Decodes with `JSON.parse` into plain, writable objects, as on the wire. */
export const jsonDecoding: Decoding = {
  watch: (context) => new WatchDecoder(context),
  list: <T extends KubernetesObject>(context: DecodeContext<T>): Decoder<ListPart<T>> =>
    new ListDecoder(context),
};
