/** The queries of the details of one object. */
import { forResource, type LiveQuery, liveQuery, parseLabelSelector } from 'rx-informer';
import {
  type Deployment,
  deployments,
  type Event,
  events,
  type Pod,
  pods,
  replicaSets,
} from 'rx-informer/resources';
import { eventRow, seenMs } from '../kinds/events.ts';
import type { Row } from '../kinds/kind.ts';
import { byValue } from '../kinds/order.ts';
import { podRow } from '../kinds/pods.ts';
import { deploymentKind, replicaSetKind } from '../kinds/workloads.ts';

/** The most events that the details of a namespace list. */
const MOST_EVENTS = 50;

export interface PodContainers {
  readonly name: string;
  readonly namespace: string;
  readonly containers: readonly string[];
}

/** The containers of a Pod, and its init containers that have not succeeded: the logs of the others say nothing of now. */
export function containersIn({ metadata, spec, status }: Pod): PodContainers {
  const { name = '', namespace = '' } = metadata ?? {};
  const { containers = [], initContainers = [] } = spec ?? {};
  const succeeded = (status?.initContainerStatuses ?? [])
    .filter(({ state }) => state?.terminated?.exitCode === 0)
    .map((each) => each.name);
  const names = [...containers, ...initContainers].map((each) => each.name);
  return { name, namespace, containers: names.filter((each) => !succeeded.includes(each)) };
}

const podRows = { key: 'row of pods', project: podRow };

const worstFirst = { bad: 0, busy: 1, good: 2, done: 3 };

const rank = ({ tone }: Row) => worstFirst[tone];

const isWarning = ({ type }: Event) => Number(type === 'Warning');

/** Pods that an object selects. */
interface Selected {
  readonly namespace: string;
  readonly labelSelector: string;
}
/** Events by the object that they are about. */
export const eventsByObject = forResource(events, {
  indexers: {
    object: ({ involvedObject }) => (involvedObject.uid ? [involvedObject.uid] : []),
  },
});

const eventRows = {
  from: events,
  select: { key: 'row of events', project: eventRow },
  orderBy: {
    key: 'warnings first, then the newest',
    compare: (a: Event, b: Event) =>
      byValue(isWarning(b), isWarning(a)) || byValue(seenMs(b), seenMs(a)),
  },
};

export const detailQueries = {
  podsOf: (of: Selected) =>
    liveQuery({
      ...{ from: pods, ...of, select: podRows },
      orderBy: { key: 'worst first', compare: (a, b) => byValue(rank(podRow(a)), rank(podRow(b))) },
    }) as LiveQuery<Row>,
  /** The Deployments whose Pods a Service would select, also those that have none. */
  deploymentsOf: ({ namespace, labelSelector }: Selected) => {
    const { matches } = parseLabelSelector(labelSelector);
    return liveQuery({
      ...{ from: deployments, namespace },
      where: {
        key: `Pods with ${labelSelector}`,
        test: ({ spec }: Deployment) => matches(spec?.template.metadata?.labels),
      },
      select: { key: 'row of deployments', project: deploymentKind.row as never },
    }) as LiveQuery<Row>;
  },
  containersOf: (of: Selected) =>
    liveQuery({
      ...{ from: pods, ...of, select: { key: 'containers of pods', project: containersIn } },
    }) as LiveQuery<PodContainers>,
  replicaSetsOf: (of: { readonly namespace: string; readonly owner: string }) =>
    liveQuery({
      from: replicaSets,
      namespace: of.namespace,
      where: { path: 'metadata.ownerReferences.uid', eq: of.owner },
      select: { key: 'row of replicasets', project: replicaSetKind.row as never },
    }) as LiveQuery<Row>,
  /** The events about objects. For one object an index is read. */
  eventsOf: (uids: readonly string[]) => {
    const [uid] = uids;
    const where =
      uids.length === 1 && uid !== undefined
        ? { index: 'object', eq: uid }
        : { path: 'involvedObject.uid' as const, in: uids };
    return liveQuery({ ...eventRows, where }) as LiveQuery<Row>;
  },
  /** The events in a namespace, of which the first ones say most. */
  eventsIn: (namespace: string) =>
    liveQuery({ ...eventRows, namespace, limit: MOST_EVENTS }) as LiveQuery<Row>,
  podsOn: (node: string) =>
    liveQuery({
      from: pods,
      where: { path: 'spec.nodeName', eq: node },
      select: podRows,
    }) as LiveQuery<Row>,
};
