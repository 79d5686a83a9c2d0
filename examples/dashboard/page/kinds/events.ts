/** Events as rows, each with the present state of the object that it is about. */
import { liveJoin, liveShare, liveUnion } from 'rx-informer';
import { type Event, events } from 'rx-informer/resources';
import { map } from 'rxjs';
import { column, defineKind, isComplete, type Row, type RowsOf, rowOf } from './kind.ts';
import { podKind } from './pods.ts';
import { deploymentKind, replicaSetKind } from './workloads.ts';

/** When an event was last seen, in milliseconds since the Unix epoch. */
export function seenMs({ series, lastTimestamp, eventTime, metadata }: Event): number {
  const time = series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp;
  return Date.parse(time ?? '') || 0;
}

export function eventRow(event: Event): Row {
  const { reason = '', message = '', involvedObject: about, type, count, series } = event;
  const object = `${about.kind ?? ''}/${about.name ?? ''}`;
  const fields = {
    seenMs: seenMs(event),
    message,
    object,
    objectUid: about.uid ?? '',
    objectNow: '',
    count: series?.count ?? count ?? 1,
  };
  const tone = type === 'Warning' ? 'bad' : 'done';
  const row = rowOf(event, { status: reason, tone }, fields, reason, message);
  // The name of an event says nothing that its object does not say.
  return { ...row, text: `${row.namespace}/${object} ${reason} ${message}`.toLowerCase() };
}

/** The kinds whose state an event shows. */
const JOINED = /^(Pod|ReplicaSet|Deployment)\//;

/** The rows of these kinds. With names, because objects of two kinds may have the same name. */
const aboutOf = (rowsOf: RowsOf) =>
  liveUnion({
    pods: rowsOf(podKind),
    replicaSets: rowsOf(replicaSetKind),
    deployments: rowsOf(deploymentKind),
  });

/**
 * The row of an event with the state of its object. Only an object with a UID that all objects are known to lack was
 * deleted: an event may have no UID, and without the right to list Pods nothing is known of them.
 */
const withObject =
  (areObjectsKnown: boolean) =>
  (event: Row, object: Row | undefined): Row => {
    const isJoined = JOINED.test(String(event['object'])) && event['objectUid'] !== '';
    const otherwise = isJoined && areObjectsKnown ? 'deleted' : '';
    return { ...event, objectNow: object?.status ?? otherwise };
  };

export const eventKind = defineKind({
  id: 'events',
  title: 'Events',
  resource: events,
  sort: { key: 'seenMs', descending: true },
  tones: { bad: 'Warnings', done: 'Normal' },
  columns: [
    { id: 'status', title: 'Reason', type: 'status', width: 172 },
    { id: 'seenMs', title: 'Seen', type: 'age', width: 66, largestFirst: true },
    { id: 'message', title: 'Message', type: 'text', width: 270, grow: 3 },
    { id: 'object', title: 'Object', type: 'owner', width: 216, grow: 1.4 },
    { id: 'objectNow', title: 'Object now', type: 'text', width: 136 },
    column.namespace,
    { id: 'count', title: 'Count', type: 'number', width: 66, largestFirst: true },
  ],
  row: eventRow,
  // By UID, because an object that was deleted and created again has the same name.
  join: (rows$, rowsOf) => {
    const about$ = aboutOf(rowsOf).pipe(liveShare());
    return rows$.pipe(
      liveJoin(about$, {
        on: { left: ({ objectUid }) => String(objectUid), right: ({ uid }) => uid },
        one: true,
        project: isComplete(about$).pipe(map(withObject)),
      }),
    );
  },
});
