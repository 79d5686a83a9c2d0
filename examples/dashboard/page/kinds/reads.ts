/** What the rows of a kind are made of. */
import type { KubernetesObject, Resource } from 'rx-informer';
import { NEVER } from 'rxjs';
import type { Kind } from './kind.ts';

type Read = Resource<KubernetesObject>;

/** The resources that the rows of a kind are read from, with those that its join adds. */
export function readsOf({ resource, join }: Kind): readonly Read[] {
  const reads = new Set<Read>([resource as Read]);
  join?.(NEVER as never, (other) => {
    reads.add(other.resource as Read);
    return NEVER as never;
  });
  return [...reads];
}
