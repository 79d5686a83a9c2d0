/** What tells the ReplicaSets of a Deployment apart: their images, and which one is new. */
import { shortImage } from '../kinds/cause.ts';
import type { Row } from '../kinds/kind.ts';

const age = (row: Row) => [Number(row['revision']), row.createdMs] as const;

function isNewer(one: Row, other: Row): boolean {
  const [[revision, createdMs], [otherRevision, otherMs]] = [age(one), age(other)];
  return revision === otherRevision ? createdMs > otherMs : revision > otherRevision;
}

/** The images of a ReplicaSet and, if there are several ReplicaSets, whether it is the new one. */
export function versionOf(set: Row, sets: readonly Row[]): string {
  const images = String(set['image']).split(', ').map(shortImage).join(', ');
  if (sets.length < 2) return images;
  return `${images}, ${sets.some((other) => isNewer(other, set)) ? 'old' : 'new'}`;
}
