/** Config maps, of which only the metadata is read, because people store passwords in them, too. */
import type { KubernetesObject, Resource } from 'rx-informer';
import { configMaps } from 'rx-informer/resources';
import { column, columnsWith, defineKind, rowOf } from './kind.ts';

export const configMapKind = defineKind({
  id: 'configmaps',
  title: 'ConfigMaps',
  // The type of the rows has metadata only.
  resource: configMaps as Resource<KubernetesObject>,
  as: 'metadata',
  columns: columnsWith(
    { id: 'labels', title: 'Labels', type: 'text', width: 180, grow: 2 },
    column.owner,
  ),
  row: (object) => {
    const labels = Object.entries(object.metadata.labels ?? {})
      .map(([name, value]) => `${name}=${value}`)
      .join(', ');
    return rowOf(object, { status: '', tone: 'good' }, { labels }, labels);
  },
});
