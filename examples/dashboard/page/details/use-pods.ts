/** The pods of an object, and what they say about it. */
import {
  formatLabelSelector,
  type KubernetesObject,
  type LabelSelectorObject,
  type Stored,
} from 'rx-informer';
import { useQuery } from 'rx-informer/react/worker';
import { workerQuery } from 'rx-informer/worker';
import type { Queries } from '../cluster/cluster.ts';
import type { Kind, Row } from '../kinds/kind.ts';
import { rolledUp } from '../kinds/roll-up.ts';

/** What most parts of the details show. */
export interface ObjectProps {
  readonly kind: Kind;
  readonly object: Stored<KubernetesObject>;
}

interface Selecting {
  readonly spec?: { readonly selector?: LabelSelectorObject | Readonly<Record<string, string>> };
}

/** The label selector of an object. That of a Service is a plain map. */
export function selectorOf(kind: Kind, object: KubernetesObject): LabelSelectorObject | undefined {
  const selector = (object as Selecting).spec?.selector;
  if (selector === undefined || kind.id !== 'services') return selector;
  return { matchLabels: selector as Readonly<Record<string, string>> };
}

type SelectingQuery = 'podsOf' | 'containersOf' | 'deploymentsOf';

/** A query of the pods that an object selects, or of the Deployments that make such pods; `undefined` if it selects none. */
export function podsQuery<N extends SelectingQuery>(
  name: N,
  kind: Kind,
  object: Stored<KubernetesObject> | undefined,
) {
  const selector = object && selectorOf(kind, object);
  if (selector === undefined) return undefined;
  const namespace = object?.metadata.namespace ?? '';
  const of = { namespace, labelSelector: formatLabelSelector(selector) };
  return workerQuery<Queries, SelectingQuery>(name, of);
}

/** The rows of the pods that an object selects, the worst first. Any number of components share one query. */
export function usePods(kind: Kind, object: Stored<KubernetesObject> | undefined): readonly Row[] {
  return useQuery(podsQuery('podsOf', kind, object)).rows as readonly Row[];
}

/** The row of an object, with the worst reason of its pods. */
export function useRow(kind: Kind, object: Stored<KubernetesObject> | undefined): Row | undefined {
  const selected = usePods(kind, object);
  const row = object && kind.row(object as never);
  const { id, isJoinedInDetails } = kind;
  const joined = useQuery(
    isJoinedInDetails && row
      ? workerQuery<Queries, 'rowOf'>('rowOf', { kind: id, uid: row.uid })
      : undefined,
  ).rows;
  if (isJoinedInDetails && joined[0] !== undefined) return joined[0] as Row;
  return row && rolledUp(row, kind.id === 'services' ? [] : selected);
}
