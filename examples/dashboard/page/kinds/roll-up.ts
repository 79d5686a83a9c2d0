/** Workloads with the pods below them, and the worst reason of these pods in words. */
import { type ChangeStream, liveJoin } from 'rx-informer';
import { counted } from '../../shared/words.ts';
import type { Row, RowsOf } from './kind.ts';
import { podKind } from './pods.ts';

export interface Branch {
  readonly row: Row;
  readonly children: readonly Branch[];
}

/** Joins children with the row that controls them. */
export const byOwner = {
  left: ({ uid }: Row) => uid,
  right: (child: Row | Branch) =>
    String(('row' in child ? (child as Branch).row : (child as Row))['ownerUid']),
};

const leaves = new WeakMap<Row, Branch>();

/** The same branch for the same row, so that the branch above it changes only if a row has changed. */
function leaf(row: Row): Branch {
  const known = leaves.get(row) ?? { row, children: [] };
  leaves.set(row, known);
  return known;
}

export function withPods(rows$: ChangeStream<Row>, rowsOf: RowsOf): ChangeStream<Branch> {
  return rows$.pipe(
    liveJoin(rowsOf(podKind), {
      on: byOwner,
      project: (row, pods): Branch => ({ row, children: pods.map((pod) => leaf(pod)) }),
    }),
  );
}

export const podsOf = ({ row, children }: Branch): readonly Row[] =>
  'restarts' in row ? [row] : children.flatMap(podsOf);

/** The rows of a kind that controls pods: each with the worst reason of its pods. */
export function withPodReasons(rows$: ChangeStream<Row>, rowsOf: RowsOf): ChangeStream<Row> {
  return rows$.pipe(
    liveJoin(rowsOf(podKind), { on: byOwner, project: (row, pods) => rolledUp(row, pods) }),
  );
}

/**
 * A workload with the most frequent reason of its failing pods: `2 of 5 Pods: ImagePullBackOff — Back-off pulling …`. A
 * failure that the workload itself reports comes first. Pods that have failed for good, such as evicted ones, do not
 * count if the workload is ready without them.
 */
export function rolledUp(row: Row, pods: readonly Row[]): Row {
  if (row.tone === 'done') return row;
  const counts = ({ tone, phase }: Row) =>
    tone === 'bad' && (row.tone !== 'good' || phase !== 'Failed');
  const bad = pods.filter(counts);
  const count = (status: string) => bad.filter((pod) => pod.status === status).length;
  const worst = bad.reduce<Row | undefined>(
    (most, pod) => (most && count(most.status) >= count(pod.status) ? most : pod),
    undefined,
  );
  if (worst === undefined) return row;
  const { status, why, log = '' } = worst;
  const reason = `${count(status)} of ${counted(pods.length, 'Pod')}: ${status}`;
  const text = why ? `${reason} — ${why}` : reason;
  if (row.tone !== 'bad') {
    return { ...row, status, tone: 'bad', why: text, log };
  }
  return { ...row, log, why: row['status'] === 'FailedCreate' ? `${row['why']}; ${text}` : text };
}
