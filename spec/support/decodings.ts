/** The decodings by name. A test that draws one per seed tests each of them. */
import { type Decoding, jsonDecoding, lazyDecoding } from 'rx-informer';
import { comparingStored } from '../../lib/decode/differential/stored-difference.ts';

export const decodings: Readonly<Record<string, () => Decoding>> = {
  json: jsonDecoding,
  // As over undici.
  differential: comparingStored(),
  lazy: lazyDecoding,
};

/** Draws a decoding. */
export function drawDecoding(random: () => number): () => Decoding {
  const all = Object.values(decodings);
  return all[Math.floor(random() * all.length)] ?? jsonDecoding;
}
