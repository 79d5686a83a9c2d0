/** Claims of storage. What one waits for is in its Events and not in the claim itself. */
import { liveJoin } from 'rx-informer';
import { type PersistentVolumeClaim, persistentVolumeClaims } from 'rx-informer/resources';
import { eventKind } from './events.ts';
import { column, columnsWith, defineKind, type Row, rowOf, type State } from './kind.ts';

/** The row of a claim with the newest of its Events, which say why it is not bound. */
export function withEvents(row: Row, told: readonly Row[]): Row {
  if (row.status !== 'Pending') return row;
  const seen = (event: Row) => Number(event['seenMs']);
  const newest = told.toSorted((one, other) => seen(one) - seen(other)).at(-1);
  const isBad = newest?.tone === 'bad';
  return {
    ...row,
    status: isBad ? 'Not bound' : row.status,
    tone: isBad ? 'bad' : row.tone,
    why: String(newest?.['message'] ?? row.why),
  };
}

function stateOf({ spec, status: now }: PersistentVolumeClaim): State {
  const { storageClassName: name, volumeName } = spec ?? {};
  const { phase: status = 'Pending' } = now ?? {};
  if (status === 'Bound') return { status, tone: 'good' };
  const why = `waits for a volume of ${name ? `the storage class ${name}` : 'the default storage class'}`;
  if (status === 'Pending') return { status, tone: 'busy', why };
  return { status, tone: 'bad', why: `the volume ${volumeName} does not exist any more` };
}

export const claimKind = defineKind({
  id: 'claims',
  title: 'Claims',
  resource: persistentVolumeClaims,
  tones: { good: 'Bound', busy: 'Waiting', bad: 'In trouble' },
  columns: columnsWith(
    column.status,
    column.why,
    { id: 'size', title: 'Size', type: 'text', width: 76 },
    { id: 'class', title: 'Storage class', type: 'text', width: 112 },
    { id: 'volume', title: 'Volume', type: 'text', width: 120, grow: 1 },
  ),
  isJoinedInDetails: true,
  row: (object) => {
    const { storageClassName = '', volumeName: volume = '', resources } = object.spec ?? {};
    const size = object.status?.capacity?.['storage'] ?? resources?.requests?.['storage'] ?? '';
    const fields = { size: String(size), class: storageClassName, volume };
    return rowOf(object, stateOf(object), fields, storageClassName, volume);
  },
  join: (claims$, rowsOf) =>
    claims$.pipe(
      liveJoin(rowsOf(eventKind), {
        on: { left: ({ uid }) => uid, right: ({ objectUid }) => String(objectUid) },
        project: withEvents,
      }),
    ),
});
