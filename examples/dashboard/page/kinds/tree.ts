/**
 * The tree of Deployments, their ReplicaSets and their Pods. Two joins collect the children of each row, and one step makes
 * the visible rows of each Deployment with their health. A changed Pod costs its own Deployment only.
 */
import { type ChangeStream, liveFlatMap, liveJoin } from 'rx-informer';
import { BehaviorSubject, map } from 'rxjs';
import { column, defineKind, type Kind, type Row, type Tone } from './kind.ts';
import { podKind } from './pods.ts';
import { type Branch, byOwner, podsOf, rolledUp, withPods } from './roll-up.ts';
import { deploymentKind, replicaSetKind } from './workloads.ts';

const ranks: Readonly<Record<Tone, number>> = { bad: 0, busy: 1, good: 2, done: 3 };

/** The rows whose children are shown, by UID. */
export const expanded$ = new BehaviorSubject<ReadonlySet<string>>(new Set());

export function toggle(uid: string, isOpen = !expanded$.value.has(uid)): void {
  const next = new Set(expanded$.value);
  if (isOpen) next.add(uid);
  else next.delete(uid);
  expanded$.next(next);
}

function sum(rows: readonly Row[], field: string): number {
  return rows.reduce((total, row) => total + Number(row[field] ?? 0), 0);
}

/** The rows of a branch that are visible, each with its place in the tree. */
function* visible(
  branch: Branch,
  expanded: ReadonlySet<string>,
  above?: Row,
  position = '1/1',
): Generator<Row> {
  const { row, children } = branch;
  const depth = above === undefined ? 0 : Number(above['depth']) + 1;
  const pods = podsOf(branch);
  const { status, tone, why, log = '' } = depth === 2 ? row : rolledUp(row, pods);
  const own = `${ranks[tone]} ${row.name} ${row.uid}`;
  const isOpen = expanded.has(row.uid);
  const shown: Row = {
    ...row,
    status,
    tone,
    why,
    log,
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

/** An old ReplicaSet that has no pods any more. */
const isHistory = ({ row, children }: Branch) => row.tone === 'done' && children.length === 0;

export const treeKind = defineKind({
  ...(deploymentKind as Kind),
  id: 'tree',
  title: 'Application tree',
  isTree: true,
  sort: { key: 'status', descending: false },
  columns: [
    { id: 'name', title: 'Name', type: 'name', width: 170, grow: 2, by: 'rootName' },
    { id: 'status', title: 'Health', type: 'status', width: 156, by: 'rootRank' },
    { ...column.why, by: 'rootRank' },
    { id: 'ready', title: 'Ready', type: 'text', width: 70, by: 'rootName' },
    { id: 'restarts', title: 'Restarts', type: 'number', width: 82, by: 'rootName' },
    { id: 'createdMs', title: 'Age', type: 'age', width: 66, by: 'rootName' },
    { id: 'namespace', title: 'Namespace', type: 'text', width: 104, grow: 0.4, by: 'rootName' },
    { id: 'node', title: 'Node', type: 'text', width: 92, by: 'rootName', optional: true },
  ],
  join: (deployments$, rowsOf) =>
    deployments$.pipe(
      liveJoin(withPods(rowsOf(replicaSetKind), rowsOf), {
        on: byOwner,
        project: (row, sets): Branch => ({ row, children: sets.filter((set) => !isHistory(set)) }),
      }),
    ),
  show: (branches$) =>
    (branches$ as ChangeStream<Branch>).pipe(
      liveFlatMap(
        expanded$.pipe(map((expanded) => (branch: Branch) => visible(branch, expanded))),
        { idOf: ({ uid }) => uid },
      ),
    ),
});
