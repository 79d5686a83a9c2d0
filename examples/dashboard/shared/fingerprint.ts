/**
 * A fingerprint of all pods: the sum of a hash of each pod's UID and version. Two sides compare one number instead of
 * 10,000 pods. A sum does not depend on the order, and is updated by adding and subtracting.
 */

/** A 52-bit hash of one pod's UID and version (FNV-1a over two halves). */
export function versionHash(uid: string, resourceVersion: string): number {
  let high = 0x811c9dc5;
  let low = 0xcbf29ce4;
  const text = `${uid}:${resourceVersion}`;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ code, 0x01000197);
  }
  return (high >>> 12) * 2 ** 32 + (low >>> 0);
}

const SPACE = 2 ** 52;

/** Adds a hash to a fingerprint. */
export function withHash(fingerprint: number, hash: number): number {
  return (fingerprint + hash) % SPACE;
}

/** Subtracts a hash from a fingerprint. */
export function withoutHash(fingerprint: number, hash: number): number {
  return (fingerprint - hash + SPACE) % SPACE;
}
