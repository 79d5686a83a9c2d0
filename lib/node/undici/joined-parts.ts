/** Joins the parts of a body that have arrived together into one chunk. */

/** The largest chunk that is joined, in bytes. The demand is asked behind each chunk. */
export const LARGEST = 65_536;
/** Kept, because a new buffer for each chunk would be much garbage, as GatheredBytes makes by doubling. Absent while it is in use. */
let space: Uint8Array | undefined;

/** Calls `next` with the parts as one. A lone part is not copied. */
export function joined(
  parts: readonly Uint8Array[],
  length: number,
  next: (bytes: Uint8Array) => void,
): void {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return next(only);
  const kept = length <= LARGEST ? space : undefined;
  const own = kept ?? new Uint8Array(Math.max(length, LARGEST));
  if (kept !== undefined) space = undefined;
  let at = 0;
  for (const part of parts) {
    own.set(part, at);
    at += part.length;
  }
  next(own.subarray(0, length));
  if (length <= LARGEST) space = own;
}
