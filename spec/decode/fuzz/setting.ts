/** How one collection of a chain is decoded. */
import { defineResource } from 'rx-informer';
import type { Anything } from '../decoder.ts';
import type { Random } from './random.ts';

export const things = defineResource<Anything>({
  group: '',
  version: 'v1',
  plural: 'things',
  kind: 'Thing',
  namespaced: true,
});

export type Kind = 'Pod' | 'Node' | 'PartialObjectMetadata';

/** How a slot decodes. */
export interface Setting {
  readonly kind: Kind;
  readonly resourceKind?: '';
  readonly keepManagedFields: boolean;
  readonly transforms: boolean;
  readonly stores: boolean;
  readonly freezes: boolean;
}

export function randomSetting(random: Random): Setting {
  const kind: Kind = random.of(['Pod', 'Pod', 'Pod', 'Node', 'PartialObjectMetadata']);
  return {
    kind,
    ...(kind === 'Pod' && random.chance(0.15) ? { resourceKind: '' } : {}),
    keepManagedFields: random.chance(0.3),
    transforms: random.chance(0.2),
    stores: random.chance(0.6),
    freezes: random.chance(0.5),
  };
}

/** Refuses some objects, and changes the others, also in parts that may be those of an earlier state. */
export function transform(object: Anything): Anything {
  if (typeof object['spec'] === 'string') throw new Error('refused');
  for (const part of Object.values(object)) {
    if (Array.isArray(part)) part.push('transformed');
    else if (typeof part === 'object' && part !== null) Object.assign(part, { transformed: true });
  }
  return object;
}
