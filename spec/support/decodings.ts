/** The decodings by name. A test that draws one per seed tests each of them. */
import { type Decoding, differentialDecoding, jsonDecoding, lazyDecoding } from 'rx-informer';

export const decodings: Readonly<Record<string, () => Decoding>> = {
  json: jsonDecoding,
  differential: differentialDecoding,
  lazy: lazyDecoding,
};

/** Draws a decoding. */
export function drawDecoding(random: () => number): () => Decoding {
  const all = Object.values(decodings);
  return all[Math.floor(random() * all.length)] ?? jsonDecoding;
}
