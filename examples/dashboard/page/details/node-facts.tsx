/** The facts of a node: what it has, what its pods request of it, and which pods it repels. */
import type { ReactNode } from 'react';
import { type LiveQuery, liveQuery, parseQuantity, podRequests, type Stored } from 'rx-informer';
import { useQuery } from 'rx-informer/react';
import { type Node, type Pod, pods } from 'rx-informer/resources';
import { amountsText, bytesOf, cpuOf } from '../kinds/amounts.ts';
import { hasEnded } from '../kinds/nodes.ts';

interface Requests {
  readonly milliCpu: number;
  readonly bytes: number;
}

/** What a pod requests of its node. A pod that has ended requests nothing any more. */
function requestsOf(pod: Pod): Requests {
  if (hasEnded(pod)) return { milliCpu: 0, bytes: 0 };
  const { cpu, memory } = podRequests(pod);
  return { milliCpu: cpu.milli, bytes: memory.value };
}

/** What the pods of a node request, of what they may request. */
function requestedText(requests: readonly Requests[], { status }: Pick<Node, 'status'>): string {
  const sum = (field: keyof Requests) => requests.reduce((total, each) => total + each[field], 0);
  const { cpu = 0, memory = 0 } = status?.allocatable ?? {};
  const ofCpu = cpuOf(sum('milliCpu'), parseQuantity(cpu).milli);
  return `${ofCpu}, ${bytesOf(sum('bytes'), parseQuantity(memory).value)} memory`;
}

function Requested({ node }: { readonly node: Stored<Node> }) {
  const query = liveQuery({
    from: pods,
    where: { path: 'spec.nodeName', eq: node.metadata.name },
    select: { key: 'requests of pods', project: requestsOf },
  }) as LiveQuery<Requests>;
  const { rows, synced, status } = useQuery(query);
  if (synced) return requestedText(rows, node);
  return status.error ? 'The Pods cannot be read.' : 'Loading …';
}

/** The facts of a node. */
export function nodeFacts(node: Stored<Node>): Readonly<Record<string, ReactNode>> {
  const { spec, status } = node;
  const taints = spec?.taints ?? [];
  return {
    Capacity: amountsText(status?.capacity),
    Allocatable: amountsText(status?.allocatable),
    Requested: <Requested node={node} />,
    Taints: taints
      .map(({ key, value, effect }) => `${key}${value ? `=${value}` : ''}:${effect}`)
      .join(', '),
  };
}
