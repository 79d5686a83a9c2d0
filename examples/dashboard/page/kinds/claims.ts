/** Claims of storage. What one waits for is in its Events and not in the claim itself. */
import { liveJoin } from 'rx-informer';
import { persistentVolumeClaims } from 'rx-informer/resources';
import { eventKind } from './events.ts';
import { column, defineKind, type Row, rowOf, textOf } from './kind.ts';

/** The row of a claim with the newest of its Events, which say why it is not bound. */
export function withEvents(row: Row, told: readonly Row[]): Row {
  if (row.status !== 'Pending') return row;
  const newest = told.reduce<Row | undefined>(
    (last, each) => (last && Number(last['seenMs']) > Number(each['seenMs']) ? last : each),
    undefined,
  );
  const isBad = newest?.tone === 'bad';
  return {
    ...row,
    status: isBad ? 'Not bound' : row.status,
    tone: isBad ? 'bad' : row.tone,
    why: String(newest?.['message'] ?? row.why),
  };
}

export const claimKind = defineKind({
  id: 'claims',
  title: 'Claims',
  resource: persistentVolumeClaims,
  tones: { good: 'Bound', busy: 'Waiting', bad: 'In trouble' },
  columns: [
    column.name,
    column.status,
    column.why,
    { id: 'size', title: 'Size', type: 'text', width: 76 },
    { id: 'class', title: 'Storage class', type: 'text', width: 112 },
    { id: 'volume', title: 'Volume', type: 'text', width: 120, grow: 1 },
    column.age,
    column.namespace,
  ],
  isJoinedInDetails: true,
  row: (object) => {
    const { storageClassName, volumeName = '', resources } = object.spec ?? {};
    const { phase: status = 'Pending', capacity } = object.status ?? {};
    const row = rowOf(object, {
      status,
      tone: status === 'Bound' ? 'good' : status === 'Pending' ? 'busy' : 'bad',
      why:
        status === 'Bound'
          ? ''
          : status === 'Lost'
            ? `the volume ${volumeName} does not exist any more`
            : `waits for a volume of ${storageClassName ? `the storage class ${storageClassName}` : 'the default storage class'}`,
    });
    return {
      ...row,
      size: String(capacity?.['storage'] ?? resources?.requests?.['storage'] ?? ''),
      class: storageClassName ?? '',
      volume: volumeName,
      text: textOf(`${row.namespace}/${row.name}`, storageClassName ?? '', volumeName),
    };
  },
  join: (claims$, { rows }) =>
    claims$.pipe(
      liveJoin(rows(eventKind), {
        on: { left: ({ uid }) => uid, right: ({ objectUid }) => String(objectUid) },
        project: withEvents,
      }),
    ),
});
