/** The decodings by name. A test that draws one per seed tests each of them. */
import { type Decoding, jsonDecoding } from 'rx-informer';
import { createUndiciTransport } from 'rx-informer/node';

const overUndici = createUndiciTransport({ baseUrl: 'http://127.0.0.1:1' });

/** Differential decoding, with the comparison with stored objects, which only a client over undici loads. */
export const differentialOverUndici = overUndici.decoding as () => Decoding;

export const decodings: Readonly<Record<string, () => Decoding>> = {
  json: jsonDecoding,
  differential: differentialOverUndici,
};

/** Draws a decoding. */
export function drawDecoding(random: () => number): () => Decoding {
  const all = Object.values(decodings);
  return all[Math.floor(random() * all.length)] ?? jsonDecoding;
}
