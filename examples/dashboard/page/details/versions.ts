/** What tells the ReplicaSets of a Deployment apart: their images, and which one is new. */
import type { Row } from '../kinds/kind.ts';

/** The end of each image: `web:v2` of `registry.example/shop/web:v2`. */
export function shortImages(images: string): string {
  return images
    .split(', ')
    .map((image) => image.slice(image.lastIndexOf('/') + 1))
    .map((image) => image.replace(/(@sha256:[0-9a-f]{12})[0-9a-f]+$/, '$1'))
    .join(', ');
}

const age = (row: Row) => [Number(row['revision']), row.createdMs] as const;

function isNewer(one: Row, other: Row): boolean {
  const [[revision, createdMs], [otherRevision, otherMs]] = [age(one), age(other)];
  return revision === otherRevision ? createdMs > otherMs : revision > otherRevision;
}

/** The images of a ReplicaSet and, if there are several ReplicaSets, whether it is the new one. */
export function versionOf(set: Row, sets: readonly Row[]): string {
  const images = shortImages(String(set['image']));
  if (sets.length < 2) return images;
  return `${images}, ${sets.some((other) => isNewer(other, set)) ? 'old' : 'new'}`;
}
