/**
 * A fingerprint of all pods: the sum of a hash of each pod's UID and version. Two sides compare one number instead of
 * 10,000 pods. A sum does not depend on the order, and is updated by adding and subtracting.
 */

import type { KubernetesObject } from 'rx-informer';

/** Pods, counted and in one number. */
export interface Fingerprint {
  readonly count: number;
  readonly fingerprint: number;
}

export const NO_PODS: Fingerprint = { count: 0, fingerprint: 0 };

type Versioned = Pick<KubernetesObject, 'metadata'>;

/** A 52-bit hash of one pod's UID and version (FNV-1a over two halves). */
function hashOf({ metadata: { uid = '', resourceVersion = '' } = {} }: Versioned): number {
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

/** The fingerprint after a change of one pod. */
export function fingerprintAfter(
  { count, fingerprint }: Fingerprint,
  before: Versioned | undefined,
  after: Versioned | undefined,
): Fingerprint {
  const added = after === undefined ? 0 : hashOf(after);
  const removed = before === undefined ? 0 : hashOf(before);
  return {
    count: count + Number(after !== undefined) - Number(before !== undefined),
    // Step by step, because a sum of three such numbers is not exact.
    fingerprint: (((fingerprint + added) % SPACE) - removed + SPACE) % SPACE,
  };
}
