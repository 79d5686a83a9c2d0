/** `mismatch`, which finds the first difference of two texts. */

import type { WordText } from './document.ts';

/** Returns how many bytes are equal from the two positions on, at most `length`. */
export function mismatch(
  a: WordText,
  aAt: number,
  b: WordText,
  bAt: number,
  length: number,
): number {
  // Words can be compared where both texts have the same position within a word, which is so until a member of another
  // length has changed the distance.
  if (((aAt - bAt) & 3) !== 0) return equalBytes(a.bytes, aAt, b.bytes, bAt, 0, length);
  const head = Math.min(-aAt & 3, length);
  const at = equalBytes(a.bytes, aAt, b.bytes, bAt, 0, head);
  if (at < head) return at;
  const words = (length - head) >> 2;
  const same = equalWords(a.words, (aAt + head) >> 2, b.words, (bAt + head) >> 2, words);
  return equalBytes(a.bytes, aAt, b.bytes, bAt, head + same * 4, length);
}

function equalWords(
  a: Int32Array,
  aAt: number,
  b: Int32Array,
  bAt: number,
  length: number,
): number {
  let at = 0;
  while (at < length && a[aAt + at] === b[bAt + at]) at++;
  return at;
}

function equalBytes(
  a: Uint8Array,
  aAt: number,
  b: Uint8Array,
  bAt: number,
  from: number,
  length: number,
): number {
  let at = from;
  while (at < length && a[aAt + at] === b[bAt + at]) at++;
  return at;
}
