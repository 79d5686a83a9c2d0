/** Namespaces and Services. */
import { namespaces, services } from 'rx-informer/resources';
import { column, columnsWith, defineKind, rowOf } from './kind.ts';

export const namespaceKind = defineKind({
  id: 'namespaces',
  title: 'Namespaces',
  resource: namespaces,
  tones: { good: 'Active', busy: 'Terminating' },
  columns: [column.name, column.status, column.age],
  row: (object) => {
    const status = object.status?.phase ?? 'Active';
    return rowOf(object, { status, tone: status === 'Active' ? 'good' : 'busy' }, {});
  },
});

export const serviceKind = defineKind({
  id: 'services',
  title: 'Services',
  resource: services,
  columns: columnsWith(
    { id: 'type', title: 'Type', type: 'text', width: 110 },
    { id: 'ip', title: 'Cluster IP', type: 'text', width: 120 },
    { id: 'ports', title: 'Ports', type: 'text', width: 130, grow: 1 },
  ),
  row: (object) => {
    const { type = 'ClusterIP', clusterIP: ip = '', ports: open = [] } = object.spec ?? {};
    const ports = open.map(({ port, protocol = 'TCP' }) => `${port}/${protocol}`).join(', ');
    return rowOf(object, { status: type, tone: 'good' }, { type, ip, ports }, type);
  },
});
