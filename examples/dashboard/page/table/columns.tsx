/** The columns of the table. Their ids are the sort keys; the list sorts, not the table. */
import { createColumnHelper, rowSortingFeature, tableFeatures } from '@tanstack/react-table';
import { ageText, useClockText } from '../cluster/clock.ts';
import type { SortKey } from '../pods/order.ts';
import type { PodRow } from '../pods/pod-row.ts';
import classes from './pod-table.module.css';

/** The features of TanStack Table that the table uses: columns and the state of sorting. */
export const features = tableFeatures({ rowSortingFeature });

const helper = createColumnHelper<typeof features, PodRow>();
const ids: Record<SortKey, SortKey> = {
  name: 'name',
  namespace: 'namespace',
  status: 'status',
  ready: 'ready',
  restarts: 'restarts',
  age: 'age',
  node: 'node',
  owner: 'owner',
};

/** The columns, in order. */
export const columns = helper.columns([
  helper.accessor('name', {
    id: ids.name,
    header: 'Name',
    cell: ({ getValue }) => (
      <span className={classes.name} title={getValue()}>
        {getValue()}
      </span>
    ),
  }),
  helper.accessor('namespace', { id: ids.namespace, header: 'Namespace' }),
  helper.accessor('status', {
    id: ids.status,
    header: 'Status',
    cell: ({ row }) => (
      <span className={classes.badge} data-tone={row.original.tone}>
        {row.original.status}
      </span>
    ),
  }),
  helper.accessor('ready', {
    id: ids.ready,
    header: 'Ready',
    cell: ({ row }) => `${row.original.ready}/${row.original.containers}`,
  }),
  helper.accessor('restarts', {
    id: ids.restarts,
    header: 'Restarts',
    sortDescFirst: true,
    cell: ({ getValue }) => (
      <span className={getValue() > 0 ? undefined : classes.faint}>{getValue()}</span>
    ),
  }),
  helper.accessor('createdMs', {
    id: ids.age,
    header: 'Age',
    sortDescFirst: false,
    cell: ({ getValue }) => <Age since={getValue()} />,
  }),
  helper.accessor('node', {
    id: ids.node,
    header: 'Node',
    cell: ({ getValue }) => getValue() || <span className={classes.faint}>none</span>,
  }),
  helper.accessor('owner', {
    id: ids.owner,
    header: 'Owner',
    cell: ({ getValue }) => {
      const owner = getValue();
      if (owner === '') return <span className={classes.faint}>none</span>;
      const [kind, name] = owner.split('/');
      return (
        <span className={classes.owner} title={owner}>
          <span className={classes.kind}>{kind}/</span>
          {name}
        </span>
      );
    },
  }),
]);

function Age({ since }: { readonly since: number }) {
  return useClockText((now) => ageText(now - since));
}
