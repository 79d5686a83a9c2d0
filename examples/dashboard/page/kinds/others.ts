/** Namespaces and Services. */
import { namespaces, services } from 'rx-informer/resources';
import {
  ageColumn,
  byName,
  defineKind,
  nameColumn,
  namespaceColumn,
  rowOf,
  statusColumn,
  textOf,
} from './kind.ts';

export const namespaceKind = defineKind({
  id: 'namespaces',
  title: 'Namespaces',
  resource: namespaces,
  sort: byName,
  tones: { good: 'Active', busy: 'Terminating' },
  columns: [nameColumn, statusColumn, ageColumn],
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
  sort: byName,
  tones: {},
  columns: [
    nameColumn,
    { id: 'type', title: 'Type', type: 'text', width: 110 },
    { id: 'ip', title: 'Cluster IP', type: 'text', width: 120 },
    { id: 'ports', title: 'Ports', type: 'text', width: 130, grow: 1 },
    ageColumn,
    namespaceColumn,
  ],
  row: (object) => {
    const { type = 'ClusterIP', clusterIP = '', ports = [] } = object.spec ?? {};
    const row = rowOf(object, { status: type, tone: 'good' });
    const shown = ports.map(({ port, protocol = 'TCP' }) => `${port}/${protocol}`).join(', ');
    const text = textOf(`${row.namespace}/${row.name}`, type);
    return { ...row, type, ip: clusterIP, ports: shown, text };
  },
});
