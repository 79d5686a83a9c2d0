/** Workloads with the pods below them, and the worst reason of these pods in words. */
import {
  type Aggregate,
  type ChangeStream,
  count,
  type GroupRow,
  liveGroupBy,
  liveJoin,
  liveShare,
} from 'rx-informer';
import { counted } from '../../shared/words.ts';
import type { Row, RowsOf } from './kind.ts';
import { byValue } from './order.ts';
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

const inTrouble: Aggregate<Row, readonly Row[], Row, Set<Row>> = {
  initial: () => new Set(),
  add: (rows, row) => (row.tone === 'bad' ? rows.add(row) : rows),
  remove: (rows, row) => {
    rows.delete(row);
    return rows;
  },
  result: (rows) => [...rows].sort((one, other) => byValue(one.uid, other.uid)),
};

const ofOwner = { count: count<Row>(), bad: inTrouble };

/** The pods of one owner: how many, and those in trouble, so that a change of any other costs no owner anything. */
type OwnedPods = GroupRow<typeof ofOwner>;

const ownedPods = new WeakMap<ChangeStream<Row>, ChangeStream<OwnedPods>>();

/** The pods by their owners, once for all kinds that read the same pods. */
function byOwners(pods$: ChangeStream<Row>): ChangeStream<OwnedPods> {
  const owned$ =
    ownedPods.get(pods$) ??
    pods$.pipe(
      liveGroupBy(({ ownerUid }: Row) => ownerUid, ofOwner),
      liveShare(),
    );
  ownedPods.set(pods$, owned$);
  return owned$;
}

/** The rows of owners of pods, each with its pods as `project` reads them. */
function withOwned<R extends object>(
  rows$: ChangeStream<Row>,
  rowsOf: RowsOf,
  project: (row: Row, pods?: OwnedPods) => R,
): ChangeStream<R> {
  const on = { left: ({ uid }: Row) => uid, right: ({ key }: OwnedPods) => key };
  return rows$.pipe(liveJoin(byOwners(rowsOf(podKind)), { on, one: true, project }));
}

/** The rows of a kind that controls pods: each with the worst reason of its pods. */
export function withPodReasons(rows$: ChangeStream<Row>, rowsOf: RowsOf): ChangeStream<Row> {
  return withOwned(rows$, rowsOf, (row, pods) => rolledUp(row, pods?.bad, pods?.count));
}

/** The rows of Deployments, whose pods belong to the given ReplicaSets. */
export function withReasonsOfSets(
  rows$: ChangeStream<Row>,
  sets$: ChangeStream<Row>,
  rowsOf: RowsOf,
): ChangeStream<Row> {
  const owned$ = withOwned(sets$, rowsOf, ({ ownerUid }, pods) => ({ ownerUid, pods }));
  const on = { left: ({ uid }: Row) => uid, right: (set: { ownerUid: string }) => set.ownerUid };
  return rows$.pipe(
    liveJoin(owned$, {
      on,
      project: (row, sets) => {
        const bad = sets.flatMap(({ pods }) => pods?.bad ?? []);
        return rolledUp(
          row,
          bad,
          sets.reduce((sum, { pods }) => sum + (pods?.count ?? 0), 0),
        );
      },
    }),
  );
}

/**
 * A workload with the most frequent reason of its failing pods: `2 of 5 Pods: ImagePullBackOff — Back-off pulling …`. A
 * failure that the workload itself reports comes first. Pods that have failed for good, such as evicted ones, do not
 * count if the workload is ready without them. Of `all` pods, those that are not in trouble may be left out.
 */
export function rolledUp(row: Row, pods: readonly Row[] = [], all = pods.length): Row {
  if (row.tone === 'done') return row;
  const counts = ({ tone, phase }: Row) =>
    tone === 'bad' && (row.tone !== 'good' || phase !== 'Failed');
  const bad = pods.filter(counts);
  const countOf = (status: string) => bad.filter((pod) => pod.status === status).length;
  const worst = bad.reduce<Row | undefined>(
    (most, pod) => (most && countOf(most.status) >= countOf(pod.status) ? most : pod),
    undefined,
  );
  if (worst === undefined) return row;
  const { status, why, log = '' } = worst;
  const reason = `${countOf(status)} of ${counted(all, 'Pod')}: ${status}`;
  const text = why ? `${reason} — ${why}` : reason;
  if (row.tone !== 'bad') {
    return { ...row, status, tone: 'bad', why: text, log };
  }
  return { ...row, log, why: row['status'] === 'FailedCreate' ? `${row['why']}; ${text}` : text };
}
