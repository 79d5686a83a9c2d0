/** The decoding of the soak: `SOAK_DECODING=lazy` or `json` replaces the default one. */
import { type Decoding, jsonDecoding, lazyDecoding } from 'rx-informer';

const decodings: Readonly<Record<string, () => Decoding>> = {
  json: () => jsonDecoding,
  lazy: lazyDecoding,
};

export function decodingOfSoak(): { readonly decoding?: Decoding } {
  const name = process.env['SOAK_DECODING'] ?? '';
  const create = decodings[name];
  if (create !== undefined) return { decoding: create() };
  if (name !== '') throw new TypeError(`SOAK_DECODING must be json or lazy, not ${name}`);
  return {};
}
