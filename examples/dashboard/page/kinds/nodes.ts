/** Nodes as rows, with the number of their pods and what these request of them. */
import { count, liveGroupBy, liveJoin, parseQuantity, sum } from 'rx-informer';
import { type Node, nodes } from 'rx-informer/resources';
import { map } from 'rxjs';
import { bytesOf, cpuOf } from './amounts.ts';
import { column, defineKind, isComplete, type Row, rowOf, type State } from './kind.ts';
import { hasEnded, podKind } from './pods.ts';
import { usageColumns } from './usage.ts';

/** A node that reports pressure, or that is not ready, is in trouble. */
function nodeState({ spec, status: { conditions = [] } = {} }: Node): State {
  const ready = conditions.find(({ type }) => type === 'Ready');
  const pressure = conditions.find(({ type, status: now }) => type !== 'Ready' && now === 'True');
  if (ready !== undefined && ready.status !== 'True') {
    return { status: 'NotReady', tone: 'bad', why: ready.message ?? '' };
  }
  if (pressure !== undefined) {
    return { status: pressure.type, tone: 'bad', why: pressure.message ?? '' };
  }
  if (spec?.unschedulable) return { status: 'Cordoned', tone: 'busy' };
  return { status: ready === undefined ? 'Unknown' : 'Ready', tone: ready ? 'good' : 'busy' };
}

function nodeRow(node: Node): Row {
  const { allocatable = {}, nodeInfo } = node.status ?? {};
  return rowOf(node, nodeState(node), {
    pods: '',
    cpuMilli: parseQuantity(allocatable['cpu'] ?? 0).milli,
    memoryBytes: parseQuantity(allocatable['memory'] ?? 0).value,
    cpu: '',
    cpuText: '',
    memory: '',
    memoryText: '',
    version: nodeInfo?.kubeletVersion ?? '',
  });
}

/** The sum of the requests of a node's pods. */
interface Asked {
  readonly pods: number;
  readonly cpu: number;
  readonly memory: number;
}

/** The row of a node with what its pods request. Until all pods are known, it shows no numbers. */
const withPods =
  (arePodsKnown: boolean) =>
  (row: Row, asked: Asked = { pods: 0, cpu: 0, memory: 0 }): Row => {
    if (!arePodsKnown) return row;
    const { pods: podCount, cpu, memory } = asked;
    const [cpuMilli, memoryBytes] = [Number(row['cpuMilli']), Number(row['memoryBytes'])];
    return {
      ...row,
      pods: podCount,
      cpu: cpuMilli === 0 ? 0 : cpu / cpuMilli,
      cpuText: cpuOf(cpu, cpuMilli),
      memory: memoryBytes === 0 ? 0 : memory / memoryBytes,
      memoryText: bytesOf(memory, memoryBytes),
    };
  };

const requested = { type: 'share', grow: 1, largestFirst: true } as const;

export const nodeKind = defineKind({
  id: 'nodes',
  title: 'Nodes',
  resource: nodes,
  metered: 'nodes',
  tones: { good: 'Ready', busy: 'Cordoned', bad: 'In trouble' },
  columns: [
    { ...column.name, width: 140, grow: 1 },
    { ...column.status, width: 150 },
    { ...column.why, optional: true, inTrouble: true },
    { id: 'pods', title: 'Pods', type: 'number', width: 66, largestFirst: true },
    ...usageColumns.map((column) => ({ ...column, title: `${column.title} used` })),
    { ...requested, id: 'cpu', title: 'CPU requested', width: 168 },
    { ...requested, id: 'memory', title: 'Memory requested', width: 172 },
    column.age,
    { id: 'version', title: 'Version', type: 'text', width: 96 },
  ],
  row: nodeRow,
  join: (rows$, rowsOf) => {
    const pods$ = rowsOf(podKind);
    const asked$ = pods$.pipe(
      // A pod that has ended requests nothing any more, and one without a node is in no group.
      liveGroupBy((pod: Row) => (hasEnded(pod) ? undefined : String(pod['node']) || undefined), {
        pods: count<Row>(),
        // Thousandths of a core, because sums of integers are exact.
        cpu: sum<Row>(({ cpuAsked }) => Number(cpuAsked)),
        memory: sum<Row>(({ memoryAsked }) => Number(memoryAsked)),
      }),
    );
    return rows$.pipe(
      liveJoin(asked$, {
        on: { left: ({ name }) => name, right: ({ key }) => key },
        one: true,
        project: isComplete(pods$).pipe(map(withPods)),
      }),
    );
  },
});
