/** The pods of an object, and what they say about it. */
import {
  formatLabelSelector,
  type KubernetesObject,
  type LabelSelectorObject,
  liveQuery,
  type Stored,
} from 'rx-informer';
import { useQuery } from 'rx-informer/react';
import { pods } from 'rx-informer/resources';
import type { Kind, Row } from '../kinds/kind.ts';
import { byValue } from '../kinds/order.ts';
import { podRow } from '../kinds/pods.ts';
import { rolledUp } from '../kinds/roll-up.ts';

interface Selecting {
  readonly spec?: { readonly selector?: LabelSelectorObject | Readonly<Record<string, string>> };
}

/** The label selector of an object. That of a Service is a plain map. */
export function selectorOf(kind: Kind, object: KubernetesObject): LabelSelectorObject | undefined {
  const selector = (object as Selecting).spec?.selector;
  if (selector === undefined || kind.id !== 'services') return selector;
  return { matchLabels: selector as Readonly<Record<string, string>> };
}

const worstFirst = { bad: 0, busy: 1, good: 2, done: 3 };

const rank = ({ tone }: Row) => worstFirst[tone];

/** The rows of the pods that an object selects, the worst first. Any number of components share one query. */
export function usePods(kind: Kind, object: Stored<KubernetesObject> | undefined): readonly Row[] {
  const selector = object && selectorOf(kind, object);
  const query =
    selector &&
    liveQuery({
      from: pods,
      namespace: object.metadata.namespace ?? '',
      labelSelector: formatLabelSelector(selector),
      select: { key: 'row of pods', project: podRow },
      orderBy: { key: 'worst first', compare: (a, b) => byValue(rank(podRow(a)), rank(podRow(b))) },
    });
  return useQuery(query).rows;
}

/** The row of an object, with the worst reason of its pods. */
export function useRow(kind: Kind, object: Stored<KubernetesObject> | undefined): Row | undefined {
  const selected = usePods(kind, object);
  const row = object && kind.row(object as never);
  return row && rolledUp(row, kind.id === 'services' ? [] : selected);
}
