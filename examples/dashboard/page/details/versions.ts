/** What tells the ReplicaSets of a Deployment apart: their images, and which one is new. */
import { shortImage } from '../kinds/cause.ts';
import type { Row } from '../kinds/kind.ts';

/** Those that have or should have Pods; if none does, the newest. */
export function presentSets(sets: readonly Row[]): readonly Row[] {
  const present = sets.filter(({ tone }) => tone !== 'done');
  const newest = sets.find((set) => !sets.some((other) => isNewer(other, set)));
  return present.length === 0 && newest ? [newest] : present;
}

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
