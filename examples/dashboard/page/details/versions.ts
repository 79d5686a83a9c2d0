/** What tells the ReplicaSets of a Deployment apart: their images, and which one is new. */
import { shortImage } from '../kinds/cause.ts';
import type { Row } from '../kinds/kind.ts';

function isNewer(one: Row, other: Row): boolean {
  const by = Number(one['revision']) - Number(other['revision']);
  return by > 0 || (by === 0 && one.createdMs > other.createdMs);
}

/** The images of a ReplicaSet and, if there are several ReplicaSets, whether it is the new one. */
export function versionOf(set: Row, sets: readonly Row[]): string {
  const images = String(set['image']).split(', ').map(shortImage).join(', ');
  if (sets.length < 2) return images;
  return `${images}, ${sets.some((other) => isNewer(other, set)) ? 'old' : 'new'}`;
}
