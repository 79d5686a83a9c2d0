/** Namespaces and Services. */
import { namespaces, services } from 'rx-informer/resources';
import { column, defineKind, rowOf, textOf } from './kind.ts';

export const namespaceKind = defineKind({
  id: 'namespaces',
  title: 'Namespaces',
  resource: namespaces,
  tones: { good: 'Active', busy: 'Terminating' },
  columns: [column.name, column.status, column.age],
  row: (object) => {
    const status = object.status?.phase ?? 'Active';
    const row = rowOf(object, { status, tone: status === 'Active' ? 'good' : 'busy' });
    return { ...row, text: textOf(row.name) };
  },
});

export const serviceKind = defineKind({
  id: 'services',
  title: 'Services',
  resource: services,
  columns: [
    column.name,
    { id: 'type', title: 'Type', type: 'text', width: 110 },
    { id: 'ip', title: 'Cluster IP', type: 'text', width: 120 },
    { id: 'ports', title: 'Ports', type: 'text', width: 130, grow: 1 },
    column.age,
    column.namespace,
  ],
  row: (object) => {
    const { type = 'ClusterIP', clusterIP = '', ports = [] } = object.spec ?? {};
    const row = rowOf(object, { status: type, tone: 'good' });
    const shown = ports.map(({ port, protocol = 'TCP' }) => `${port}/${protocol}`).join(', ');
    const text = textOf(`${row.namespace}/${row.name}`, type);
    return { ...row, type, ip: clusterIP, ports: shown, text };
  },
});
