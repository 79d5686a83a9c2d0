/** The facts of a node: what it has, what its pods request of it, and which pods it repels. */
import { Anchor } from '@mantine/core';
import type { ReactNode } from 'react';
import { parseQuantity, type Stored } from 'rx-informer';
import { useQuery } from 'rx-informer/react/worker';
import type { Node } from 'rx-informer/resources';
import { workerQuery } from 'rx-informer/worker';
import type { Queries } from '../cluster/cluster.ts';
import { go, goToKind } from '../cluster/page-state.ts';
import { amountsText, bytesOf, cpuOf } from '../kinds/amounts.ts';
import type { Row } from '../kinds/kind.ts';
import { hasEnded } from '../kinds/pods.ts';

/** What the pods of a node request, of what they may request. */
function requestedText(pods: readonly Row[], { status }: Pick<Node, 'status'>): string {
  const asking = pods.filter((pod) => !hasEnded(pod));
  const sum = (field: string) => asking.reduce((total, each) => total + Number(each[field]), 0);
  const { cpu = 0, memory = 0 } = status?.allocatable ?? {};
  const ofCpu = cpuOf(sum('cpuAsked'), parseQuantity(cpu).milli);
  return `${ofCpu}, ${bytesOf(sum('memoryAsked'), parseQuantity(memory).value)} memory`;
}

/** Shows the pods of a node in the table; those that use the most memory come first, where that is known. */
function showPods(node: string, isMetered: boolean): void {
  goToKind('pods');
  const sort = isMetered ? { key: 'usedMemory', descending: true } : undefined;
  go({ namespace: '', filter: `spec.nodeName=${node}`, sort });
}

function Requested({ node }: { readonly node: Stored<Node> }) {
  const query = workerQuery<Queries, 'podsOn'>('podsOn', node.metadata.name);
  const { rows, synced, status } = useQuery(query);
  if (synced) return requestedText(rows, node);
  return status.error ? 'The Pods cannot be read.' : 'Loading …';
}

type Facts = Readonly<Record<string, ReactNode>>;

/** `used` says in words what the node uses; it is empty where that is not known. */
export function nodeFacts(node: Stored<Node>, used: Facts): Facts {
  const isMetered = used['Memory'] !== undefined;
  const { spec, status } = node;
  const taints = spec?.taints ?? [];
  return {
    Capacity: amountsText(status?.capacity),
    Allocatable: amountsText(status?.allocatable),
    Requested: <Requested node={node} />,
    Pods: (
      <Anchor component="button" inherit onClick={() => showPods(node.metadata.name, isMetered)}>
        {isMetered ? 'Show them, by the memory that they use' : 'Show them'}
      </Anchor>
    ),
    Taints: taints
      .map(({ key, value, effect }) => `${key}${value ? `=${value}` : ''}:${effect}`)
      .join(', '),
    ...used,
  };
}
