/**
 * The tree of Deployments, their ReplicaSets and their Pods. Two joins collect the children of each row and its health,
 * and one step makes the visible rows of each Deployment. A changed Pod costs its own Deployment only.
 */
import { liveFlatMap, liveJoin } from 'rx-informer';
import { BehaviorSubject, map } from 'rxjs';
import { defineKind, type Kind, type Row, type Tone } from './kind.ts';
import { podKind } from './pods.ts';
import { deploymentKind, replicaSetKind } from './workloads.ts';

/** A row with what is below it. */
interface Branch {
  readonly row: Row;
  readonly children: readonly Branch[];
}

const ranks: Readonly<Record<Tone, number>> = { bad: 0, busy: 1, good: 2, done: 3 };

/** The rows whose children are shown, by UID. */
export const expanded$ = new BehaviorSubject<ReadonlySet<string>>(new Set());

/** Shows or hides the children of a row. */
export function toggle(uid: string, isOpen = !expanded$.value.has(uid)): void {
  const next = new Set(expanded$.value);
  if (isOpen) next.add(uid);
  else next.delete(uid);
  expanded$.next(next);
}

/** The worst state below a row: `3 × CrashLoopBackOff`. A row without a worse child keeps its own state. */
function health(
  row: Row,
  leaves: readonly Row[],
): { readonly status: string; readonly tone: Tone } {
  const bad = leaves.filter(({ tone }) => tone === 'bad');
  const worst = bad[0];
  if (worst === undefined || row.tone === 'bad') return row;
  const same = bad.filter(({ status }) => status === worst.status).length;
  // A pod whose probe fails again and again is running all the same.
  const shown = worst.status === 'Running' ? 'Not ready' : worst.status;
  const others = bad.length > same ? ` +${bad.length - same}` : '';
  return { status: `${same === 1 ? '' : `${same} × `}${shown}${others}`, tone: 'bad' };
}

function sum(rows: readonly Row[], field: string): number {
  return rows.reduce((total, row) => total + Number(row[field] ?? 0), 0);
}

const leavesOf = ({ row, children }: Branch): readonly Row[] =>
  children.length === 0 ? [row] : children.flatMap(leavesOf);

/** The rows of a branch that are visible, each with its place in the tree. */
function* visible(
  branch: Branch,
  expanded: ReadonlySet<string>,
  above?: Row,
  position = '1/1',
): Generator<Row> {
  const { row, children } = branch;
  const depth = above === undefined ? 0 : Number(above['depth']) + 1;
  const pods = depth === 2 ? [row] : children.flatMap(leavesOf).filter(isPod);
  const { status, tone } = health(row, pods);
  const own = `${ranks[tone]} ${row.name} ${row.uid}`;
  const isOpen = expanded.has(row.uid);
  const shown: Row = {
    ...row,
    status,
    tone,
    depth,
    restarts: sum(pods, 'restarts'),
    node: row['node'] ?? '',
    kind: kinds[depth]?.id ?? '',
    rootId: above?.['rootId'] ?? row.uid,
    rootName: above?.['rootName'] ?? `${row.name} ${row.namespace} ${row.uid}`,
    rootRank: above?.['rootRank'] ?? ranks[tone],
    path: above === undefined ? `${row.name} ${row.uid}` : `${above['path']}\n${own}`,
    branch: children.length === 0 ? '' : isOpen ? 'open' : 'closed',
    position,
    text: [above?.text ?? '', row.text, ...pods.map(({ name }) => name)].join(' '),
  };
  yield shown;
  if (!isOpen) return;
  for (const [at, child] of children.entries()) {
    yield* visible(child, expanded, shown, `${at + 1}/${children.length}`);
  }
}

const kinds: readonly Kind[] = [deploymentKind, replicaSetKind, podKind];
const isPod = (row: Row) => 'restarts' in row;

/** An old ReplicaSet that has no pods any more. */
const isHistory = ({ row, children }: Branch) => row.tone === 'done' && children.length === 0;

const children = {
  left: ({ uid }: Row) => uid,
  right: (child: Row | Branch) =>
    String(('row' in child ? (child as Branch).row : (child as Row))['ownerUid']),
};

export const treeKind = defineKind({
  ...(deploymentKind as Kind),
  id: 'tree',
  title: 'Application tree',
  isTree: true,
  sort: { key: 'status', descending: false },
  columns: [
    { id: 'name', title: 'Name', type: 'name', width: 170, grow: 2, by: 'rootName' },
    { id: 'status', title: 'Health', type: 'status', width: 196, by: 'rootRank' },
    { id: 'ready', title: 'Ready', type: 'text', width: 70, by: 'rootName' },
    { id: 'restarts', title: 'Restarts', type: 'number', width: 82, by: 'rootName' },
    { id: 'createdMs', title: 'Age', type: 'age', width: 66, by: 'rootName' },
    { id: 'namespace', title: 'Namespace', type: 'text', width: 104, grow: 0.4, by: 'rootName' },
    { id: 'node', title: 'Node', type: 'text', width: 92, by: 'rootName', optional: true },
  ],
  join: (deployments$, { rows }) => {
    const sets$ = rows(replicaSetKind).pipe(
      liveJoin(rows(podKind), {
        on: children,
        project: (row, pods): Branch => ({ row, children: pods.map((pod) => leaf(pod)) }),
      }),
    );
    return deployments$.pipe(
      liveJoin(sets$, {
        on: children,
        project: (row, sets): Branch => ({ row, children: sets.filter((set) => !isHistory(set)) }),
      }),
      liveFlatMap(
        expanded$.pipe(map((expanded) => (branch: Branch) => visible(branch, expanded))),
        { idOf: ({ uid }) => uid },
      ),
    );
  },
});

const leaves = new WeakMap<Row, Branch>();

/** The same branch for the same row, so that the branch above it changes only if a row has changed. */
function leaf(row: Row): Branch {
  const known = leaves.get(row) ?? { row, children: [] };
  leaves.set(row, known);
  return known;
}
