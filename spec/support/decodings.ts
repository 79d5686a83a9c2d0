/** The decodings by name. A test that draws one per seed tests each of them. */
import { type Decoding, jsonDecoding, lazyDecoding } from 'rx-informer';
import { createUndiciTransport } from 'rx-informer/node';

const overUndici = createUndiciTransport({ baseUrl: 'http://127.0.0.1:1' });

export const decodings: Readonly<Record<string, () => Decoding>> = {
  json: jsonDecoding,
  // With the comparison with stored objects, which only a client over undici loads.
  differential: overUndici.decoding as () => Decoding,
  lazy: lazyDecoding,
};

/** Draws a decoding. */
export function drawDecoding(random: () => number): () => Decoding {
  const all = Object.values(decodings);
  return all[Math.floor(random() * all.length)] ?? jsonDecoding;
}
