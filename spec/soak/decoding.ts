/** The decoding of the soak: `SOAK_DECODING=json` or `lazy` replaces differential decoding. */
import type { Decoding } from 'rx-informer';
import { decodings } from '../support/decodings.ts';

export function decodingOfSoak(): { readonly decoding: () => Decoding } {
  const name = process.env['SOAK_DECODING'] ?? 'differential';
  const decoding = decodings[name];
  if (decoding !== undefined) return { decoding };
  throw new TypeError(`SOAK_DECODING must be ${Object.keys(decodings)}, not ${name}`);
}
